package look

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestFit(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		w        int
		want     string
	}{
		{"filled", "ab", 4, "ab  "},
		{"exact", "abcd", 4, "abcd"},
		{"cut", "abcdef", 4, "abc…"},
		{"wide", "日本語", 6, "日本語"},
		{"wide and cut", "日本語", 4, "日… "},
		{"tab", "a\tb", 8, "a    b  "},
		{"no room", "abc", 0, ""},
		{"a flag", "a🇩🇪b", 4, "a🇩🇪b"},
		{"a joined family", "👨‍👩‍👧!", 4, "?!  "},
		{"a variation selector", "⚠️!", 4, "?!  "},
		{"combining", "e\u0301!", 3, "e\u0301! "},
	} {
		if got := New(true, false).Fit(tc.in, tc.w); got != tc.want {
			t.Errorf("%s: Fit(%q, %d) = %q, want %q", tc.name, tc.in, tc.w, got, tc.want)
		}
	}
	if got := New(true, true).Fit("a → b … «ü» 日", 20); got != `a -> b ... "?" ?    ` {
		t.Errorf("ASCII: %q", got)
	}
}

func TestRow(t *testing.T) {
	l := New(true, true)
	span := func(texts ...string) (out []Span) {
		for _, s := range texts {
			out = append(out, Span{Text: s})
		}
		return out
	}
	for _, tc := range []struct {
		name        string
		w           int
		left, right []string
		want        string
	}{
		{"both", 12, []string{"goal"}, []string{"12s"}, "goal     12s"},
		{"the first of the right ones goes, with its separator", 16, []string{"a long goal"}, []string{"12s", " - ", "round 2"}, "a long ~ round 2"},
		{"no right one fits", 6, []string{"goal"}, []string{"much too long"}, "goal  "},
		{"left is cut", 8, []string{"abcdefghijkl"}, []string{"xyz"}, "abc~ xyz"},
	} {
		got := l.Row(tc.w, span(tc.left...), span(tc.right...))
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := l.RowLeft(16, span("a long goal"), span("12s", " - ", "round 2")); got != "a long goal     " {
		t.Errorf("the left one matters more: %q", got)
	}
}

// FuzzRow: whatever the text, a row has its width, and holds no control character
// of the text.
func FuzzRow(f *testing.F) {
	for _, s := range []string{"", "日本語 text", "🇩🇪🏳️‍🌈", "e\u0301\u0301\u0301", "a\tb", "\u1100\u1161\u11a8", "\ufe0f\ufe0f"} {
		f.Add(s, 10, false)
		f.Add(s, 3, true)
	}
	f.Fuzz(func(t *testing.T, s string, w int, ascii bool) {
		if w < 1 || w > 300 || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
			t.Skip()
		}
		l := New(true, ascii)
		for name, got := range map[string]string{
			"Fit": l.Fit(s, w), "Row": l.Row(w, []Span{{l.Good, s}}, []Span{{l.Bad, s}}),
			"Frame": l.Frame(w, 2, true, []Span{{l.Good, s}}, []Span{{l.Bad, s}}, nil)[0],
		} {
			if Width(got) != w || ansi.StringWidthWc(got) != w {
				t.Errorf("%s(%q, %d) = %q: %d or %d wide", name, s, w, ansi.Strip(got), Width(got), ansi.StringWidthWc(got))
			}
		}
	})
}

// TestNothingByColourAlone: the marks differ without any colour, in both sets.
func TestNothingByColourAlone(t *testing.T) {
	for _, m := range []Marks{fine(), coarse()} {
		seen := map[string]bool{}
		for _, mark := range []string{m.Working, m.Done, m.Failed, m.Waiting, m.Up, m.Down, m.Even} {
			if seen[mark] {
				t.Errorf("%q means two things", mark)
			}
			seen[mark] = true
		}
	}
}
