// Package findings says what a run discovered, with what proves it. The failures of
// a round are read from the program's own events, so a track learns when no agent
// reports anything; what an agent claims gets its proof from a command that the
// program runs. An agent's word for a number is never taken. Whether a finding is a
// mistake that will come again is not judged here.
package findings

import (
	"fmt"
	"iter"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"si/internal/clean"
	"si/track"
)

// maxClaim bounds a claim, in code points.
const maxClaim = 400

// Round is a round whose failures are looked for.
type Round struct {
	N         int
	Paths     track.Paths
	Plans     []track.Plan      // for what they changed; may be incomplete
	Benchmark string            // the command
	Guards    map[string]string // command guards, by name
}

// OfRound returns the findings that the failures of a round prove and that the
// journal does not hold yet, in the order of the events. The events are those of the
// whole journal: proofs are numbered through. Called again after a crash it returns
// what is missing.
func OfRound(r Round, events iter.Seq2[track.Event, error]) ([]track.Finding, error) {
	c := collector{Round: r, files: map[string][]string{}, seen: map[string]bool{}}
	for ev, err := range events {
		if err != nil {
			return nil, fmt.Errorf("look for findings: %w", err)
		}
		if err := c.take(ev); err != nil {
			return nil, fmt.Errorf("look for findings: %w", err)
		}
	}
	var out []track.Finding
	for _, f := range c.found {
		if known := key(f); !c.seen[known] {
			c.seen[known] = true
			c.last++
			f.Proof = fmt.Sprintf("F-%d", c.last)
			out = append(out, f)
		}
	}
	return out, nil
}

// Next is the number that the next proof of a journal gets.
func Next(events iter.Seq2[track.Event, error]) (int, error) {
	last := 0
	for ev, err := range events {
		if err != nil {
			return 0, fmt.Errorf("number a finding: %w", err)
		}
		if ev.Ev != track.EvFinding {
			continue
		}
		var f track.Finding
		if err := ev.Decode(&f); err != nil {
			return 0, err
		}
		last = max(last, Number(f.Proof))
	}
	return last + 1, nil
}

var proofForm = regexp.MustCompile(`^F-([1-9][0-9]{0,8})$`)

// Number is the n of F-<n>, 0 for another text.
func Number(proof string) int {
	m := proofForm.FindStringSubmatch(proof)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // the form holds digits alone
	return n
}

// key is what makes two findings of one round the same.
func key(f track.Finding) string { return f.Area + "\x00" + f.Signature + "\x00" + f.Subject }

type collector struct {
	Round
	last  int                 // highest proof in the journal
	files map[string][]string // that a candidate changed, by executor
	plans map[string]string   // plan id by executor
	seen  map[string]bool
	found []track.Finding
}

func (c *collector) take(ev track.Event) error {
	if ev.Ev == track.EvFinding {
		var f track.Finding
		if err := ev.Decode(&f); err != nil {
			return err
		}
		c.last = max(c.last, Number(f.Proof))
		if ev.Round == c.N {
			c.seen[key(f)] = true
		}
	}
	if ev.Round != c.N {
		return nil
	}
	switch ev.Ev { //nolint:exhaustive // the kinds that tell of failures
	case track.EvCandidate:
		return read(ev, c.candidate)
	case track.EvMeasured:
		return read(ev, c.measured)
	case track.EvGuard:
		return read(ev, c.guard)
	case track.EvVerdict:
		return read(ev, c.verdict)
	case track.EvPlanReviewed:
		return read(ev, c.review)
	case track.EvAgentSkipped:
		return read(ev, c.skipped)
	}
	return nil
}

func read[T any](ev track.Event, use func(T)) error {
	var v T
	if err := ev.Decode(&v); err != nil {
		return err
	}
	use(v)
	return nil
}

func (c *collector) candidate(e track.CandidateEvent) {
	c.files[e.Executor] = e.Files
	if c.plans == nil {
		c.plans = map[string]string{}
	}
	c.plans[e.Executor] = e.PlanID
	if e.Category == "" || e.Category == track.CategoryInfrastructure { // an agent that did not finish is told as skipped
		return
	}
	c.add(e.Executor, string(e.Category), e.Reason, track.Finding{Commit: e.Commit})
}

// measured tells of a run without a score. What the machine did is nobody's fault.
func (c *collector) measured(s track.Sample) {
	if s.Category == "" || s.Category == track.CategoryInfrastructure || s.Score != nil || !strings.HasPrefix(s.Subject, "executor_") {
		return
	}
	c.add(s.Subject, string(s.Category), "the benchmark gave no score: "+s.Fault, track.Finding{Commit: s.Commit, Command: c.Benchmark, Output: s.Log})
}

func (c *collector) guard(g track.GuardEvent) {
	if g.Passed || !strings.HasPrefix(g.Subject, "executor_") {
		return
	}
	f := track.Finding{}
	if command := c.Guards[g.Guard]; command != "" {
		f.Command = command
		f.Output = c.Paths.Relative(filepath.Join(c.Paths.LogDir(c.N), "guard_"+g.Subject+".log"))
	}
	c.add(g.Subject, "guard "+g.Guard, fmt.Sprintf("it failed the guard %q: %s", g.Guard, g.Reason), f)
}

// conflict is how the tournament begins the refusal of a candidate that does not
// merge.
const conflict = "it conflicts with the champion"

func (c *collector) verdict(v track.VerdictEvent) {
	c.remember(v)
	switch {
	case v.Accepted:
	case strings.HasPrefix(v.Reason, conflict):
		c.add(v.Executor, "merge conflict", v.Reason, track.Finding{})
	case worse(v.Effect):
		// No signature: a change that does not help is what trying is for. It is a
		// discovery and no mistake.
		claim := fmt.Sprintf("%s made the metric worse by %.3g %%", c.what(v.Executor), -100*v.Effect.Value)
		c.found = append(c.found, track.Finding{Area: area(c.files[v.Executor]), Claim: clean.Line(claim, maxClaim), Subject: v.PlanID, Command: c.Benchmark})
	}
}

func (c *collector) remember(v track.VerdictEvent) {
	if c.plans == nil {
		c.plans = map[string]string{}
	}
	if c.plans[v.Executor] == "" {
		c.plans[v.Executor] = v.PlanID
	}
}

// worse reports an effect that is below nothing beyond its noise.
func worse(e *track.Effect) bool {
	return e != nil && !e.InSigma && e.Value < 0 && (e.High == nil || *e.High < 0)
}

// review tells why a plan was refused before anybody made it. It cost the work of a
// planner.
func (c *collector) review(p track.PlanEvent) {
	if p.Approved == nil || *p.Approved {
		return
	}
	c.found = append(c.found, track.Finding{
		Area: "plans", Signature: Signature("plan refused", rule(p.Reason)), Subject: p.PlanID,
		Claim: clean.Line(fmt.Sprintf("the plan %q was refused: %s", clean.Line(p.Hypothesis, 150), p.Reason), maxClaim),
	})
}

var ruleName = regexp.MustCompile(`\bH00[1-3]\b`)

// rule names what a plan broke, as far as its refusal names it.
func rule(reason string) string {
	if name := ruleName.FindString(reason); name != "" {
		return name
	}
	low := strings.ToLower(reason)
	for _, word := range []string{"sealed", "scope", "history", "repeat", "schema"} {
		if strings.Contains(low, word) {
			return word
		}
	}
	return ""
}

func (c *collector) skipped(a track.AgentEvent) {
	c.found = append(c.found, track.Finding{
		Area: a.Role, Signature: Signature("agent failed", a.Role), Subject: a.ID, Output: c.Paths.Relative(a.Log),
		Claim: clean.Line(fmt.Sprintf("%s failed twice and was left out: %s", a.ID, a.Reason), maxClaim),
	})
}

// add records a failure of a candidate.
func (c *collector) add(executor, failure, what string, f track.Finding) {
	f.Area, f.Subject = area(c.files[executor]), c.plans[executor]
	if f.Subject == "" {
		f.Subject = executor
	}
	place := f.Area
	if e := c.edit(executor); e != nil {
		place = e.Path + " " + strings.TrimPrefix(e.Knob, e.Path+":")
		f.Area = e.Path
	}
	f.Signature = Signature(failure, place)
	f.Claim = clean.Line(c.what(executor)+": "+what, maxClaim)
	c.found = append(c.found, f)
}

func (c *collector) plan(executor string) *track.Plan {
	for i := range c.Plans {
		if c.Plans[i].PlanID == c.plans[executor] {
			return &c.Plans[i]
		}
	}
	return nil
}

func (c *collector) edit(executor string) *track.Edit {
	if p := c.plan(executor); p != nil && p.SI != nil {
		return p.SI.Edit
	}
	return nil
}

// what names a candidate's change. That of one value is written so that the built-in
// tuner can read it again.
func (c *collector) what(executor string) string {
	if e := c.edit(executor); e != nil {
		return Setting(*e)
	}
	if p := c.plan(executor); p != nil {
		return fmt.Sprintf("%s (%q)", executor, clean.Line(p.Hypothesis, 120))
	}
	return executor
}

// Setting names the change of one value: "Setting depth in a.json from 3 to 9".
func Setting(e track.Edit) string {
	return fmt.Sprintf("Setting %s in %s from %s to %s", strings.TrimPrefix(e.Knob, e.Path+":"), e.Path, e.Old, e.New)
}
