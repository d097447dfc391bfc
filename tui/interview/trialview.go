package interview

import (
	"fmt"
	"strings"

	"si/internal/clean"
	"si/loop"
	"si/track"
	"si/tui/look"
)

func (p *trialPage) view(m *Model, w, h int) []string {
	form := []string{}
	if p.form != nil {
		form = append([]string{""}, strings.Split(p.form.view(), "\n")...)
	}
	body := trialView(m.look, p.state, w, h-len(form))
	return append(body, form...)
}

// trialView shows the runs as they come, what they say, and what the benchmark
// prints. Where the room is short, what they say matters more than each of them.
func trialView(l look.Look, s trialState, w, h int) []string {
	head := []string{l.Faint.On("command ") + l.Cut(clean.Line(s.command, 1000), max(10, w-8)), ""}
	said := said(l, s, w)
	runs := runLines(l, s.runs, w)
	runs = runs[max(0, len(runs)-max(0, h-len(head)-len(said))):]
	out := append(append(head, runs...), said...)
	room := h - len(out) - 2
	if room < 1 || len(s.tail) == 0 || s.trial != nil { // the last check's output is a failure that was wanted
		return out[:min(len(out), max(h, 0))]
	}
	out = append(out, "", l.Faint.On("output "+l.Cut(s.log, max(10, w-7))))
	for _, line := range s.tail[max(0, len(s.tail)-room):] {
		out = append(out, l.Faint.On(l.Marks.Box.Down+" ")+l.Cut(line, max(10, w-2)))
	}
	return out
}

// said is what is said about the runs: what happens now, or what they mean, and the
// notes of the checks.
func said(l look.Look, s trialState, w int) (out []string) {
	if s.trial == nil && s.fault == "" {
		out = append(out, progress(l, s, w)...)
	}
	if s.trial != nil {
		out = append(out, "")
		out = append(out, verdict(l, *s.trial, w)...)
	}
	if s.fault != "" {
		out = append(out, "")
		for _, line := range strings.Split(s.fault, "\n") {
			for _, part := range l.Wrap(line, w, 6) {
				out = append(out, l.Bad.On(part))
			}
		}
	}
	for _, n := range s.notes[max(0, len(s.notes)-3):] {
		for _, part := range l.Wrap(n, w-2, 2) {
			out = append(out, l.Faint.On(part))
		}
	}
	return out
}

// progress says what runs now.
func progress(l look.Look, s trialState, w int) []string {
	now := fmt.Sprintf("%s running, %.0f s; at least three runs, six where they differ", l.Marks.Working, s.seconds)
	if len(s.runs) == 0 {
		now = fmt.Sprintf("%s running, %.0f s; the first run may have to build everything anew", l.Marks.Working, s.seconds)
	}
	if s.noise == "" {
		return []string{l.Faint.On(l.Cut(now, w))}
	}
	out := []string{l.Strong.On(l.Cut(s.noise, w))}
	now = fmt.Sprintf("%s checking, %.0f s, run %d: it must not prefer a copy of the same commit, and must fail when what may change is broken", l.Marks.Working, s.seconds, s.checks+1)
	for _, line := range l.Wrap(now, w, 2) {
		out = append(out, l.Faint.On(line))
	}
	return out
}

// runLines are the runs of the baseline, each with a bar between the least and the
// largest score so far, so that the spread is seen.
func runLines(l look.Look, runs []track.Sample, w int) []string {
	var scores []float64
	for _, r := range runs {
		if r.Score != nil {
			scores = append(scores, *r.Score)
		}
	}
	var out []string
	for i, r := range runs {
		n := i + 1
		if r.Score == nil {
			out = append(out, l.Bad.On(l.Cut(fmt.Sprintf("%s run %d  %s", l.Marks.Failed, n, clean.Line(r.Fault, 300)), w)))
			continue
		}
		line := fmt.Sprintf("run %d  %12.6g  %7.2f s  ", n, *r.Score, r.Wall)
		out = append(out, l.Good.On(l.Marks.Done)+" "+line+dotAt(l, *r.Score, scores, min(40, w-len(line)-4)))
	}
	return out
}

// dotAt marks where a score lies between the least and the largest.
func dotAt(l look.Look, v float64, scores []float64, w int) string {
	if w < 5 || len(scores) == 0 {
		return ""
	}
	low, high := scores[0], scores[0]
	for _, s := range scores {
		low, high = min(low, s), max(high, s)
	}
	at := w / 2
	if high > low {
		at = int((v - low) / (high - low) * float64(w-1))
	}
	at = max(0, min(w-1, at))
	return l.Faint.On(strings.Repeat(l.Marks.Dot, at)) + l.Strong.On(l.Marks.Working) + l.Faint.On(strings.Repeat(l.Marks.Dot, w-1-at))
}

// verdict says what the runs mean.
func verdict(l look.Look, t loop.Trial, w int) []string {
	paint := l.Good
	if t.Noisy {
		paint = l.Warn
	}
	first := fmt.Sprintf("score %.6g, spread %.2f %%: %s", t.Score, 100*t.Spread, modeWords(t))
	texts := []string{}
	switch {
	case t.Repeats:
		texts = append(texts, "Runs repeat exactly, so any gain is found.")
	case t.Linear:
		texts = append(texts, fmt.Sprintf("A gain of %.1f times the noise of one run is found 4 times in 5.", t.Smallest))
	default:
		texts = append(texts, fmt.Sprintf("A gain of %.2g %% is found 4 times in 5, a smaller one less often.", 100*t.Smallest))
	}
	texts = append(texts, fmt.Sprintf("A round without any gain costs about %.0f runs, %s; a duel takes at most %d.", t.RoundRuns, duration(t.RoundSeconds), t.DuelRuns))
	if t.Noisy {
		texts = append(texts, "A spread of 5 % or more hides small gains and makes rounds long: quieten the machine or the benchmark, or take it at that cost.")
	}
	for _, odd := range t.Odd {
		texts = append(texts, "Note: "+clean.Line(odd, 400)+".")
	}
	out := []string{paint.On(l.Cut(first, w))}
	for _, text := range texts {
		out = append(out, l.Wrap(text, w, 4)...)
	}
	return out
}

// modeWords says how a benchmark behaves: every clock is noisy, so that the word is
// kept for what needs the person's.
func modeWords(t loop.Trial) string {
	switch {
	case t.Noisy:
		return "noisy"
	case t.Mode == "noisy":
		return "varies a little, as most do"
	}
	return t.Mode
}

// duration tells a time that a person plans with.
func duration(seconds float64) string {
	switch {
	case seconds < 90:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 5400:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
}
