package loop

import (
	"fmt"
	"slices"
	"testing"
)

// TestSummariesRepeatNothing: a night in which the user works beside the loop ends
// with a line a thing, not with a line a change.
func TestSummariesRepeatNothing(t *testing.T) {
	type saw struct {
		what  string
		round int
	}
	for name, tc := range map[string]struct {
		seen []saw
		want []string
	}{
		"nothing":    {nil, nil},
		"once":       {[]saw{{"file a.go", 2}}, []string{"the user's file a.go changed during round 2"}},
		"at the end": {[]saw{{"file a.go", 0}}, []string{"the user's file a.go changed during the run"}},
		"often": {
			[]saw{{"file a.go", 1}, {"ref main", 1}, {"file a.go", 1}, {"file a.go", 3}},
			[]string{"the user's file a.go changed during rounds 1 to 3 (3 times)", "the user's ref main changed during round 1"},
		},
		"to the end": {[]saw{{"file a.go", 4}, {"file a.go", 0}}, []string{"the user's file a.go changed from round 4 to the end of the run (2 times)"}},
	} {
		t.Run(name, func(t *testing.T) {
			var s sightings
			for _, x := range tc.seen {
				s.saw(x.what, x.round)
			}
			if got := s.notes(); !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	var many sightings
	for i := range 1000 {
		many.saw(fmt.Sprint("file ", i), 1)
	}
	if got := many.notes(); len(got) != mostSightings+1 || got[mostSightings] != "990 more things of the user's changed; the checkout events of the journal name them" {
		t.Errorf("%d notes, the last of them %q", len(got), got[len(got)-1])
	}
	if got := tally([]string{"a", "b", "a", "a"}); !slices.Equal(got, []string{"a (3 times)", "b"}) {
		t.Errorf("%q", got)
	}
}
