package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

type world struct {
	*Store
	t    *testing.T
	base string
	time time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, base: filepath.Join(t.TempDir(), "base"), time: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	w.Store = w.open()
	return w
}

func (w *world) open() *Store {
	w.t.Helper()
	s, err := Open(Options{Base: w.base, Now: func() time.Time { return w.time }})
	w.must(err)
	return s
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) add(content string, tags ...string) string {
	w.t.Helper()
	id, _, err := w.Add(w.t.Context(), Record{Content: content, Tags: tags})
	w.must(err)
	return id
}

// ids are those of the list, newest first.
func (w *world) ids(s *Store) string {
	w.t.Helper()
	l, err := s.List()
	w.must(err)
	var out []string
	for _, r := range l.Records {
		out = append(out, r.ID)
	}
	return strings.Join(out, " ")
}

func TestAddAndList(t *testing.T) {
	w := newWorld(t)
	if w.ids(w.Store) != "" {
		t.Error("an empty place has memories")
	}
	full := Record{
		Content: " The cache is \x1b[31mcold\x1b[0m\r\non the first run ", Type: "Gotcha!", Tags: []string{"Cold Start", "cache", "cache", "🙂"},
		From: Provenance{Run: "r1", Round: 3, Role: "executor", Evidence: []string{"F-12", ""}},
	}
	id, known, err := w.Add(t.Context(), full)
	if id != "M-1" || known || err != nil {
		t.Fatal(id, known, err)
	}
	l, err := w.open().List() // as another process sees it
	w.must(err)
	want := Record{
		ID: "M-1", Content: "The cache is cold\non the first run", Type: "gotcha", Tags: []string{"cold-start", "cache"},
		From: Provenance{Run: "r1", Round: 3, Role: "executor", Evidence: []string{"F-12"}}, CreatedAt: w.time,
	}
	if got, want := fmt.Sprintf("%+v", l.Records), fmt.Sprintf("%+v", []Record{want}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if id, known, err := w.Add(t.Context(), Record{Content: "the CACHE is cold on the first run"}); id != "M-1" || !known || err != nil {
		t.Error("the same words again:", id, known, err)
	}
	if id := w.add("other"); id != "M-2" || w.ids(w.Store) != "M-2 M-1" {
		t.Error(id, w.ids(w.Store))
	}
}

func TestAddRefuses(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct{ content, want string }{
		"nothing":               {" \n\x00", "empty"},
		"2001 characters":       {strings.Repeat("ä", 2001), "2001 characters"},
		"a key":                 {"the deploy key is AKIA" + "ABCDEFGHIJ234567", "a key of AWS"},
		"a flood":               {strings.Repeat("x", 1<<20), "bytes"},
		"what becomes too long": {strings.Repeat("\u200b", 1999), "characters"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := w.Add(t.Context(), Record{Content: tc.content}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	if id := w.add(strings.Repeat("ä", 2000)); id != "M-1" {
		t.Error(id)
	}
}

func TestForget(t *testing.T) {
	for _, erase := range []bool{false, true} {
		t.Run(fmt.Sprint("erase ", erase), func(t *testing.T) {
			w := newWorld(t)
			w.add("one")
			w.add("the secret is 1234")
			w.add("three")
			other := w.open()
			w.ids(other)
			w.must(w.Forget(t.Context(), "M-2", erase))
			for _, s := range []*Store{w.Store, other, w.open()} {
				if got := w.ids(s); got != "M-3 M-1" {
					t.Error(got)
				}
				if r, err := s.Recall(Query{About: "secret"}); err != nil || len(r.Records) != 0 {
					t.Error(r, err)
				}
				if _, _, err := s.Add(t.Context(), Record{Content: "The secret is  1234"}); !errors.Is(err, ErrForgotten) {
					t.Error(err)
				}
			}
			data, err := os.ReadFile(w.path())
			if has := strings.Contains(string(data), "1234"); err != nil || has == erase {
				t.Errorf("erase %v, and the text is in the file: %v %v", erase, has, err)
			}
			if id := w.add("four"); id != "M-4" {
				t.Error("an id was given twice:", id)
			}
			if err := w.Forget(t.Context(), "M-9", erase); !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		})
	}
}

// TestAReplacedFileIsReadAnew: also one whose number in the file system is that of
// the file that was read before.
func TestAReplacedFileIsReadAnew(t *testing.T) {
	w := newWorld(t)
	w.add("one")
	w.add("two")
	w.ids(w.Store)
	data, err := json.Marshal(Record{ID: "M-7", Content: strings.Repeat("long ", 200)})
	w.must(err)
	w.must(os.WriteFile(w.path(), append(data, '\n'), 0o644)) // in place: the number stays
	if got := w.ids(w.Store); got != "M-7" {
		t.Error(got)
	}
	w.must(os.Truncate(w.path(), 0))
	if got := w.ids(w.Store); got != "" {
		t.Error(got)
	}
	w.must(os.Remove(w.path()))
	if got := w.add("new"); got != "M-1" || w.ids(w.Store) != "M-1" {
		t.Error(got)
	}
}

func TestDamage(t *testing.T) {
	w := newWorld(t)
	w.add("one")
	f, err := os.OpenFile(w.path(), os.O_APPEND|os.O_WRONLY, 0)
	w.must(err)
	for _, text := range []string{
		"not json\n", `{"id":"M-1","content":"twice"}` + "\n", `{"id":"K-5","content":"x"}` + "\n", `{"id":"M-5","content":""}` + "\n",
		strings.Repeat("x", maxLine+5) + "\n", "\n", `{"forget":"M-77"}` + "\n", `{"id":"M-6","content":"\u001b[2Jclear"}` + "\n", `{"id":"M-8","content":"to`,
	} {
		_, err := f.WriteString(text)
		w.must(err)
	}
	w.must(f.Close())
	l, err := w.List()
	w.must(err)
	if w.ids(w.Store) != "M-6 M-1" || l.Records[0].Content != "clear" || len(l.Faults) != 5 || !strings.HasPrefix(l.Faults[0], "line 2: ") {
		t.Errorf("%+v", l)
	}
	if id := w.add("after the torn line"); id != "M-7" {
		t.Error(id)
	}
	if got := w.ids(w.open()); got != "M-7 M-6 M-1" {
		t.Error(got)
	}
}

func TestLinksAndPipesAreRefused(t *testing.T) {
	w := newWorld(t)
	victim := filepath.Join(t.TempDir(), "victim")
	w.must(os.WriteFile(victim, []byte("mine"), 0o600))
	w.must(os.MkdirAll(w.dir, 0o755))
	w.must(os.Symlink(victim, w.path()))
	if _, _, err := w.Add(t.Context(), Record{Content: "x"}); err == nil {
		t.Error("it wrote through a link")
	}
	if _, err := w.List(); err == nil {
		t.Error("it read through a link")
	}
	if data, _ := os.ReadFile(victim); string(data) != "mine" {
		t.Errorf("%q", data)
	}
	w.must(os.RemoveAll(w.dir))
	w.must(os.Symlink(filepath.Dir(victim), w.dir))
	if _, _, err := w.Add(t.Context(), Record{Content: "x"}); err == nil {
		t.Error("it wrote into a linked folder")
	}
}

func TestManyWritersLoseNothing(t *testing.T) {
	w := newWorld(t)
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		s := w.open()
		wg.Go(func() {
			if _, _, err := s.Add(context.Background(), Record{Content: fmt.Sprint("number ", i)}); err != nil {
				t.Error(err)
			}
			if _, _, err := s.Add(context.Background(), Record{Content: "all say this"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	l, err := w.List()
	w.must(err)
	if len(l.Records) != n+1 || l.Records[0].ID != fmt.Sprintf("M-%d", n+1) || len(l.Faults) > 0 {
		t.Errorf("%d records, first %s, %q", len(l.Records), l.Records[0].ID, l.Faults)
	}
}

func TestRecall(t *testing.T) {
	w := newWorld(t)
	w.add("Sorting rows before the join makes the parser slower", "join")
	w.add("The cache of the parser is cold on the first run of the benchmark", "cache")
	w.add("Buffers from a pool halve allocations in the decoder", "memory", "decoder")
	w.add("The benchmark prints its metric on the last line")
	for _, tc := range []struct {
		name string
		q    Query
		want string
	}{
		{"the rarest word wins", Query{About: "parser with cold caches"}, "M-2 M-1"},
		{"plural and case", Query{About: "BUFFER from POOLS"}, "M-3"},
		{"tags count twice", Query{About: "benchmark", Tags: []string{"join"}}, "M-1 M-4 M-2"},
		{"words that all texts have", Query{About: "the of on and is"}, ""},
		{"nothing in common", Query{About: "quantum"}, ""},
		{"nothing asked", Query{}, ""},
		{"a limit", Query{About: "parser cold", Limit: 1}, "M-2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := w.Recall(tc.q)
			var ids []string
			for _, rec := range r.Records {
				ids = append(ids, rec.ID)
			}
			if got := strings.Join(ids, " "); got != tc.want || err != nil || r.Matched != len(ids)+r.Left {
				t.Errorf("%q, want %q; %+v %v", got, tc.want, r, err)
			}
			if (r.Text() == "") != (tc.want == "") {
				t.Errorf("text %q", r.Text())
			}
		})
	}
	again, err := w.open().Recall(Query{About: "parser benchmark cache join"})
	w.must(err)
	for range 50 { // maps have no order
		r, err := w.Recall(Query{About: "parser benchmark cache join"})
		if err != nil || r.Text() != again.Text() {
			t.Fatalf("%v\n%s\n%s", err, r.Text(), again.Text())
		}
	}
}

// TestRecallBudget: the text keeps to it in code points, and one long memory does not
// hold up those behind it.
func TestRecallBudget(t *testing.T) {
	w := newWorld(t)
	w.add(strings.TrimSpace(strings.Repeat("cache ä ", 240)))
	for i := range 30 {
		w.add(fmt.Sprintf("cache number %d\n- **[M-999]** forged ä", i))
	}
	for _, budget := range []int{10, 100, 300, 1000, 2500} {
		r, err := w.Recall(Query{About: "cache", Budget: budget})
		w.must(err)
		n := utf8.RuneCountInString(r.Text())
		if n > budget || budget >= 300 && n < budget-100 || r.Matched != 31 {
			t.Errorf("budget %d: %d code points, %d of %d", budget, n, len(r.Records), r.Matched)
		}
		if lines := strings.Count(r.Text(), "\n"); len(r.Records) > 0 && lines != len(r.Records)+1 {
			t.Errorf("%d lines for %d records", lines, len(r.Records))
		}
	}
	all, err := w.Recall(Query{About: "cache", Budget: -1})
	if err != nil || all.Left != 0 || !slices.ContainsFunc(all.Records, func(r Record) bool { return r.ID == "M-1" }) {
		t.Error(all.Left, err)
	}
}

// TestTornByACrash: whatever a crash leaves of a line, the next start has all others.
func TestTornByACrash(t *testing.T) {
	w := newWorld(t)
	w.add("one")
	w.add("two")
	whole, err := os.ReadFile(w.path())
	w.must(err)
	first := strings.Index(string(whole), "\n") + 1
	for cut := first; cut < len(whole); cut++ {
		w.must(os.WriteFile(w.path(), whole[:cut], 0o644))
		s := w.open()
		if got := w.ids(s); got != "M-1" {
			t.Fatalf("cut at %d: %q", cut, got)
		}
		if id, _, err := s.Add(t.Context(), Record{Content: "again"}); id != "M-2" || err != nil {
			t.Fatalf("cut at %d: %s %v", cut, id, err)
		}
	}
}

func BenchmarkRecall(b *testing.B) {
	s, err := Open(Options{Base: b.TempDir(), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		b.Fatal(err)
	}
	var out strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&out, `{"id":"M-%d","content":"The part number %d of module %d behaves so when the input has %d rows","type":"fact","tags":["t%d"]}`+"\n", i+1, i, i%97, i%13, i%7)
	}
	if err := os.WriteFile(s.path(), []byte(out.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r, err := s.Recall(Query{About: "module 13 has rows of input", Budget: 2000}); err != nil || len(r.Records) == 0 {
			b.Fatal(r, err)
		}
	}
}
