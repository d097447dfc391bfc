package sim

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"si/benchmark/duel"
)

// Many rounds are asked for when the rule is to be judged:
// go test -run 'TestTable|TestFigures' -v -timeout 1h -sim.rounds=20000
var rounds = flag.Int("sim.rounds", 200, "rounds of each kind to simulate; from 1000 on the table has all settings")

func TestTable(t *testing.T) {
	settings := []duel.Config{{Mode: duel.Noisy}}
	if *rounds >= 1000 {
		settings = append(settings,
			duel.Config{Mode: duel.Noisy, Alpha: 0.005},
			duel.Config{Mode: duel.Noisy, Alpha: 0.05},
			duel.Config{Mode: duel.Expensive})
	}
	for _, cfg := range settings {
		rows, err := Table(cfg, *rounds, 1)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := Write(&text, rows); err != nil {
			t.Fatal(err)
		}
		t.Log("\n" + text.String())
		for _, row := range rows {
			checkLevel(t, row)
		}
	}
}

func checkLevel(t *testing.T, row Row) {
	t.Helper()
	null := row.Counts[0]
	rate, _ := null.Rate()
	alpha := row.Config.Alpha
	if limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/float64(null.Rounds)); rate > limit {
		t.Errorf("%s, alpha %v: a null is kept in %v of rounds, at most %v expected", row.Model, alpha, rate, limit)
	}
}

// TestFigures holds the default setting to what the documentation says of it.
func TestFigures(t *testing.T) {
	models := map[string]Model{}
	for _, m := range Models() {
		models[m.Name] = m
	}
	for _, c := range []struct {
		model     string
		alpha     float64
		gain      float64
		kept      float64
		low, high float64 // runs of a round
	}{
		{"gaussian 1 %", 0.01, 0, 0.005, 7.5, 8.5},
		{"gaussian 1 %", 0.01, 0.02, 0.67, 17, 19},
		{"gaussian 1 %", 0.01, 0.05, 1, 17, 20},
		{"gaussian 3 %", 0.01, 0.05, 0.5, 16, 19},
		{"heavy tails", 0.01, 0.05, 0.83, 17, 20},
		{"gaussian 1 %", 0.005, 0.02, 0.65, 17, 19},
	} {
		count, err := Play(models[c.model], duel.Config{Mode: duel.Noisy, Alpha: c.alpha}, c.gain, *rounds, 2)
		if err != nil {
			t.Fatal(err)
		}
		rate, _ := count.Rate()
		if limit := 0.03 + 3*math.Sqrt(c.kept*(1-c.kept)/float64(*rounds)); math.Abs(rate-c.kept) > limit {
			t.Errorf("%s, alpha %v, gain %v: kept in %.3f of rounds, want %.3f ± %.3f", c.model, c.alpha, c.gain, rate, c.kept, limit)
		}
		slack := 15 / math.Sqrt(float64(*rounds)) // three standard errors of a round's runs
		if runs := count.MeanRuns(); runs < c.low-slack || runs > c.high+slack {
			t.Errorf("%s, gain %v: %.1f runs a round, want %v to %v", c.model, c.gain, runs, c.low, c.high)
		}
	}
}

func TestOlderRuleKeepsNulls(t *testing.T) {
	m := Models()[0]
	count, err := Play(m, duel.Config{Mode: duel.Noisy}, 0, *rounds, 3)
	if err != nil {
		t.Fatal(err)
	}
	// By calculation: 1 - the integral of (1-v²)³ over v from 0 to 1, which is
	// 1 - 1 + 3/5 - 1/7.
	const want = 1 - 3.0/5 + 1.0/7
	rate, _ := count.SeedRate()
	if limit := 3 * math.Sqrt(want*(1-want)/float64(*rounds)); math.Abs(rate-want) > limit {
		t.Errorf("the older rule keeps a null in %.3f of rounds, want %.3f ± %.3f", rate, want, limit)
	}
}

func TestSameSeedSameTable(t *testing.T) {
	for _, m := range Models() {
		var counts []Count
		for range 2 {
			c, err := Play(m, duel.Config{Mode: duel.Noisy}, 0.02, 20, 4)
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, c)
		}
		if counts[0] != counts[1] {
			t.Errorf("%s: %+v and %+v", m.Name, counts[0], counts[1])
		}
	}
}

func TestNoiselessBenchmarkIsRefused(t *testing.T) {
	still := Model{Name: "still", New: func(*rand.Rand) Bench { return &times{noise: func() float64 { return 0 }} }}
	if _, err := Play(still, duel.Config{Mode: duel.Noisy}, 0, 1, 1); err == nil {
		t.Error("a benchmark without noise was simulated")
	}
}

// Each model must have the noise in its name, else the table says nothing.
func TestModels(t *testing.T) {
	typical := map[string]float64{
		"gaussian 1 %": 0.0067, "gaussian 3 %": 0.0202, "heavy tails": 0.0082,
		"drift": 0.0069, "accuracy of 200": 0.024, "bursts": 0.0047,
	}
	for _, m := range Models() {
		bench := m.New(rand.New(rand.NewPCG(1, 1)))
		var steps []float64
		last := bench.Run(0)
		for range 4000 {
			next := bench.Run(0)
			// 1/√2: a step has the variance of two runs.
			steps = append(steps, math.Abs(math.Log(next/last))/math.Sqrt2)
			last = next
		}
		slices.Sort(steps)
		if got, want := steps[len(steps)/2], typical[m.Name]; math.Abs(got-want) > 0.15*want {
			t.Errorf("%s: the median step is %v, want %v", m.Name, got, want)
		}
	}
}
