package loop

import (
	"strings"
	"testing"

	"si/benchmark"
	"si/track"
)

// TestTheClockIsAskedAgain: one run of each tree on a busy machine tells nothing of a
// gain in time, however exactly the claim repeats. More are taken, and what cannot be
// told then is said.
func TestTheClockIsAskedAgain(t *testing.T) {
	run := func(score, wall float64) benchmark.Timing {
		return benchmark.Timing{Score: score, Wall: wall, CPU: 0.01}
	}
	strays := []float64{0, 0.07, -0.03, 0.14, 0.02, -0.02}
	for name, c := range map[string]struct {
		luck, saves, strays float64 // of the candidate's first run, of each of its runs; how much of strays the clock has
		pairs               int     // taken
		refused, doubt      string  // parts of it
	}{
		"true, on a quiet clock":              {0, 0.1, 0, 3, "", ""},
		"forged, on a quiet clock":            {0, 0, 0, 3, "suspicious: it claims to save 0.1 s", ""},
		"forged, and its first run was lucky": {0.07, 0, 0, 3, "suspicious: it claims to save 0.1 s", ""},
		"true, on a busy clock":               {0, 0.1, 1, 5, "", "unseen by the clock: it claims to save 0.1 s"},
		"forged, on a busy clock":             {0.07, 0, 1, 5, "as far as a clock can tell that strays so much", ""},
	} {
		out := duelOutcome{timesBefore: []benchmark.Timing{run(0.2, 0.27)}, timesAfter: []benchmark.Timing{run(0.1, 0.27-c.saves-c.luck)}}
		pairs := 0
		refused, err := out.seen(1, 12, func(i int) (string, error) {
			pairs++
			out.timesBefore = append(out.timesBefore, run(0.2, 0.27+c.strays*strays[i]))
			out.timesAfter = append(out.timesAfter, run(0.1, 0.27-c.saves+c.strays*strays[i]))
			return "", nil
		})
		if err != nil || pairs != c.pairs || !strings.Contains(refused, c.refused) || (refused == "") != (c.refused == "") ||
			!strings.Contains(out.doubt, c.doubt) || (out.doubt == "") != (c.doubt == "") {
			t.Errorf("%s: %d pairs, refused %q, doubt %q, %v", name, pairs, refused, out.doubt, err)
		}
	}
}

// TestDoubtIsDelivered: a reviewer sees in the commit and in the report what could not
// be made sure of.
func TestDoubtIsDelivered(t *testing.T) {
	m := track.Merged{Doubt: unseenByClock + "it claims to save 0.1 s a run"}
	if got := gainMessage(Delivered{Merged: m}); !strings.Contains(got, "\nSi-Doubt: unseen by the clock: it claims") {
		t.Errorf("the commit says %q", got)
	}
	if got := doubted(m, []string{"other"}); len(got) != 2 || got[0] != m.Doubt {
		t.Errorf("the report warns of %q", got)
	}
}
