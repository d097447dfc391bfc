package knowledge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBriefSelectsByPath(t *testing.T) {
	s := store(t,
		one("K-1", "lib", "applies_to: ['src/lib/**']"), one("K-2", "root go", "applies_to: ['**/*.go']"),
		one("K-3", "docs", "applies_to: [docs/**]"), one("K-4", "everywhere"))
	for name, c := range map[string]struct {
		paths []string
		want  string
	}{
		"a file below":           {[]string{"src/lib/feed/page.ts"}, "K-1 K-4"},
		"a file beside":          {[]string{"readme.md"}, "K-4"},
		"a file of the root":     {[]string{"x.go"}, "K-2 K-4"},
		"a glob":                 {[]string{"src/**"}, "K-1 K-2 K-4"},
		"a folder with a slash":  {[]string{"docs/"}, "K-2 K-3 K-4"},
		"several":                {[]string{"docs/a.md", "src/lib/x"}, "K-1 K-3 K-4"},
		"no path: global only":   {nil, "K-4"},
		"a path with brackets":   {[]string{"src/lib/[slug]/page.ts"}, "K-1 K-4"},
		"a leading dot and more": {[]string{"./docs/a.md"}, "K-3 K-4"},
	} {
		t.Run(name, func(t *testing.T) {
			b := briefed(t, s, Request{Paths: c.paths})
			if got := strings.Join(b.IDs(), " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestBriefDropsSupersededBeforeFilters(t *testing.T) {
	s := store(t, one("K-1", "old", "applies_to: [src/**]"), one("K-2", "new", "applies_to: [docs/**]", "supersedes: K-1"))
	if b := briefed(t, s, Request{Paths: []string{"src/a.go"}}); b.Matched != 0 || b.Text() != "" {
		t.Errorf("%q", b.Text())
	}
	chain := store(t, one("K-1", "a"), one("K-2", "b", "supersedes: [K-1]"), one("K-3", "c", "supersedes: [K-2]"), one("K-4", "self", "supersedes: K-4"))
	if got := briefed(t, chain, Request{}).IDs(); !slices.Equal(got, []string{"K-3", "K-4"}) {
		t.Errorf("%v", got)
	}
}

func TestBriefText(t *testing.T) {
	s := store(t, one("K-1", "first\n## forged\u200b", "applies_to: ['a/**', b]"), one("K-2", "second", "applies_to: [a/b]"), one("K-3", "third"))
	b := briefed(t, s, Request{Paths: []string{"a/b"}, Limit: 2})
	want := `### Knowledge brief (.si/knowledge, 2 of 3 entries)
- **[K-1]** (fact, 0.80) first ## forged<U+200B> _(applies to: a/**, b)_
- **[K-2]** (fact, 0.80) second _(applies to: a/b)_
_Left out: 1 by --limit, 0 by budget._
`
	if b.Text() != want {
		t.Errorf("%s", b.Text())
	}
	if again := briefed(t, s, Request{Paths: []string{"a/b"}, Limit: 2}); again.Text() != b.Text() || again.JSON() != b.JSON() {
		t.Error("the same input gave other bytes")
	}
}

// TestBudgetGoesOnBehindWhatDoesNotFit: a long entry ranked first does not hold up
// the short ones, and the whole output keeps to the budget in code points.
func TestBudgetGoesOnBehindWhatDoesNotFit(t *testing.T) {
	entries := []string{strings.Replace(one("K-1", strings.Repeat("ä", 3900)), "0.8", "1.0", 1)}
	for i := range 30 {
		entries = append(entries, one(fmt.Sprintf("K-%d", i+2), strings.Repeat("ü", 100)))
	}
	s := store(t, entries...)
	for _, budget := range []int{4000, 3000, 1000, 300} {
		b := briefed(t, s, Request{Budget: budget})
		if n := utf8.RuneCountInString(b.Text()); n > budget {
			t.Errorf("budget %d: %d code points", budget, n)
		}
		if b.Matched != 31 || b.Kept+b.Omitted.Budget != 31 || len(b.Entries) != b.Kept {
			t.Errorf("budget %d: %+v", budget, b.Omitted)
		}
		cost := utf8.RuneCountInString(one30())
		if free := budget - utf8.RuneCountInString(b.Text()); b.Kept < 30 && b.Kept > 1 && free >= cost+4 {
			t.Errorf("budget %d: %d entries are kept though %d code points are free", budget, b.Kept, free)
		}
		j, err := s.BriefJSON(Request{Budget: max(budget, 400)})
		if n := utf8.RuneCountInString(j.JSON()); err != nil || n > max(budget, 400) || j.Kept == 0 {
			t.Errorf("budget %d: JSON of %d code points with %d entries, %v", budget, n, j.Kept, err)
		}
	}
	if b := briefed(t, s, Request{Budget: 4000}); b.Kept != 30 || slices.Contains(b.IDs(), "K-1") {
		t.Errorf("4000: %d entries", b.Kept)
	}
	if b := briefed(t, s, Request{Budget: 4200}); b.Kept != 2 || b.IDs()[0] != "K-1" {
		t.Errorf("4200: %d entries, the long one belongs first", b.Kept)
	}
	if _, err := s.Brief(Request{Budget: 20}); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("error %v", err)
	}
}

func one30() string { return "- **[K-22]** (fact, 0.80) " + strings.Repeat("ü", 100) + "\n" }

func TestRanking(t *testing.T) {
	s := store(t,
		one("K-1", "untried"), one("K-2", "helped often", "used: 10", "helpful: 10"), one("K-3", "never helped", "used: 10"),
		one("K-4", "wrong", "used: 4", "helpful: 2", "outdated_reports: 2"), one("K-5", "untried too"))
	if got := strings.Join(briefed(t, s, Request{}).IDs(), " "); got != "K-2 K-1 K-5 K-4 K-3" {
		t.Errorf("%s", got)
	}
}

func TestBriefByKind(t *testing.T) {
	s := store(t, one("K-1", "x"), strings.Replace(one("K-2", "y"), "fact", "command", 1))
	if got := briefed(t, s, Request{Kinds: []Kind{Command}}).IDs(); !slices.Equal(got, []string{"K-2"}) {
		t.Errorf("%v", got)
	}
}

func large(tb testing.TB, n int) (*Store, []string) {
	tb.Helper()
	var entries []string
	for i := range n {
		entries = append(entries, one(fmt.Sprintf("K-%d", i+1), "something to know about this part", fmt.Sprintf("applies_to: ['src/part%d/**', '**/*_%d.go']", i, i)))
	}
	var paths []string
	for i := range 200 {
		paths = append(paths, fmt.Sprintf("src/part%d/deep/file_%d.ts", i*3, i))
	}
	return store(tb, entries...), paths
}

func BenchmarkBrief(b *testing.B) {
	s, paths := large(b, 2000)
	for b.Loop() {
		if brief, err := s.Brief(Request{Paths: paths}); err != nil || brief.Matched != 200 {
			b.Fatalf("%d matched, %v", brief.Matched, err)
		}
	}
}

func BenchmarkAudit(b *testing.B) {
	s, _ := large(b, 2000)
	for b.Loop() {
		if a, err := s.Audit(0); err != nil || a.Live != 2000 {
			b.Fatalf("%+v, %v", a, err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	var files map[string]string
	var entries []string
	for i := range 2000 {
		entries = append(entries, one(fmt.Sprintf("K-%d", i+1), "something to know about this part", fmt.Sprintf("applies_to: ['src/part%d/**']", i)))
	}
	files = map[string]string{".si/knowledge/a.yaml": "entries:\n" + strings.Join(entries, "")}
	p := repository(b, files)
	for b.Loop() {
		if s, err := Load(p); err != nil || len(s.Entries) != 2000 {
			b.Fatal(err)
		}
	}
}
