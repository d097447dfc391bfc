package tuner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// planted is a made-up program: knobs in several languages, and a benchmark that
// knows where their best values are.
type planted struct {
	knobs []plantedKnob
	flag  bool // the best position of the switch
	ties  []float64
}

// plantedKnob is one number. Its text is found again by its own pattern, not by
// the code under test.
type plantedKnob struct {
	file, form string // form has one %s
	fraction   bool
	start      float64
	best       float64 // on the axis
	weight     float64
}

func (k plantedKnob) axis(v float64) float64 {
	if k.fraction {
		return math.Log2(v / (1 - v))
	}
	return math.Log2(v)
}

func plant(seed uint64) planted {
	rng := rand.New(rand.NewPCG(seed, 7))
	knobs := []plantedKnob{
		{file: "engine/options.go", form: "\tworkerCount = %s"},
		{file: "engine/options.go", form: "\tmergeThreshold = %s"},
		{file: "engine/options.go", form: "\ttreeDegree = %s"},
		{file: "train.py", form: "BATCH_SIZE = %s"},
		{file: "config.json", form: `  "learningRate": %s,`, fraction: true},
		{file: "config.json", form: `  "blockLength": %s`},
		{file: "native/fast.h", form: "#define PREFETCH_DISTANCE %s"},
	}
	p := planted{flag: rng.IntN(2) == 0}
	for i := range knobs {
		k := &knobs[i]
		k.start, k.best = math.Exp2(float64(3+rng.IntN(5))), 3+6*rng.Float64()
		if k.fraction {
			k.start, k.best = 0.1, -4+6*rng.Float64()
		}
		k.weight = 0.02 + 0.08*rng.Float64()
		p.ties = append(p.ties, 0.015*(2*rng.Float64()-1))
	}
	p.knobs = knobs
	return p
}

func (p planted) files() map[string]string {
	out := map[string]string{
		"engine/options.go": "package engine\n\nconst (\n", "train.py": "import math\n\n", "config.json": "{\n",
		"native/fast.h": "#pragma once\n", "run.sh": fmt.Sprintf("#!/bin/sh\nUSE_CACHE=%t\nexec ./engine\n", !p.flag),
	}
	for _, k := range p.knobs {
		out[k.file] += fmt.Sprintf(k.form, strconv.FormatFloat(k.start, 'f', -1, 64)) + "\n"
	}
	out["engine/options.go"] += ")\n"
	out["config.json"] += "}\n"
	return out
}

// score is 1000 at the best values. Neighbouring knobs pull at one another.
func (p planted) score(dir string) (float64, error) {
	loss, last := 0.0, 0.0
	for i, k := range p.knobs {
		text, err := readMatch(dir, k.file, fmt.Sprintf(regexp.QuoteMeta(k.form), `([0-9.]+)`))
		if err != nil {
			return 0, err
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, err
		}
		off := k.axis(v) - k.best
		loss += k.weight*off*off + p.ties[i]*off*last
		last = off
	}
	flag, err := readMatch(dir, "run.sh", `USE_CACHE=(true|false)`)
	if err != nil {
		return 0, err
	}
	if flag != strconv.FormatBool(p.flag) {
		loss += 0.06
	}
	return 1000 * math.Exp(-loss), nil
}

func readMatch(dir, file, expr string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^` + expr + `$`).FindSubmatch(data)
	if m == nil {
		return "", fmt.Errorf("%s: %s is gone:\n%s", file, expr, data)
	}
	return string(m[1]), nil
}

// The optimum lies elsewhere for each seed, so nothing in the tuner can know it.
func TestFindsThePlantedOptimum(t *testing.T) {
	const rounds, near = 25, 0.90
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel() // most of it waits for the disk
			p := plant(seed)
			pl := newPlayer(t, p.files(), seed, p.score)
			start, played := pl.best, 0
			for played < rounds && pl.round() {
				played++
			}
			t.Logf("%.1f -> %.1f of 1000 in %d rounds", start, pl.best, played)
			if pl.best < near*1000 {
				t.Errorf("%.1f after %d rounds, want %.0f", pl.best, played, near*1000)
			}
			pl.checkPlans()
		})
	}
}

func TestSameSeedSamePlans(t *testing.T) {
	play := func() []string {
		p := plant(3)
		pl := newPlayer(t, p.files(), 5, p.score)
		for range 6 {
			pl.round()
		}
		var out []string
		for _, plan := range pl.plans {
			out = append(out, fmt.Sprintf("%s %s %s", plan.PlanID, plan.SI.Edit.Knob, plan.SI.Edit.New))
		}
		return out
	}
	a, b := play(), play()
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("two runs differ:\n%v\n%v", a, b)
	}
}
