package pane

import (
	"fmt"

	"si/tui/look"
)

// Help explains the screen and its keys.
func Help(l look.Look, w int) []string {
	var out []string
	for _, part := range helpText() {
		if part.key == "" {
			if len(out) > 0 {
				out = append(out, "")
			}
			out = append(out, part.text)
			continue
		}
		for i, line := range l.Wrap(part.text, w-16, 10) {
			key := ""
			if i == 0 {
				key = part.key
			}
			out = append(out, "  "+l.Fit(key, 13)+line)
		}
	}
	return out
}

type helpLine struct{ key, text string }

func helpText() []helpLine {
	return []helpLine{
		{"", "What is seen"},
		{"top", "the goal and what the loop does now; the best score and how far it is from the start, with ~ until the end of the run measures that afresh, with an interval; the cost of this run; the steps of the round"},
		{"panes", "one for each agent at work: how long it works, its tool calls and tokens, the size of its change, its last lines"},
		{"candidates", "each plan of the round on its way: planned, approved, at work, checked, in the duel, kept or refused with the reason"},
		{"runs", "3+4: three runs of the candidate and four of the champion in the duel, taken in turn"},
		{"effect", "how much better than the champion. With ~ it is what the runs show so far, with a mark for each run of the candidate: better or worse than the champion's middle run. Behind the verdict it has an interval, and only that one decides"},
		{"progress", "the champion as a line over the rounds, candidates as dots, the start as a dashed rule, intervals as bars"},
		{"", "Looking"},
		{"tab  arrows", "choose an agent or a candidate"},
		{"enter", "zoom: all the output of an agent, or the change of a candidate"},
		{"d", "read the change of the chosen candidate"},
		{"c", "the chart alone"},
		{"l", "all events of the run"},
		{"r", "the summary, when the run has ended"},
		{"/  n  N", "search in what is open; next and previous hit"},
		{"", "Asking the loop, as the commands of the same name do"},
		{"i", "add an idea: it is used in the next round that begins"},
		{"p", "pause before the next step; again to go on"},
		{"s", "skip the chosen agent: it is ended and the round goes on without it"},
		{"x", "veto the chosen plan or candidate"},
		{"m", "measure the chosen candidate again"},
		{"q  ctrl+c", "quit: leave the loop running, stop it after what runs now, or stop it now. Nothing is lost by any of them"},
		{"", "A replay"},
		{"space", "pause and go on"},
		{"+  -", "faster, slower"},
		{"n", "on to the next round"},
	}
}

// Speed writes how fast a replay plays.
func Speed(v float64) string { return fmt.Sprintf("speed ×%g", v) }
