package track

import (
	"encoding/json"
	"math"
	"testing"
)

// TestSumsStayNumbers: what agents tell of their cost is summed up, whatever they tell,
// and the sum can be written down.
func TestSumsStayNumbers(t *testing.T) {
	told := func(usd float64, tokens int64) Spent {
		return Spent{CostUSD: &usd, Usage: &Usage{Input: tokens, CacheRead: tokens, CacheWrite: tokens, Output: tokens, Reasoning: tokens}}
	}
	for name, tc := range map[string]struct {
		a, b   Spent
		usd    float64
		tokens int64
	}{
		"two":               {told(1, 2), told(3, 4), 4, 24},
		"beyond infinity":   {told(math.MaxFloat64, math.MaxInt64), told(math.MaxFloat64, math.MaxInt64), MostCost, 4 * MostTokens},
		"less than nothing": {told(5, 6), told(-1e9, math.MinInt64), 5, 24},
		"no number":         {told(5, 6), told(math.NaN(), 0), 5, 24},
	} {
		t.Run(name, func(t *testing.T) {
			sum := tc.a.Add(tc.b).Plausible()
			if *sum.CostUSD != tc.usd || sum.Usage.Total() != tc.tokens {
				t.Errorf("$%g and %d tokens, want $%g and %d", *sum.CostUSD, sum.Usage.Total(), tc.usd, tc.tokens)
			}
			for _, s := range []Spent{tc.a.Add(tc.b), tc.b.Plausible()} {
				if _, err := json.Marshal(s); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
