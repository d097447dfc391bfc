package loop

import (
	"fmt"
	"slices"
)

// mostSightings bounds what a summary lists of the user's own work: who rebases
// while a loop runs changes a thousand files.
const mostSightings = 10

// sighting is something of the user's that changed while the loop ran, and did so
// as a person's ordinary work does.
type sighting struct {
	what        string
	times       int
	first, last int // rounds
}

// sightings are in the order in which they were first seen.
type sightings []sighting

func (s *sightings) saw(what string, round int) {
	i := slices.IndexFunc(*s, func(x sighting) bool { return x.what == what })
	if i < 0 {
		*s = append(*s, sighting{what: what, first: round})
		i = len(*s) - 1
	}
	(*s)[i].times++
	(*s)[i].last = round
}

// notes are the lines of the summary, one a thing however often it changed.
func (s sightings) notes() []string {
	var out []string
	for _, x := range s[:min(len(s), mostSightings)] {
		out = append(out, "the user's "+x.what+" changed "+x.when()+times(x.times))
	}
	if more := len(s) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d more things of the user's changed; the checkout events of the journal name them", more))
	}
	return out
}

// when counts the last look of a run, which is in no round, as its end.
func (x sighting) when() string {
	switch {
	case x.first == x.last && x.first == 0:
		return "during the run"
	case x.first == x.last:
		return fmt.Sprintf("during round %d", x.first)
	case x.last == 0:
		return fmt.Sprintf("from round %d to the end of the run", x.first)
	case x.first == 0:
		return fmt.Sprintf("from the start of the run to round %d", x.last)
	}
	return fmt.Sprintf("during rounds %d to %d", x.first, x.last)
}

func times(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", n)
}

// tally keeps each note once, with how often it came.
func tally(notes []string) []string {
	counts := make(map[string]int, len(notes))
	var out []string
	for _, n := range notes {
		if counts[n]++; counts[n] == 1 {
			out = append(out, n)
		}
	}
	for i, n := range out {
		out[i] = n + times(counts[n])
	}
	return out
}
