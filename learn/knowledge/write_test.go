package knowledge

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func none() ([]string, error) { return nil, nil }

func fresh(text string) Entry {
	return Entry{Kind: Fact, Text: text, Confidence: 0.7, Provenance: []Provenance{{"human", "me"}}}
}

func TestAddAllocatesIDs(t *testing.T) {
	p := repository(t, map[string]string{".si/knowledge/a.yaml": "entries:\n" + one("K-4", "x", "supersedes: K-8")})
	e, err := Add(t.Context(), p, fresh("colon: #hash\n\"quotes\"\t\u00e4"), none)
	if err != nil || e.ID != "K-9" || e.File != ".si/knowledge/k-9.yaml" {
		t.Fatalf("%+v, %v", e, err)
	}
	if got, _ := loaded(t, p).Entry("K-9"); got.Text != "colon: #hash\n\"quotes\"\t\u00e4" {
		t.Errorf("%q", got.Text)
	}
	e, err = Add(t.Context(), p, fresh("another"), func() ([]string, error) { return []string{"K-30", "x"}, nil })
	if err != nil || e.ID != "K-31" {
		t.Errorf("an id that evidence is about is given again: %s, %v", e.ID, err)
	}
}

func TestMergingIsAnAppend(t *testing.T) {
	p := repository(t, map[string]string{".si/knowledge/a.yaml": "entries:\n" + one("K-1", "x") + one("K-2", "y")})
	e := fresh("both")
	e.Supersedes = []string{"K-1", "K-2"}
	e, err := Add(t.Context(), p, e, none)
	if err != nil {
		t.Fatal(err)
	}
	if got := briefed(t, loaded(t, p), Request{}).IDs(); !slices.Equal(got, []string{"K-3"}) {
		t.Errorf("%v", got)
	}
	if err := os.Remove(filepath.Join(p.Top(), e.File)); err != nil {
		t.Fatal(err)
	}
	if got := briefed(t, loaded(t, p), Request{}).IDs(); !slices.Equal(got, []string{"K-1", "K-2"}) {
		t.Errorf("after deleting the one file: %v", got)
	}
	e = fresh("a wrong one")
	e.Supersedes = []string{"K-77"}
	if _, err := Add(t.Context(), p, e, none); err == nil || !strings.Contains(err.Error(), "K-77 is not in the store") {
		t.Errorf("error %v", err)
	}
}

func TestTwentyWritersLoseNothing(t *testing.T) {
	p := repository(t, nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := Add(t.Context(), p, fresh("x"), none); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s := loaded(t, p); len(s.Entries) != 20 {
		t.Errorf("%d entries", len(s.Entries))
	}
}

func TestSetCountersKeepsTheRest(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"block": {
			"# top\nentries:\n    - id:   K-1   # why\n      kind: fact\n      text: 'it''s'\n      confidence: 0.80\n      provenance: [{source: a, reference: b}]\n      used: 7 # counted\n\n# end",
			"# top\nentries:\n    - id:   K-1   # why\n      helpful: 2\n      outdated_reports: 1\n      kind: fact\n      text: 'it''s'\n      confidence: 0.80\n      provenance: [{source: a, reference: b}]\n      used: 3 # counted\n\n# end",
		},
		"flow, other letters": {
			"entries: [{text: ä, id: K-1, kind: fact, confidence: 1, provenance: [{source: a, reference: b}], helpful: 0}]\n",
			"entries: [{used: 3, outdated_reports: 1, text: ä, id: K-1, kind: fact, confidence: 1, provenance: [{source: a, reference: b}], helpful: 2}]\n",
		},
		"CRLF": {
			"entries:\r\n- id: K-1\r\n  kind: fact\r\n  text: x\r\n  confidence: 1\r\n  provenance: [{source: a, reference: b}]\r\n",
			"entries:\r\n- id: K-1\r\n  used: 3\r\n  helpful: 2\r\n  outdated_reports: 1\r\n  kind: fact\r\n  text: x\r\n  confidence: 1\r\n  provenance: [{source: a, reference: b}]\r\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := repository(t, map[string]string{".si/knowledge/a.yaml": c.before})
			for range 2 { // the second time changes nothing
				if _, err := SetCounters(p, map[string]Counters{"K-1": {3, 2, 1}, "K-99": {1, 1, 1}}); err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(filepath.Join(p.Top(), ".si/knowledge/a.yaml"))
				if err != nil || string(data) != c.after {
					t.Errorf("%v\n%s", err, data)
				}
			}
		})
	}
}

// TestSetCountersWritesOddFormsAnew: what cannot be edited in place keeps its
// comments.
func TestSetCountersWritesOddFormsAnew(t *testing.T) {
	odd := "entries:\n# about it\n- kind: fact\n  text: x\n  confidence: 1\n  provenance: [{source: a, reference: b}]\n  id: K-1"
	p := repository(t, map[string]string{".si/knowledge/a.yaml": odd})
	if _, err := SetCounters(p, map[string]Counters{"K-1": {Used: 1}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(p.Top(), ".si/knowledge/a.yaml"))
	if err != nil || !strings.Contains(string(data), "# about it") || !strings.Contains(string(data), "used: 1") {
		t.Errorf("%v\n%s", err, data)
	}
}

// TestAddRefusesAKey: what is committed stays in the repository for good.
func TestAddRefusesAKey(t *testing.T) {
	p := repository(t, nil)
	var bad *InvalidError
	if _, err := Add(t.Context(), p, fresh("Deploy with AKIA"+"ABCDEFGHIJ234567."), none); !errors.As(err, &bad) || len(loaded(t, p).Entries) != 0 {
		t.Errorf("%v", err)
	}
}
