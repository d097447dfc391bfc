package pane

import (
	"si/tui"
	"si/tui/look"
	"si/tui/scene"
)

// Kept lists what the loop has gained so far, the newest at the bottom.
func Kept(l look.Look, s *scene.Scene, w, h int) []string {
	rows := max(0, h-2)
	list := s.Kept[max(0, len(s.Kept)-rows):]
	lines := make([]string, 0, rows)
	for _, g := range list {
		lines = append(lines, l.Row(w-4, []look.Span{
			span(l.Faint, "round %-3d ", g.Round),
			{Paint: l.Good, Text: l.Fit(tui.EffectText(&g.Effect), 28)},
			span(l.Plain, " %s", g.Hypothesis),
		}, nil))
	}
	if len(lines) == 0 && rows > 0 {
		lines = append(lines, l.Faint.On(l.Cut("nothing yet: a candidate is kept when it beats the champion in fresh runs, beyond the noise", w-4)))
	}
	return l.Frame(w, h, false, []look.Span{{Paint: l.Title, Text: "kept so far"}}, []look.Span{span(l.Faint, "%d", len(s.Kept))}, lines)
}
