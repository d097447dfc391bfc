package price

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/agents"
)

func table(t *testing.T, own string) (Table, error) {
	t.Helper()
	if own == "" {
		return Load("")
	}
	path := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

func TestCost(t *testing.T) {
	const own = `{"date":"2026-11-30","prices":[{"model":"mine","input":1,"output":2},{"model":"gpt-4o","input":100,"output":100},{"model":"free","input":0,"output":0}]}`
	million := agents.Usage{Input: 1e6, CacheRead: 1e6, CacheWrite: 1e6, Output: 1e6, Reasoning: 5e5}
	for _, tc := range []struct {
		name, own, model string
		want             float64 // -1: not known
	}{
		{"known", "", "claude-sonnet-4-5", 3 + 0.3 + 3.75 + 15},
		{"with a date", "", "claude-sonnet-4-5-20250929", 3 + 0.3 + 3.75 + 15},
		{"with a date of another form", "", "gpt-5-mini-2025-08-07", 0.25 + 0.025 + 0.25 + 2},
		{"latest", "", "claude-3-5-haiku-latest", 0.8 + 0.08 + 1 + 4},
		{"no matter the case", "", "GPT-4o", 2.5 + 1.25 + 2.5 + 10},
		{"a name that resembles another", "", "gpt-5-pro", -1},
		{"a model at another provider", "", "openrouter/gpt-5", -1},
		{"unknown", "", "qwen3:8b", -1},
		{"none", "", "", -1},
		{"the user's own", own, "mine", 1 + 1 + 1 + 2},
		{"the user's own wins", own, "gpt-4o", 400},
		{"the others stay", own, "claude-haiku-4-5", 1 + 0.1 + 1.25 + 5},
		{"free is not unknown", own, "free", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			prices, err := table(t, tc.own)
			if err != nil {
				t.Fatal(err)
			}
			got := prices.Cost(tc.model, million)
			if (got == nil) != (tc.want < 0) || got != nil && math.Abs(*got-tc.want) > 1e-9 {
				t.Errorf("cost %v, want %v", got, tc.want)
			}
		})
	}
}

func TestTheBuiltInTable(t *testing.T) {
	prices, err := Default()
	if err != nil || prices.Date == "" || len(prices.Prices) == 0 {
		t.Fatalf("%+v, %v", prices, err)
	}
	seen := map[string]bool{}
	for _, p := range prices.Prices {
		if seen[p.Model] || p.Output <= p.Input || p.CacheRead != nil && *p.CacheRead >= p.Input {
			t.Errorf("%+v", p)
		}
		seen[p.Model] = true
	}
}

func TestAFileOfPricesIsChecked(t *testing.T) {
	for _, tc := range []struct{ own, want string }{
		{"not JSON", "prices.json"},
		{`{"prices":[{"model":"m","input":-1,"output":1}]}`, "prices[0]"},
		{`{"prices":[{"model":"a","input":1,"output":1},{"input":1,"output":1}]}`, "prices[1]"},
		{`{"prices":[{"model":"m","input":1e9,"output":1}]}`, "prices[0]"},
		{strings.Repeat(" ", maxTable+1), "more than"},
	} {
		if _, err := table(t, tc.own); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.40q: error %v", tc.own, err)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "absent")); err != nil {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("a folder is taken for a file of prices")
	}
}
