package pane

import (
	"strings"
	"time"

	"si/track"
	"si/tui"
	"si/tui/look"
	"si/tui/scene"
)

// Top is the head of the screen: what is improved and what the loop does now; how
// far it has come and what that has cost; and the steps of the round. It has three
// lines, two where the screen is low.
func Top(l look.Look, s *scene.Scene, now time.Time, w, h int) []string {
	lines := []string{title(l, s, now, w)}
	if h >= 3 {
		lines = append(lines, gain(l, s, w, true))
		return append(lines, rail(l, s, now, w))
	}
	if s.Working() > 0 || s.Round.Step == "" {
		return append(lines, gain(l, s, w, false))
	}
	return append(lines, rail(l, s, now, w))
}

func title(l look.Look, s *scene.Scene, now time.Time, w int) string {
	goal := firstLine(s.Facts.Objective)
	if goal == "" {
		goal = s.Facts.Place
	}
	left := []look.Span{{Paint: l.Title, Text: "si"}, span(l.Faint, " %s ", l.Marks.Dot), {Paint: l.Strong, Text: goal}}
	paint := l.Good
	switch {
	case s.Run.Summary != nil && s.Run.Summary.Status == track.StatusFailed, !s.Live() && s.Run.Summary == nil && s.Run.Stop == "" && !s.Run.Started.IsZero():
		paint = l.Bad
	case s.Run.Paused, s.Run.Stop != "", s.Run.Parked != nil:
		paint = l.Warn
	}
	// What is left out first comes first.
	right := []look.Span{span(l.Plain, "%s", Elapsed(s.Run.Elapsed(now))), span(l.Faint, " %s ", l.Marks.Dot)}
	if n := s.Round.N; n > 0 {
		right = append(right, span(l.Plain, "round %d/%d", n, max(s.Round.Max, n)), span(l.Faint, " %s ", l.Marks.Dot))
	}
	doing := l.Cut(s.Doing(), max(20, w/2))
	if s.Live() && s.Run.Stop != "" {
		doing += ", then stops"
	}
	return l.Row(w, left, append(right, look.Span{Paint: paint, Text: doing}))
}

// gain is what was won and how sure that is, and what it cost.
func gain(l look.Look, s *scene.Scene, w int, all bool) string {
	left := gained(l, s, w, all)
	if t := s.Facts.Target; t != nil && w >= 70 {
		left = append(left, span(l.Faint, " %s target ", l.Marks.Dot), span(l.Plain, "%s", tui.Score(*t)))
	}
	return l.RowLeft(w, left, cost(l, s))
}

func gained(l look.Look, s *scene.Scene, w int, all bool) []look.Span {
	r := s.Round
	if r.Best == nil {
		return []look.Span{span(l.Faint, "nothing measured in this run yet")}
	}
	out := []look.Span{span(l.Faint, "best "), span(l.Strong, "%s", tui.Score(*r.Best)), span(l.Faint, "%s", unit(s, w))}
	whole, rough, ok := s.Gain()
	switch {
	case whole != nil:
		return append(out, span(l.Faint, ", "), span(l.Good, "%s", tui.EffectText(whole)), span(l.Faint, " over the start, measured afresh"))
	case ok && rough == 0:
		return append(out, span(l.Faint, ", as at the start"))
	case ok:
		out = append(out, span(l.Faint, ", %s", roughly(r.Gain)), span(moodOf(l, rough), "%s", percent(rough)), span(l.Faint, " over the start"))
	}
	if r.Gain != nil && all && w >= 100 {
		out = append(out, span(l.Faint, " %s last gain ", l.Marks.Dot), span(l.Good, "%s", tui.EffectText(r.Gain)))
	}
	return out
}

// roughly says that a gain is the quotient of scores of different minutes, which only
// a benchmark that repeats exactly makes sure.
func roughly(last *track.Effect) string {
	if last != nil && last.Low != nil && last.High != nil && *last.Low == *last.High {
		return ""
	}
	return "~"
}

// unit is what the score counts, and on a wide screen which way is up.
func unit(s *scene.Scene, w int) string {
	name := " " + s.Facts.Metric
	if s.Facts.Metric == "" || s.Facts.Metric == "primary" {
		name = ""
	}
	if w >= 120 && s.Facts.Direction == track.LowerIsBetter {
		name += " (lower is better)"
	}
	return name
}

func moodOf(l look.Look, v float64) look.Paint {
	if v < 0 {
		return l.Bad
	}
	return l.Good
}

// cost is what was spent in this run: what is not known is left out.
func cost(l look.Look, s *scene.Scene) []look.Span {
	usage, money := s.Run.Spent.Usage, s.Run.Spent.CostUSD
	for _, a := range s.Agents {
		if !a.Working() {
			continue
		}
		live := track.Spent{Usage: a.Usage, CostUSD: a.Cost}
		sum := track.Spent{Usage: usage, CostUSD: money}.Add(live)
		usage, money = sum.Usage, sum.CostUSD
	}
	out := []look.Span{span(l.Faint, "%d agent tasks", s.Run.Tasks), span(l.Faint, ", %d benchmark runs", s.Run.Runs)}
	if usage != nil {
		out = append(out, span(l.Faint, " %s ", l.Marks.Dot), span(l.Plain, "%s tokens", Count(usage.Total())))
	}
	if money != nil {
		out = append(out, span(l.Faint, " %s ", l.Marks.Dot), span(l.Strong, "%s", Money(*money)))
	}
	return out
}

// rail shows the steps of the round: done with their time, running, to come.
func rail(l look.Look, s *scene.Scene, now time.Time, w int) string {
	m := l.Marks
	var spans []look.Span
	roomy := w >= 100
	for i, step := range scene.Steps() {
		if i > 0 {
			sep := "  "
			if roomy {
				sep = " " + m.Rule + m.Rule + " "
			}
			spans = append(spans, look.Span{Paint: l.Border, Text: sep})
		}
		name := scene.StepName(step)
		took, done := s.Round.Done[step]
		switch {
		case s.Round.Step == step && s.Live():
			spans = append(spans, span(l.Focus, "%s %s", m.Working, name))
			if roomy {
				spans = append(spans, span(l.Faint, " %s", Elapsed(now.Sub(s.Round.StepFrom))))
			}
		case done:
			spans = append(spans, span(l.Good, "%s", m.Done), span(l.Plain, " %s", name))
			if roomy {
				spans = append(spans, span(l.Faint, " %s", Elapsed(took)))
			}
		default:
			spans = append(spans, span(l.Faint, "%s %s", m.Waiting, name))
		}
	}
	return l.Row(w, spans, nil)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
