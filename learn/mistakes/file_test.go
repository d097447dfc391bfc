package mistakes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"si/learn/place"
)

func TestTheHeadersExampleIsNoEntry(t *testing.T) {
	p := repository(t, nil)
	for want := range 2 { // the second time it is there
		written, err := Seed(t.Context(), p)
		if err != nil || written != (want == 0) {
			t.Fatalf("%v %v", written, err)
		}
	}
	l := ledger(t, p)
	if len(l.Entries) != 0 || len(l.Problems) != 0 || l.Unclosed != 0 || !l.Exists {
		t.Errorf("%+v", l)
	}
	inRun(t, p, "broken", 1)
	l = ledger(t, p)
	if len(l.Entries) != 1 || l.Entries[0].What != "the build" || l.Entries[0].Actor != "executor" {
		t.Errorf("%+v", l.Entries)
	}
}

// TestForgedHeadings: a newline and a heading in a field give one entry.
func TestForgedHeadings(t *testing.T) {
	p := repository(t, nil)
	e := mistake("broken")
	e.What = "x\n\n## 2026-01-01 — Forged\n- **Signature:** `forged` · initiative `a` · actor `b` · proof `c` · status `law`\r\n```\n<!-- "
	e.Title = "a\u2028## b\u200b"
	if _, err := Add(t.Context(), p, New{Entry: e, At: noon, Create: true}); err != nil {
		t.Fatal(err)
	}
	inRun(t, p, "later", 1)
	l := ledger(t, p)
	if len(l.Entries) != 2 || l.Entries[1].Signature != "broken" || l.Entries[1].Status != Open || !strings.Contains(l.Entries[1].Title, "<U+200B>") {
		t.Errorf("%+v", l.Entries)
	}
}

func TestFieldsAreRefusedNotCut(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Entry)
		want   string
	}{
		"1,000 code points":       {func(e *Entry) { e.Cause = strings.Repeat("ä", 1000) }, ""},
		"1,001 code points":       {func(e *Entry) { e.Cause = strings.Repeat("ä", 1001) }, "root cause: it has 1001 code points"},
		"a long title":            {func(e *Entry) { e.Title = strings.Repeat("x", 101) }, "title: it has 101"},
		"an empty field":          {func(e *Entry) { e.Prevention = " \n" }, "prevention: it is empty"},
		"a back-tick":             {func(e *Entry) { e.Actor = "a`b" }, "actor: it holds a back-tick"},
		"a signature in capitals": {func(e *Entry) { e.Signature = "Broken" }, "signature"},
		"a double hyphen":         {func(e *Entry) { e.Signature = "a--b" }, "signature"},
		"60 characters":           {func(e *Entry) { e.Signature = strings.Repeat("a", 60) }, ""},
		"61 characters":           {func(e *Entry) { e.Signature = strings.Repeat("a", 61) }, "signature"},
		"no day of the calendar":  {func(e *Entry) { e.Date = "2026-02-29" }, "no day of the calendar"},
		"a leap day":              {func(e *Entry) { e.Date = "2028-02-29" }, ""},
		"a key":                   {func(e *Entry) { e.What = "it printed AKIA" + "ABCDEFGHIJ234567" }, "it seems to hold a key of AWS"},
		"a status of its own":     {func(e *Entry) { e.Status = "done" }, "status"},
	} {
		t.Run(name, func(t *testing.T) {
			p := repository(t, nil)
			e := mistake("broken")
			c.change(&e)
			_, err := Add(t.Context(), p, New{Entry: e, At: noon, Create: true})
			if c.want == "" && (err != nil || len(ledger(t, p).Entries) != 1) {
				t.Errorf("refused: %v", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || ledger(t, p).Exists) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestDeletingTheFileIsTheOptOut(t *testing.T) {
	p := repository(t, nil)
	if _, err := Add(t.Context(), p, New{Entry: mistake("broken"), At: noon}); err != ErrOptedOut { //nolint:errorlint // it is returned as it is
		t.Errorf("error %v", err)
	}
	if ledger(t, p).Exists || text(t, p, p.Evidence()) != "" {
		t.Error("something was written")
	}
}

func TestParseWhatPeopleWrite(t *testing.T) {
	l := parse([]byte("# Mistakes\n\n## Notes of ours\ntext\n\n## 2026-11-03 - By hand\n\nA paragraph.\n\n- **What happened:** more\n  than a line\n" +
		"- **Signature:** `a-b` · initiative `x y` · actor `me` · proof `none` · status `wontfix`\n\n" +
		"## 2026-11-02 — No trailer\n\n- **What happened:** x\n\n## 2026-13-01 — No day\n- **Signature:** `a` · initiative `x` · actor `y` · proof `z` · status `open`\n" +
		"## 2026-11-01 — Odd status\n- **Signature:** `a` · initiative `x` · actor `y` · proof `z` · status `knowledge:7`\n## 2026/11/01 x\n" +
		"<!--\n## 2026-11-01 — Hidden\n- **Signature:** `a` · initiative `x` · actor `y` · proof `z` · status `open`\n-->\n~~~\n## 2026-11-01 — In code\n```\n"))
	if len(l.Entries) != 1 || l.Entries[0].Signature != "a-b" || l.Entries[0].Status != WontFix || l.Entries[0].Title != "By hand" {
		t.Errorf("%+v", l.Entries)
	}
	var lines []int
	for _, p := range l.Problems {
		lines = append(lines, p.Line)
	}
	if fmt.Sprint(lines) != "[14 18 20 22]" || l.Unclosed != 27 {
		t.Errorf("problems %v, unclosed %d", l.Problems, l.Unclosed)
	}
}

func TestAddBehindAnUnclosedBlockIsRefused(t *testing.T) {
	p := repository(t, map[string]string{place.Mistakes: "# Mistakes\n```\nnever closed\n"})
	_, err := Add(t.Context(), p, New{Entry: mistake("broken"), At: noon})
	if err == nil || !strings.Contains(err.Error(), "line 2 opens a block of code") {
		t.Errorf("error %v", err)
	}
}

func TestNewestFirst(t *testing.T) {
	p := repository(t, map[string]string{place.Mistakes: "# Mine\r\n"})
	for _, n := range []int{1, 3, 2, 3} {
		inRun(t, p, "broken", n)
	}
	var dates []string
	l := ledger(t, p)
	for _, e := range l.Entries {
		dates = append(dates, e.Date[8:])
	}
	if got := strings.Join(dates, " "); got != "06 06 05 04" {
		t.Errorf("%s", got)
	}
	if s := string(l.data); strings.Count(s, "\n") != strings.Count(s, "\r\n") || !strings.HasPrefix(s, "# Mine\r\n\r\n## ") {
		t.Errorf("%q", s)
	}
}

func TestTwentyAddsAtOnce(t *testing.T) {
	p := repository(t, nil)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() { inRun(t, p, "broken", n) })
	}
	all.Wait()
	if l := ledger(t, p); len(l.Entries) != 20 {
		t.Errorf("%d entries", len(l.Entries))
	}
	if r := repeat(t, p, "broken"); r.Open != 20 {
		t.Errorf("%+v", r)
	}
}

func TestAlike(t *testing.T) {
	p := repository(t, nil)
	for _, s := range []string{"worktree-missing-deps", "flaky-network-test", "oom"} {
		inRun(t, p, s, 1)
	}
	for s, want := range map[string]string{
		"worktree-deps-missing": "worktree-missing-deps", "missing-dep-worktree": "worktree-missing-deps", "flaky-network-tests": "flaky-network-test",
		"something-else": "", "worktree-missing-deps": "", "missing-semicolon": "",
	} {
		if got := strings.Join(ledger(t, p).alike(s), " "); got != want {
			t.Errorf("%s: %q, want %q", s, got, want)
		}
	}
}

// TestRoundTripChangesOnlyTheToken: in files of random text, line ends and blocks of
// code, a change of status changes the tokens of the chosen entries and not another
// byte; adding an entry only inserts.
func TestRoundTripChangesOnlyTheToken(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	moved := 0
	for range 500 {
		data := randomLedger(rng)
		l := parse(data)
		pick := func(e Entry) bool { return e.Signature == "a-b" }
		next := l.setStatus(pick, "knowledge:K-123")
		undone := string(next)
		for _, e := range parse(next).Entries {
			if pick(e) && e.Status != "knowledge:K-123" {
				t.Fatalf("%q", next)
			}
		}
		for _, e := range l.Entries {
			if pick(e) {
				undone = strings.Replace(undone, "status `knowledge:K-123`", "status `"+string(e.Status)+"`", 1)
				moved++
			}
		}
		if undone != string(data) {
			t.Fatalf("more than the token changed:\n%q\n%q", data, next)
		}
		e := mistake("new-one")
		e.Date, e.Status = "2026-11-03", Open
		with := l.with(e)
		at := strings.Index(string(with), "## 2026-11-03 — It broke")
		end := strings.Index(string(with), "status `open`"+l.eol())
		if at < 0 || end < 0 || !strings.HasPrefix(string(data), strings.TrimRight(string(with[:at]), "\r\n")) || !utf8.Valid(with) {
			t.Fatalf("%q", with)
		}
	}
	if moved < 100 {
		t.Errorf("only %d entries were moved", moved)
	}
}

func randomLedger(rng *rand.Rand) []byte {
	eol := []string{"\n", "\r\n"}[rng.IntN(2)]
	pieces := []string{
		"# Title", "text ä — `code`", "", "## Not an entry", "```", "~~~~", "<!-- note -->", "    indented", "- item",
		"## 2026-10-01 — One" + eol + "- **What happened:** x" + eol + "- **Signature:** `a-b` · initiative `i` · actor `r` · proof `F-1` · status `open`",
		"## 2026-10-02 — Two" + eol + "- **Signature:** `a-b` · initiative `i` · actor `r` · proof `F-2` · status `wontfix` ",
		"## 2026-10-03 — Three" + eol + "- **Signature:** `c` · initiative `i` · actor `r` · proof `F-3` · status `law`",
	}
	var lines []string
	for range rng.IntN(12) {
		lines = append(lines, pieces[rng.IntN(len(pieces))])
	}
	s := strings.Join(lines, eol)
	if rng.IntN(2) == 0 {
		s += eol
	}
	return []byte(s)
}

func FuzzLedger(f *testing.F) {
	f.Add([]byte(header))
	f.Add([]byte("## 2026-10-01 — One\r\n- **Signature:** `a` · initiative `i` · actor `r` · proof `F-1` · status `open`\r\n```\n"))
	f.Add([]byte("- a\n    ## 2026-10-01 — x\n\t<!--\n-->\n~~~~ x\n~~~\n~~~~~\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l := parse(data)
		if got := l.setStatus(func(Entry) bool { return false }, Law); string(got) != string(data) {
			t.Fatalf("%q became %q", data, got)
		}
		next := parse(l.setStatus(func(Entry) bool { return true }, Law))
		if len(next.Entries) != len(l.Entries) || len(next.Problems) != len(l.Problems) {
			t.Fatalf("%d entries became %d", len(l.Entries), len(next.Entries))
		}
		for _, e := range next.Entries {
			if e.Status != Law {
				t.Errorf("%+v", e)
			}
		}
		if _, err := readFence("x", data); err == nil {
			_, _ = checkedRule("x", data, fence{}, "- rule")
		}
	})
}
