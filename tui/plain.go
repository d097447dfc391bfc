// Package tui renders what a loop does. It sees the loop only as events and
// documents of package track, so that it can watch a loop of another process. A
// renderer never blocks the loop and never writes to the track.
package tui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"si/internal/clean"
	"si/track"
)

// Plain prints one line an event: time, round, what. It prints no escape code.
type Plain struct {
	mu  sync.Mutex
	out io.Writer
}

// NewPlain writes to out.
func NewPlain(out io.Writer) *Plain { return &Plain{out: out} }

// Event prints one event. It is safe for concurrent use.
func (p *Plain) Event(e track.Event) {
	what := Sentence(e)
	if what == "" {
		return
	}
	round := "  -"
	if e.Round > 0 {
		round = fmt.Sprintf("%3d", e.Round)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// A closed pipe does not stop the loop.
	_, _ = fmt.Fprintf(p.out, "%s %s  %s\n", e.TS.Local().Format("15:04:05"), round, oneLine(what))
}

func oneLine(s string) string {
	s = strings.ReplaceAll(clean.Text([]byte(s)), "\n", " | ")
	return clean.Line(s, 1000)
}

// Sentence says in words what happened, "" for what a log leaves out.
func Sentence(e track.Event) string {
	if s, ok := aboutRound(e); ok {
		return s
	}
	if s, ok := aboutAgents(e); ok {
		return s
	}
	return aboutDecisions(e)
}

func aboutRound(e track.Event) (string, bool) {
	switch e.Ev { //nolint:exhaustive // the kinds of this group
	case track.EvRunStarted:
		d := decoded[track.RunStarted](e)
		s := fmt.Sprintf("si %s improves %s on branch %s", d.Version, d.Repo, d.Branch)
		if d.Resumed {
			s += " (taken up where it stood)"
		}
		if n := len(d.Left); n > 0 {
			s += fmt.Sprintf("; %d uncommitted paths are left out: %s", n, listed(d.Left, 5))
		}
		return s, true
	case track.EvRoundStarted:
		d := decoded[track.RoundStarted](e)
		s := fmt.Sprintf("round %d of at most %d, from %s", e.Round, d.Max, shortID(d.Base))
		if d.Best != nil {
			s += ", champion at " + Score(*d.Best)
		}
		return s, true
	case track.EvRoundEnded:
		return roundEnded(e), true
	case track.EvStepStarted:
		return "step " + string(decoded[track.StepEvent](e).Step), true
	case track.EvStepEnded, track.EvRunEnded:
		return "", true
	}
	return "", false
}

func roundEnded(e track.Event) string {
	d := decoded[track.RoundEnded](e)
	s := fmt.Sprintf("round %d: %s", e.Round, strings.ReplaceAll(string(d.Status), "_", " "))
	if d.Reason != "" {
		s += ", " + d.Reason
	}
	for _, w := range d.Winners {
		s += fmt.Sprintf(", %s %s", w.Executor, EffectText(&w.Effect))
	}
	if d.Best != nil {
		s += "; champion at " + Score(*d.Best)
	}
	return s + fmt.Sprintf("; plateau %d, without a winner %d; %.1f s", d.Plateau, d.Breaker, d.Seconds)
}

func aboutAgents(e track.Event) (string, bool) {
	switch e.Ev { //nolint:exhaustive // the kinds of this group
	case track.EvAgentStarted:
		d := decoded[track.AgentEvent](e)
		s := fmt.Sprintf("%s starts (%s)", d.ID, d.Backend)
		if d.Attempt > 1 {
			s = fmt.Sprintf("%s starts again (%s)", d.ID, d.Backend)
		}
		return s, true
	case track.EvAgentEnded:
		d := decoded[track.AgentEvent](e)
		return fmt.Sprintf("%s is done, %.1f s", d.ID, d.Seconds) + spentBehind(d.Spent), true
	case track.EvAgentFailed:
		d := decoded[track.AgentEvent](e)
		return fmt.Sprintf("%s failed: %s", d.ID, d.Reason) + spentBehind(d.Spent), true
	case track.EvAgentSkipped:
		d := decoded[track.AgentEvent](e)
		return d.ID + " is left out of this round: " + clean.Line(d.Reason, 200), true
	case track.EvNothing:
		d := decoded[track.AgentEvent](e)
		return d.ID + " has " + clean.Line(d.Reason, 300), true
	case track.EvParked:
		d := decoded[track.Parked](e)
		return fmt.Sprintf("%s waits until %s: %s", d.ID, d.Until.Local().Format("2006-01-02 15:04"), d.Reason), true
	case track.EvUnparked:
		return decoded[track.Parked](e).ID + " goes on", true
	case track.EvPlanReady:
		d := decoded[track.PlanEvent](e)
		return fmt.Sprintf("%s plans (%s): %s", d.Planner, d.Family, d.Hypothesis), true
	case track.EvPlanReviewed:
		d := decoded[track.PlanEvent](e)
		if d.Approved != nil && *d.Approved {
			return "plan of " + d.Planner + " approved", true
		}
		return "plan of " + d.Planner + " rejected: " + d.Reason, true
	case track.EvCandidate:
		return candidateSentence(decoded[track.CandidateEvent](e)), true
	}
	return "", false
}

func spentBehind(s *track.Spent) string {
	if text := SpentText(s); text != "" {
		return "; " + text
	}
	return ""
}

func candidateSentence(d track.CandidateEvent) string {
	if d.Reason != "" {
		return fmt.Sprintf("%s gives no candidate: %s", d.Executor, d.Reason)
	}
	s := fmt.Sprintf("%s committed %s: %s", d.Executor, shortID(d.Commit), listed(d.Files, 3))
	for _, w := range d.Warnings {
		s += "; warning: " + w
	}
	return s
}

func aboutDecisions(e track.Event) string {
	switch e.Ev { //nolint:exhaustive // the kinds of this group
	case track.EvMeasured:
		d := decoded[track.Sample](e)
		if d.Score == nil {
			return fmt.Sprintf("%s of %s gave no score (%s): %s", d.Purpose, d.Subject, d.Category, d.Fault)
		}
		return fmt.Sprintf("%s of %s: %s in %.2f s", d.Purpose, d.Subject, Score(*d.Score), d.Wall)
	case track.EvGuard:
		d := decoded[track.GuardEvent](e)
		if d.Passed {
			return fmt.Sprintf("%s passes guard %q", d.Subject, d.Guard)
		}
		return fmt.Sprintf("%s fails guard %q: %s", d.Subject, d.Guard, d.Reason)
	case track.EvCanary:
		d := decoded[track.CanaryEvent](e)
		if d.Passed {
			return "canary passed: " + d.What
		}
		return "canary failed: " + d.What
	case track.EvLeftOut:
		d := decoded[track.LeftOutEvent](e)
		return fmt.Sprintf("left out %s of round %d: %s; %s (%s)", d.Executor, e.Round, d.Worth, d.Reason, EffectText(d.Effect))
	case track.EvVerdict:
		d := decoded[track.VerdictEvent](e)
		word := "refused"
		if d.Accepted {
			word = "accepted"
		}
		s := fmt.Sprintf("%s %s: %s", d.Executor, word, d.Reason)
		if d.Effect != nil {
			s += " (" + EffectText(d.Effect) + ")"
		}
		return s
	case track.EvMerged:
		d := decoded[track.Merged](e)
		return fmt.Sprintf("merged %s as %s: %s → %s", d.Executor, shortID(d.Merge), Score(d.Before), Score(d.After))
	case track.EvArchived:
		d := decoded[track.ArchiveEvent](e)
		return fmt.Sprintf("%s is kept as tag %s", d.Executor, d.Tag)
	case track.EvConfigChange:
		d := decoded[track.ChangeDetails](e)
		return fmt.Sprintf("setting %s changed: %v → %v", d.Field, d.OldValue, d.NewValue)
	case track.EvControl:
		d := decoded[track.Control](e)
		return strings.TrimSpace(fmt.Sprintf("asked to %s %s", d.Act, d.Target))
	case track.EvSteered:
		d := decoded[track.Steered](e)
		s := strings.TrimSpace(d.Act+" "+d.Target) + ": " + d.Text
		if d.Effect != nil {
			s += " (" + EffectText(d.Effect) + ")"
		}
		return s
	case track.EvCheckout:
		d := decoded[track.CheckoutEvent](e)
		return fmt.Sprintf("the user's %s %s changed", d.Kind, d.Name)
	case track.EvWarning, track.EvSetup, track.EvCleanup, track.EvJournalRepair:
		return decoded[track.Note](e).Text
	}
	return ""
}

// decoded reads an event's data; damage leaves zero values, since a line of the
// log is no place to fail.
func decoded[T any](e track.Event) T {
	var v T
	_ = e.Decode(&v)
	return v
}

func shortID(commit string) string {
	if len(commit) > 10 {
		return commit[:10]
	}
	return commit
}

func listed(words []string, most int) string {
	if len(words) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
	}
	return strings.Join(words, ", ")
}

// OfDuel tells whether a run's key belongs to the duel of an executor, or to what its
// winner must pass.
func OfDuel(key, executor string) bool {
	purpose, of, _ := strings.Cut(key, "/")
	return slices.Contains([]string{"duel", "clock", "validation"}, purpose) && strings.HasPrefix(of, executor+"/")
}
