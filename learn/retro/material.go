package retro

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"si/learn/efficacy"
	"si/learn/knowledge"
	"si/learn/mistakes"
	"si/learn/proposals"
	"si/track"
)

// Material is what there is to look back on.
type Material struct {
	Run      string
	Played   bool             // a round was played to its end
	Findings []Found          // of the run
	Proofs   map[string]Found // of the whole journal, by F-<n>
	Rounds   []string         // a line each
	Store    *knowledge.Store
	Audit    knowledge.Audit
	Ledger   *mistakes.Ledger
	Repeats  []mistakes.Repeat
	Rules    []mistakes.Rule
	Efficacy []efficacy.Line
	Rejected []Rejection // by earlier retrospectives and by people
	Records  []Record    // newest first
	Reverts  []string
}

// Found is a finding with when it was made.
type Found struct {
	track.Finding
	Run   string
	Round int
	At    time.Time
	Actor string
}

func gather(in Input) (*Material, error) {
	m := &Material{Run: in.Run, Proofs: map[string]Found{}}
	if err := m.read(in); err != nil {
		return nil, fmt.Errorf("look back on the run %s: %w", in.Run, err)
	}
	return m, nil
}

func (m *Material) read(in Input) (err error) {
	if err := m.events(in); err != nil {
		return err
	}
	if m.Store, err = knowledge.Load(in.Place); err != nil {
		return err
	}
	if m.Audit, err = m.Store.Audit(0); err != nil {
		return err
	}
	if m.Ledger, err = mistakes.Load(in.Place); err != nil {
		return err
	}
	if m.Repeats, err = mistakes.Repeats(in.Place, 0); err != nil {
		return err
	}
	if m.Rules, err = mistakes.Rules(in.Place); err != nil {
		return err
	}
	if m.Efficacy, err = efficacy.Measure(in.Place); err != nil {
		return err
	}
	if m.Records, err = Records(in.Place); err != nil {
		return err
	}
	m.Rejected = rejections(m.Records)
	waiting, _, err := proposals.List(in.Place)
	if err != nil {
		return err
	}
	for _, p := range waiting {
		if p.State == proposals.Rejected {
			m.Rejected = append(m.Rejected, Rejection{p.Title, p.Said, "a person"})
		}
	}
	for _, e := range in.Log {
		if strings.HasPrefix(e.Subject, "Revert ") {
			m.Reverts = append(m.Reverts, fmt.Sprintf("%.10s %s", e.ID, told(e.Subject)))
		}
	}
	return nil
}

// events reads the journal once.
func (m *Material) events(in Input) error {
	for ev, err := range in.Events() {
		if err != nil {
			return err
		}
		switch ev.Ev { //nolint:exhaustive // the kinds that are looked back on
		case track.EvFinding:
			var f track.Finding
			if err := ev.Decode(&f); err != nil {
				return err
			}
			found := Found{f, ev.Run, ev.Round, ev.TS, ev.Actor}
			m.Proofs[f.Proof] = found
			if ev.Run == in.Run {
				m.Findings = append(m.Findings, found)
			}
		case track.EvRoundEnded:
			var r track.RoundEnded
			if err := ev.Decode(&r); err != nil {
				return err
			}
			if ev.Run == in.Run {
				m.Played = true
				m.Rounds = append(m.Rounds, roundLine(ev.Round, r, in.History))
			}
		}
	}
	return nil
}

func roundLine(n int, r track.RoundEnded, history []track.History) string {
	line := fmt.Sprintf("round %d: %s", n, r.Status)
	if r.Reason != "" {
		line += ", " + r.Reason
	}
	i := slices.IndexFunc(history, func(h track.History) bool { return h.Iteration == n })
	if i < 0 {
		return told(line)
	}
	for _, item := range history[i].Items() {
		verdict := "not judged"
		if item.SI != nil && item.SI.Verdict != "" {
			verdict = item.SI.Verdict
		} else if item.FailureAnalysis != nil {
			verdict = string(item.FailureAnalysis.Category) + ": " + item.FailureAnalysis.What
		}
		line += fmt.Sprintf("; %s %q: %s", item.PlanID, told(item.Hypothesis), told(verdict))
	}
	for _, s := range history[i].SI.RejectedPlans {
		line += fmt.Sprintf("; %s rejected: %s", s.ID, told(s.Reason))
	}
	return told(line)
}

// rejections are what earlier retrospectives thought of and did not do.
func rejections(records []Record) []Rejection {
	var out []Rejection
	for _, r := range records {
		out = append(out, r.Rejected...)
	}
	return out
}
