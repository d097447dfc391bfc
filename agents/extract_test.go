package agents

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func keys() []string { return []string{"hypothesis", "steps"} }

const good = `{"hypothesis": "h", "steps": [{"step": 1}]}`

func TestExtract(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"alone", good, good},
		{"fenced, with prose around", "Here it is:\n```json\n" + good + "\n```\nDone {really}.", good},
		{"the last one counts", `{"hypothesis": "draft", "steps": []}` + "\nno, better:\n" + good, good},
		{"objects without the keys are passed over", good + ` {"note": {"steps": 1}}`, good},
		{"wrapped", `{"plan": ` + good + `, "ok": true}`, good},
		{"byte order mark and CRLF", "\ufeff" + strings.ReplaceAll(good, " ", "\r\n"), strings.ReplaceAll(good, " ", "\r\n")},
		{"braces and quotes in the prose", `I'd "use {x: {" and {"a` + "\n" + good, good},
		{"a broken draft before it", `{"hypothesis": "h", "steps": [1,]} ` + good, good},
		{"braces inside texts", `{"hypothesis": "a } { \" b", "steps": 1}`, `{"hypothesis": "a } { \" b", "steps": 1}`},
		{"most keys, when none has all", `{"x": 1} {"hypothesis": "h"} {"y": 2}`, `{"hypothesis": "h"}`},
		{"cut off outside, whole inside", `{"a": [` + good, good},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := extract(tc.in, keys())
			if f.object != tc.want || len(f.faults) != 0 {
				t.Errorf("extract(%q) = %q, faults %q; want %q", tc.in, f.object, f.faults, tc.want)
			}
		})
	}
}

func TestExtractSaysWhatIsWrong(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"nothing", "I could not find anything.", "no JSON object with the keys hypothesis, steps"},
		{"empty", "", "no JSON object"},
		{"other objects only", `{"a": 1}`, "no JSON object with the keys"},
		{"trailing comma in a list", `{"hypothesis": "h", "steps": [1, ]}`, "a trailing comma before ]"},
		{"trailing comma in an object", "x\n{\"hypothesis\": \"h\",\n}", "on line 2 of the answer is broken: a trailing comma before }, on line 3"},
		{"NaN", `{"hypothesis": "h", "steps": NaN}`, "NaN is not a JSON number"},
		{"minus infinity", `{"hypothesis": "h", "steps": -Infinity}`, "not a JSON number"},
		{"cut off", `{"hypothesis": "h", "steps": [{"step`, "the answer ends before the object does"},
		{"line break in a text", "{\"hypothesis\": \"h\", \"steps\": \"a\nb\"}", `a line break inside a text`},
		{"comment", "{\"hypothesis\": \"h\", // why\n\"steps\": 1}", "want a key in double quotes"},
		{"single quotes", `{"hypothesis": 'h'}`, "want a value"},
		{"wrong escape", `{"hypothesis": "C:\dir", "steps": 1}`, "not an escape of JSON"},
		{"leading zero", `{"hypothesis": "h", "steps": 012}`, "want , or } after a value"},
		{"too deep", `{"hypothesis": "h", "steps": ` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}", "nested more than 32 deep"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := extract(tc.in, keys())
			if f.object != "" || len(f.faults) != 1 || !strings.Contains(f.faults[0], tc.want) {
				t.Errorf("extract(%q) = %q, faults %q; want the fault %q", tc.in, f.object, f.faults, tc.want)
			}
		})
	}
}

func TestExtractRefusesAHugeDocument(t *testing.T) {
	f := extract(`{"hypothesis": "`+strings.Repeat("x", maxDocument)+`", "steps": 1}`, keys())
	if len(f.faults) != 1 || !strings.Contains(f.faults[0], "say it shorter") || len(f.near) > maxNear+100 {
		t.Errorf("faults %q, %d bytes quoted", f.faults, len(f.near))
	}
}

// The work is counted, not timed: a byte may belong to a bounded number of
// attempts only, or a hostile answer would cost hours.
func TestExtractIsLinear(t *testing.T) {
	const size = 1 << 15
	for name, unit := range map[string]string{
		"braces":          "{",
		"open objects":    `{"hypothesis":`,
		"open lists":      `{"a":[`,
		"brace and quote": `{"`,
		"escapes":         `{\"a\":`,
		"closed objects":  `{"a":{}},`,
		"long keys":       `{"` + strings.Repeat("k", 1000) + `":[1,`,
		"flipping quotes": `{",":"{`,
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(unit, size/len(unit))
			work, at := 0, 0
			for {
				next := strings.IndexByte(text[at:], '{')
				if next < 0 {
					break
				}
				at += next
				work += try(text, at, keys()).end - at
				at++
			}
			if work > 2*maxDepth*size {
				t.Errorf("%d bytes were read for an answer of %d", work, size)
			}
			if f := extract(text, keys()); f.object != "" || len(f.near) > maxNear+100 {
				t.Errorf("found %d bytes, quotes %d", len(f.object), len(f.near))
			}
		})
	}
}

// Whatever encoding/json writes is found again, in whatever prose.
func TestExtractFindsEveryDocument(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		doc := map[string]any{"hypothesis": randomText(r), "steps": randomValue(r, 4)}
		want, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		text := randomText(r) + "\n" + string(want) + "\n" + strings.NewReplacer("hypothesis", "", "steps", "").Replace(randomText(r))
		if got := extract(text, keys()); got.object != string(want) {
			t.Fatalf("extract(%q) = %q, faults %q", text, got.object, got.faults)
		}
	}
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(6); {
	case n == 0 && depth > 0:
		return []any{randomValue(r, depth-1), randomValue(r, depth-1)}
	case n == 1 && depth > 0:
		return map[string]any{randomText(r): randomValue(r, depth-1)}
	case n == 2:
		return r.NormFloat64() * 1e6
	case n == 3:
		return nil
	case n == 4:
		return r.IntN(2) == 0
	}
	return randomText(r)
}

// randomText avoids what would make the prose around a document part of it: an
// open brace that begins a valid key.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString([]string{"word", "}", "]", "\"", "\\", "{ ", "\n", "é", "```", ",", "\x1b", ":", "\u2028"}[r.IntN(13)])
	}
	return b.String()
}

// A megabyte of open braces, the cheapest hostile answer, must not cost more
// than reading it: the work of each try is a few bytes.
func TestExtractOfAMegabyteOfBraces(t *testing.T) {
	f := extract(strings.Repeat("{", 1<<20), keys())
	if f.object != "" || len(f.faults) != 1 || len(f.near) > maxNear {
		t.Errorf("object %q, faults %q, %d bytes quoted", f.object, f.faults, len(f.near))
	}
}

func FuzzExtract(f *testing.F) {
	for _, seed := range []string{good, "{{{{", `{"a":"\u12"}`, `{"hypothesis":1,"steps":-0.5e+3}`, "\ufeff{}", `{"hypothesis":{"hypothesis":1,"steps":2}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := extract(text, keys())
		if got.object == "" && len(got.faults) == 0 {
			t.Fatal("neither an object nor a fault")
		}
		if got.object != "" && !json.Valid([]byte(got.object)) {
			t.Fatalf("%q is not JSON", got.object)
		}
		if json.Valid([]byte(text)) && strings.HasPrefix(text, "{") && got.object == "" && len(got.faults) > 0 {
			for _, fault := range got.faults {
				if strings.Contains(fault, "broken") && !strings.Contains(fault, "deep") {
					t.Fatalf("%q is JSON, but %s", text, fault)
				}
			}
		}
		_, _ = planContract(Task{ID: "planner_a", Round: 1}).parse(text)
	})
}

func TestDuplicates(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}`, "[]"},
		{`{"a":1,"a":2}`, "[a: stands twice in one object]"},
		{`{"a":{"b":1,"c":{},"b":[]},"d":"a"}`, "[b: stands twice in one object]"},
		{`{"a":[1,{"x":[],"x":0}]}`, "[x: stands twice in one object]"},
	} {
		if got := fmt.Sprint(duplicates(tc.in)); got != tc.want {
			t.Errorf("duplicates(%s) = %s, want %s", tc.in, got, tc.want)
		}
	}
}
