package likeness

import "testing"

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		a, b     string
		low, top float64
	}{
		"the same":             {"Run make gen after each edit.", "Run make gen after each edit.", 1, 1},
		"other endings":        {"Run make gen after editing protos", "After proto edits, run make gen!", 1, 1},
		"half of it":           {"link the dependencies into a worktree", "link the dependencies of the benchmark", 0.3, 0.7},
		"something else":       {"link the dependencies", "the benchmark sleeps", 0, 0},
		"nothing but fillers":  {"it is not", "that was", 0, 0},
		"words in other texts": {"größe prüfen", "GRÖSSE prüfen", 0.3, 0.4},
	} {
		t.Run(name, func(t *testing.T) {
			got := Of(Words(c.a), Words(c.b))
			if got < c.low || got > c.top {
				t.Errorf("%v, want %v to %v", got, c.low, c.top)
			}
			if back := Of(Words(c.b), Words(c.a)); back != got {
				t.Errorf("not the same the other way round: %v", back)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	page := Words("You carry out one plan. Leave the sealed paths alone. Do not commit.")
	if got := Within(Words("leave sealed paths alone"), page); got != 1 {
		t.Errorf("%v", got)
	}
	if got := Within(Words("link dependencies into worktrees"), page); got > 0.2 {
		t.Errorf("%v", got)
	}
	if got := Within(nil, page); got != 0 {
		t.Errorf("%v", got)
	}
}
