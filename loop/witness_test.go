package loop

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"si/agents"
	"si/track"
)

// TestAnInfiniteCostIsWrittenDown: a program whose steps cost 1e308 dollars each tells of
// an infinite sum. The event of its end, which the journal must take, has a number.
func TestAnInfiniteCostIsWrittenDown(t *testing.T) {
	d, err := openDiary(filepath.Join(t.TempDir(), "d"))
	if err != nil {
		t.Fatal(err)
	}
	var p purse
	b := track.BudgetOptions{CostUSD: 5}
	one, _ := p.start(agents.Executor, b)
	ended := false
	w := &witness{diary: d, bill: one, cut: func(error) { ended = true }}
	defer w.close()
	w.watch(agents.Event{Kind: agents.EventUsage, CostUSD: new(math.Inf(1)), Usage: &agents.Usage{Output: math.MaxInt64}})
	w.paid(track.Spent{CostUSD: new(math.Inf(1))})
	if _, err := json.Marshal(w.event()); err != nil || !ended || p.spent(b) == "" {
		t.Errorf("%v, ended %t, the run's budget: %q", err, ended, p.spent(b))
	}
	m := agents.NewMeter(agents.Limits{Tokens: 10})
	if over := m.Add(agents.Event{Usage: &agents.Usage{Input: math.MaxInt64, Output: math.MaxInt64}}); over == "" {
		t.Error("a sum that overflows passes no limit of a task")
	}
}
