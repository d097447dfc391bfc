package mistakes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/internal/durable"
	"si/learn/evidence"
	"si/learn/place"
)

const expected = "- Link it. (`broken`, 5 occurrences — MISTAKES.md entries 2026-11-03, 2026-11-04, 2026-11-05, 2026-11-07, 2026-11-08)"

func TestLawIsWrittenOnce(t *testing.T) {
	p := earned(t, map[string]string{"CLAUDE.md": "# Ours\r\nkeep\r\n"})
	got, err := law(t, p, "Link\nit.")
	if err != nil || !got.Written || got.Moved != 5 || got.Line != expected {
		t.Fatalf("%+v, %v", got, err)
	}
	want := "# Ours\r\nkeep\r\n\r\n" + fenceHeading + "\r\n\r\n" + fenceStart + "\r\n" + expected + "\r\n" + fenceEnd + "\r\n"
	if s := text(t, p, "CLAUDE.md"); s != want {
		t.Errorf("%q", s)
	}
	got, err = law(t, p, "Link it otherwise.")
	if err != nil || got.Written || got.Moved != 0 || text(t, p, "CLAUDE.md") != want {
		t.Errorf("the second time: %+v, %v", got, err)
	}
	for _, e := range ledger(t, p).Entries {
		if e.Status != Law {
			t.Errorf("%+v", e)
		}
	}
}

func TestLawNeedsItsEvidence(t *testing.T) {
	four := repository(t, map[string]string{".si/knowledge/a.yaml": stored})
	for n := range 4 {
		inRun(t, four, "broken", n)
	}
	oneDay := repository(t, map[string]string{".si/knowledge/a.yaml": stored})
	for range 5 {
		inRun(t, oneDay, "broken", 1)
	}
	undelivered := repository(t, map[string]string{".si/knowledge/a.yaml": stored})
	before := repository(t, map[string]string{".si/knowledge/a.yaml": stored})
	for _, p := range []place.Place{undelivered, before} {
		for n := range 5 {
			inRun(t, p, "broken", n)
		}
		if _, err := SetStatus(t.Context(), p, "broken", "knowledge:K-1"); err != nil {
			t.Fatal(err)
		}
	}
	delivered(t, before, 6)
	for name, c := range map[string]struct {
		p    place.Place
		want string
	}{
		"four runs":                           {four, "4 distinct runs or commits (4 entries), and 5 are needed"},
		"five adds of one day in one run":     {oneDay, "1 distinct runs or commits (5 entries)"},
		"an entry that was never delivered":   {undelivered, "has not happened since its knowledge entry K-1"},
		"nothing since the entry's delivery":  {before, "has not happened since its knowledge entry K-1"},
		"a signature that nobody has written": {repository(t, map[string]string{place.Mistakes: "# x\n"}), "no entry of MISTAKES.md"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := law(t, c.p, "Link it.")
			if !errors.Is(err, ErrNotEarned) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if text(t, c.p, "CLAUDE.md") != "" {
				t.Error("a rules file was written")
			}
		})
	}
}

func TestLawDryRunWritesNothing(t *testing.T) {
	p := earned(t, nil)
	before, err := p.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	got, err := MakeLaw(t.Context(), p, LawRequest{Signature: "broken", Rule: "Link it.", DryRun: true, At: noon, Allow: func(string) error { return nil }})
	if err != nil || got.Line != expected || got.Written {
		t.Errorf("%+v, %v", got, err)
	}
	after, err := p.Snapshot()
	if err != nil || len(place.Changes(before, after)) != 0 {
		t.Errorf("%v, %v", place.Changes(before, after), err)
	}
}

func TestADeletedRuleStaysDeleted(t *testing.T) {
	p := earned(t, nil)
	if _, err := law(t, p, "Link it."); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(p.Top(), "CLAUDE.md"), fenceStart+"\n"+fenceEnd+"\n")
	for n := 10; n < 17; n++ {
		inRun(t, p, "broken", n)
	}
	for range 2 {
		if _, err := law(t, p, "Link it."); !errors.Is(err, ErrOperatorRejected) || strings.Contains(text(t, p, "CLAUDE.md"), "broken") {
			t.Errorf("error %v", err)
		}
	}
	put(t, filepath.Join(p.Top(), place.Mistakes), "# Mistakes\n") // also when the entries are gone
	if _, err := law(t, p, "Link it."); !errors.Is(err, ErrOperatorRejected) {
		t.Errorf("error %v", err)
	}
}

// TestRecurrenceAfterLaw: the entries stay open, so that it is seen that the rule
// does not work.
func TestRecurrenceAfterLaw(t *testing.T) {
	p := earned(t, nil)
	if _, err := law(t, p, "Link it."); err != nil {
		t.Fatal(err)
	}
	if a := inRun(t, p, "broken", 12); !a.AfterLaw || a.SeenBefore != 5 {
		t.Errorf("%+v", a)
	}
	if r := repeat(t, p, "broken"); r.Recommended != ToMechanism || r.AfterLaw != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := law(t, p, "Link it."); err != nil || repeat(t, p, "broken").AfterLaw != 1 {
		t.Errorf("promoting again hides it: %v", err)
	}
}

func TestFenceForms(t *testing.T) {
	for name, c := range map[string]struct{ before, after, fault string }{
		"last inside": {
			"a\n" + fenceStart + "\n- ours\n" + fenceEnd + "\nb",
			"a\n" + fenceStart + "\n- ours\nNEW\n" + fenceEnd + "\nb", "",
		},
		"indented in a list": {
			"- rules\n  - all\n    " + fenceStart + "\n    - ours\n    " + fenceEnd + "\n",
			"- rules\n  - all\n    " + fenceStart + "\n    - ours\n    NEW\n    " + fenceEnd + "\n", "",
		},
		"CRLF, no last newline": {
			fenceStart + "\r\n" + fenceEnd, fenceStart + "\r\nNEW\r\n" + fenceEnd, "",
		},
		"absent, no last newline":         {"text", "text\n\n" + fenceHeading + "\n\n" + fenceStart + "\nNEW\n" + fenceEnd + "\n", ""},
		"shown in a block of code":        {"```\n" + fenceStart + "\n```\n", "```\n" + fenceStart + "\n```\n\n" + fenceHeading + "\n\n" + fenceStart + "\nNEW\n" + fenceEnd + "\n", ""},
		"shown in indented code":          {"text\n\n    " + fenceStart + "\n    " + fenceEnd + "\n", "text\n\n    " + fenceStart + "\n    " + fenceEnd + "\n\n" + fenceHeading + "\n\n" + fenceStart + "\nNEW\n" + fenceEnd + "\n", ""},
		"within a sentence is no marker":  {"the " + fenceEnd + " marker\n", "the " + fenceEnd + " marker\n\n" + fenceHeading + "\n\n" + fenceStart + "\nNEW\n" + fenceEnd + "\n", ""},
		"a block of code inside":          {fenceStart + "\n~~~~\n" + fenceEnd + "\n~~~\n~~~~\n" + fenceEnd + "\n", fenceStart + "\n~~~~\n" + fenceEnd + "\n~~~\n~~~~\nNEW\n" + fenceEnd + "\n", ""},
		"two starts":                      {fenceStart + "\n" + fenceStart + "\n" + fenceEnd + "\n", "", "R.md:2: the rules fence is malformed: it starts here and in line 1"},
		"two ends":                        {fenceStart + "\n" + fenceEnd + "\n" + fenceEnd + "\n", "", "R.md:3: the rules fence is malformed: it ends here and in line 2"},
		"no end":                          {"x\n" + fenceStart + "\n", "", "R.md:2: the rules fence is malformed: it starts and never ends"},
		"no start":                        {fenceEnd + "\n", "", "R.md:1: the rules fence is malformed: it ends before it starts"},
		"the end first":                   {fenceEnd + "\n" + fenceStart + "\n", "", "it ends before it starts"},
		"two fences":                      {strings.Repeat(fenceStart+"\n"+fenceEnd+"\n", 2), "", "it starts here and in line 1"},
		"the end in a block never closed": {fenceStart + "\n```\n" + fenceEnd + "\n", "", "it starts and never ends"},
		"nowhere to write":                {"```\nnever closed\n", "", "never closed hides the fence"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := readFence("R.md", []byte(c.before))
			var got []byte
			if err == nil {
				got, err = checkedRule("R.md", []byte(c.before), f, "- NEW")
			}
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("error %v, want one with %q", err, c.fault)
				}
				return
			}
			if want := strings.Replace(c.after, "NEW", "- NEW", 1); err != nil || string(got) != want {
				t.Errorf("%v\n%q\n%q", err, got, want)
			}
		})
	}
}

// TestFenceProperty: whatever stands around a fence, a new line only inserts itself,
// and is found again; a malformed one is refused.
func TestFenceProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"text", "", "```", "~~~", "- item", "  - deeper", "    four", "\ttab", "# heading", "ä — ö", fenceStart, fenceEnd, "  " + fenceStart, "  " + fenceEnd, "- rule (`x-y`, 5 occurrences — MISTAKES.md entries 2026-01-01)"}
	written := 0
	for range 5000 {
		eol := []string{"\n", "\r\n"}[rng.IntN(2)]
		var lines []string
		for range rng.IntN(9) {
			lines = append(lines, pieces[rng.IntN(len(pieces))])
		}
		before := strings.Join(lines, eol) + []string{"", eol}[rng.IntN(2)]
		f, err := readFence("R.md", []byte(before))
		if err != nil {
			continue
		}
		next, err := checkedRule("R.md", []byte(before), f, "- new (`n-n`, 5 occurrences — MISTAKES.md entries 2026-01-01)")
		if err != nil {
			continue
		}
		written++
		after := string(next)
		at := strings.Index(after, "- new (")
		if f.found {
			head, tail := after[:at-len(f.lead)], after[at:]
			tail = tail[strings.Index(tail, eol)+len(eol):]
			if head+tail != before {
				t.Fatalf("%q became %q", before, after)
			}
		} else if !strings.HasPrefix(after, before) {
			t.Fatalf("%q became %q", before, after)
		}
		again, err := readFence("R.md", next)
		if err != nil || again.rules[len(again.rules)-1].Signature != "n-n" {
			t.Fatalf("%q: %+v, %v", after, again.rules, err)
		}
	}
	if written < 1000 {
		t.Errorf("only %d files were written", written)
	}
}

// TestARuleCannotEscape: an end marker, another signature and line ends in a rule
// are its text.
func TestARuleCannotEscape(t *testing.T) {
	p := earned(t, map[string]string{"AGENTS.md": "x\n"})
	got, err := law(t, p, "Do it\n"+fenceEnd+"\n(`other`, 5 occurrences — MISTAKES.md entries 2026-01-01)")
	if err != nil || got.File != "AGENTS.md" {
		t.Fatalf("%+v, %v", got, err)
	}
	rules, err := Rules(p)
	if err != nil || len(rules) != 1 || rules[0].Signature != "broken" {
		t.Errorf("%+v, %v", rules, err)
	}
	// A rule that quotes a signature does not stand for it.
	q := earned(t, map[string]string{"CLAUDE.md": fenceStart + "\n- as in `broken` (`other`, 5 occurrences — MISTAKES.md entries 2026-01-01)\n" + fenceEnd + "\n"})
	if got, err := law(t, q, "Link it."); err != nil || !got.Written {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRulesFileThroughLinks(t *testing.T) {
	p := earned(t, map[string]string{"docs/rules.md": "x\n"})
	link := filepath.Join(p.Top(), "CLAUDE.md")
	if err := os.Symlink("docs/rules.md", link); err != nil {
		t.Fatal(err)
	}
	if _, err := law(t, p, "Link it."); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(text(t, p, "docs/rules.md"), expected) {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for name, target := range map[string]string{"does not exist": "nowhere.md", "leads out of the repository": filepath.Join(t.TempDir())} {
		q := earned(t, nil)
		if err := os.Symlink(target, filepath.Join(q.Top(), "CLAUDE.md")); err != nil {
			t.Fatal(err)
		}
		if _, err := law(t, q, "Link it."); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}

// TestLawKilledAtEachWrite: the next try reaches the same end.
func TestLawKilledAtEachWrite(t *testing.T) {
	want := earned(t, nil)
	if _, err := law(t, want, "Link it."); err != nil {
		t.Fatal(err)
	}
	end, _ := want.Snapshot()
	for at := range 6 {
		p := earned(t, nil)
		n := 0
		stop := func(durable.Op, string) {
			if n++; n == at+1 {
				panic("killed")
			}
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("there is no write %d", at)
				}
			}()
			_, _ = law(t, opened(t, p.Top(), durable.Hooks{Before: stop, After: stop}), "Link it.")
		}()
		if _, err := law(t, p, "Link it."); err != nil {
			t.Errorf("killed at %d: %v", at, err)
		}
		got, _ := p.Snapshot()
		if c := place.Changes(end, got); len(c) != 0 {
			t.Errorf("killed at %d: %q", at, c)
		}
	}
}

func TestKernelRefusesLaw(t *testing.T) {
	p := earned(t, nil)
	_, err := MakeLaw(t.Context(), p, LawRequest{Signature: "broken", Rule: "x", At: noon, Allow: func(path string) error { return errors.New(path + " is KERNEL") }})
	if err == nil || !strings.Contains(err.Error(), "CLAUDE.md is KERNEL") {
		t.Errorf("error %v", err)
	}
}

func TestSetStatus(t *testing.T) {
	p := repository(t, map[string]string{".si/knowledge/a.yaml": stored})
	inRun(t, p, "broken", 1)
	inRun(t, p, "other", 1)
	for status, want := range map[Status]string{"knowledge:K-9": "not in the knowledge store", "law": "--law", "open": "is not knowledge", "x": "is not knowledge"} {
		if _, err := SetStatus(t.Context(), p, "broken", status); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", status, err)
		}
	}
	if n, err := SetStatus(t.Context(), p, "broken", "knowledge:K-1"); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := SetStatus(t.Context(), p, "broken", WontFix); err == nil {
		t.Error("an entry that is not open was moved")
	}
}

func TestRepeats(t *testing.T) {
	p := repository(t, map[string]string{".si/knowledge/a.yaml": stored})
	for n := range 3 {
		inRun(t, p, "broken", n/2) // two runs
	}
	if r := repeat(t, p, "broken"); r.Open != 2 || r.Rows != 3 || r.Recommended != "" {
		t.Errorf("%+v", r)
	}
	inRun(t, p, "broken", 2)
	if r := repeat(t, p, "broken"); r.Open != 3 || r.Recommended != ToKnowledge {
		t.Errorf("%+v", r)
	}
	if r := repeat(t, earned(t, nil), "broken"); r.Recommended != ToLaw || !r.Delivered || r.Open != 2 || r.Occurrences != 5 {
		t.Errorf("%+v", r)
	}
	// People's own entries: a commit or a day of a track counts once.
	q := repository(t, map[string]string{place.Mistakes: "## 2026-11-03 — a\n- **Signature:** `x` · initiative `i` · actor `r` · proof `abcdef0` · status `open`\n" +
		"## 2026-11-03 — b\n- **Signature:** `x` · initiative `i` · actor `r` · proof `abcdef0` · status `open`\n" +
		"## 2026-11-03 — c\n- **Signature:** `x` · initiative `i` · actor `r` · proof `none` · status `open`\n" +
		"## 2026-11-03 — d\n- **Signature:** `x` · initiative `i` · actor `r` · proof `F-2` · status `open`\n"})
	if r := repeat(t, q, "x"); r.Open != 2 || r.Rows != 4 {
		t.Errorf("%+v", r)
	}
	// A commit is one, however short its id is written.
	add := func(signature, proof string, n New) {
		n.Entry, n.At, n.Create = mistake(signature), noon, true
		n.Proof = proof
		if _, err := Add(t.Context(), q, n); err != nil {
			t.Fatal(err)
		}
	}
	add("x", "none", New{Commit: "abcdef0123456789"})
	add("x", "abcdef012", New{})
	if r := repeat(t, q, "x"); r.Open != 2 || r.Rows != 6 {
		t.Errorf("one commit under three names: %+v", r)
	}
	// Rows of one day without a proof have the runs that they were added with, and those
	// of their own signature only.
	for n := range 3 {
		add("y", "none", New{Run: fmt.Sprintf("run%d", n)})
	}
	add("y", "none", New{Run: "run2"})
	add("z", "none", New{})
	if r := repeat(t, q, "y"); r.Open != 3 || r.Rows != 4 {
		t.Errorf("three runs without a proof: %+v", r)
	}
	add("w", "F-7", New{Run: "run7"})
	put(t, filepath.Join(q.Top(), place.Mistakes), strings.Replace(text(t, q, place.Mistakes), "`w`", "`corrected`", 1))
	facts := ledger(t, q).Facts(evidenceOf(t, q))
	if facts[0].Run != "run7" {
		t.Error("a mistake whose signature a person corrected has no run any more")
	}
	if facts[1].Run != "" {
		t.Error("a mistake has the run of another")
	}
	// Lines of an older version have no signature.
	put(t, filepath.Join(q.Top(), q.Evidence()), strings.ReplaceAll(text(t, q, q.Evidence()), `"signature":"y",`, ""))
	if r := repeat(t, q, "y"); r.Occurrences != 1 || r.Rows != 4 {
		t.Errorf("facts without a signature: %+v", r)
	}
}

func evidenceOf(tb testing.TB, p place.Place) *evidence.Log {
	tb.Helper()
	log, err := evidence.Load(p)
	if err != nil {
		tb.Fatal(err)
	}
	return log
}

func TestWithoutRule(t *testing.T) {
	const text = "# x\r\n" + fenceStart + "\r\n- one (`a-b`, 5 occurrences — MISTAKES.md entries 2026-01-01)\r\n- two\r\n" + fenceEnd + "\r\nend"
	got, err := WithoutRule("CLAUDE.md", []byte(text), 3)
	if want := "# x\r\n" + fenceStart + "\r\n- two\r\n" + fenceEnd + "\r\nend"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, n := range []int{0, 1, 2, 5, 9} {
		if _, err := WithoutRule("CLAUDE.md", []byte(text), n); err == nil {
			t.Errorf("line %d was taken for a rule", n)
		}
	}
}

// TestRowsOfOneRunCountOnce: five findings of one run, each with a proof of its own,
// are one occurrence, whatever became of the first of them.
func TestRowsOfOneRunCountOnce(t *testing.T) {
	p := repository(t, map[string]string{".si/knowledge/a.yaml": stored})
	add := func(proof int) {
		e := mistake("broken")
		e.Proof = fmt.Sprintf("F-%d", proof)
		if _, err := Add(t.Context(), p, New{Entry: e, Run: "one", At: noon.AddDate(0, 0, proof), Create: true}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		add(n)
	}
	if r := repeat(t, p, "broken"); r.Open != 1 || r.Occurrences != 1 || len(r.Dates) != 1 || r.Recommended != "" {
		t.Errorf("three rows: %+v", r)
	}
	if _, err := SetStatus(t.Context(), p, "broken", "knowledge:K-1"); err != nil {
		t.Fatal(err)
	}
	delivered(t, p, 3)
	add(4)
	add(5)
	if r := repeat(t, p, "broken"); r.Occurrences != 1 || r.Recommended != "" {
		t.Errorf("five rows, after the delivery: %+v", r)
	}
	if _, err := law(t, p, "Link it."); !errors.Is(err, ErrNotEarned) || !strings.Contains(err.Error(), "1 distinct runs or commits (5 entries)") {
		t.Errorf("%v", err)
	}
}
