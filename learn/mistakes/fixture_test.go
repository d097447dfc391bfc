package mistakes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"si/internal/durable"
	"si/learn/evidence"
	"si/learn/place"
	"si/track"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

func repository(tb testing.TB, files map[string]string) place.Place {
	tb.Helper()
	top := tb.TempDir()
	for name, text := range files {
		put(tb, filepath.Join(top, name), text)
	}
	return opened(tb, top, durable.Hooks{})
}

func opened(tb testing.TB, top string, hooks durable.Hooks) place.Place {
	tb.Helper()
	p, err := place.Open(&durable.Store{Hooks: hooks}, top)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func put(tb testing.TB, path, text string) {
	tb.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		tb.Fatal(err)
	}
}

func text(tb testing.TB, p place.Place, name string) string {
	tb.Helper()
	data, err := p.Read(name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

func mistake(signature string) Entry {
	return Entry{
		Title: "It broke", What: "the build", Cause: "a missing file", Consequence: "one cycle lost", Prevention: "link it",
		Signature: signature, Initiative: "default", Actor: "executor", Proof: "F-1",
	}
}

// inRun adds a mistake that run n found, n days after noon.
func inRun(tb testing.TB, p place.Place, signature string, n int) Added {
	tb.Helper()
	e := mistake(signature)
	e.Proof = fmt.Sprintf("F-%d", n)
	a, err := Add(tb.Context(), p, New{Entry: e, Run: fmt.Sprintf("run%d", n), At: noon.AddDate(0, 0, n), Create: true})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

const stored = "entries:\n  - {id: K-1, kind: gotcha, text: link it, confidence: 1, provenance: [{source: MISTAKES.md, reference: broken}]}\n"

// delivered records that K-1 was in a prompt, n days after noon.
func delivered(tb testing.TB, p place.Place, n int) {
	tb.Helper()
	err := evidence.Append(p, evidence.Line{Delivery: &evidence.Delivery{
		Run: fmt.Sprintf("run%d", n), Round: 1, Agent: "planner_a", ID: "K-1", Verdict: track.VerdictUnused, At: noon.AddDate(0, 0, n),
	}})
	if err != nil {
		tb.Fatal(err)
	}
}

// earned is a repository in which the signature broken has earned to be law: three
// runs, an entry that was delivered, two runs more.
func earned(tb testing.TB, files map[string]string) place.Place {
	tb.Helper()
	all := map[string]string{".si/knowledge/a.yaml": stored}
	for name, s := range files {
		all[name] = s
	}
	p := repository(tb, all)
	for n := range 3 {
		inRun(tb, p, "broken", n)
	}
	if _, err := SetStatus(tb.Context(), p, "broken", "knowledge:K-1"); err != nil {
		tb.Fatal(err)
	}
	delivered(tb, p, 3)
	inRun(tb, p, "broken", 4)
	inRun(tb, p, "broken", 5)
	return p
}

func law(tb testing.TB, p place.Place, rule string) (Lawed, error) {
	tb.Helper()
	return MakeLaw(tb.Context(), p, LawRequest{Signature: "broken", Rule: rule, At: noon.AddDate(0, 0, 9), Allow: func(string) error { return nil }})
}

func repeat(tb testing.TB, p place.Place, signature string) Repeat {
	tb.Helper()
	all, err := Repeats(p, 0)
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range all {
		if r.Signature == signature {
			return r
		}
	}
	return Repeat{}
}

func ledger(tb testing.TB, p place.Place) *Ledger {
	tb.Helper()
	l, err := Load(p)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}
