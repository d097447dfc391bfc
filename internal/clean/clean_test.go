package clean

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain text stays", "größe 12 µs\t日本\n", "größe 12 µs\t日本\n"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"csi with intermediates", "a\x1b[?25l\x1b[2 qb", "ab"},
		{"csi as one C1 character", "a\u009b31mb", "ab"},
		{"title by BEL", "a\x1b]0;evil\x07b", "ab"},
		{"title by ST", "a\x1b]0;evil\x1b\\b", "ab"},
		{"hyperlink keeps its text", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"C1 string with C1 terminator", "a\u009dx\u009cb", "ab"},
		{"dcs, apc, pm, sos", "a\x1bPq\x1b\\b\x1b_x\x1b\\c\x1b^x\x1b\\d\x1bXx\x1b\\e", "abcde"},
		{"an unfinished string ends with its line", "a\x1b]0;title\nnext", "a\nnext"},
		{"an escape cancels a string", "a\x1b]0;x\x1b[1mb", "ab"},
		{"an unfinished csi loses no text", "a\x1b[12\nb\x1b[3é", "a\nbé"},
		{"charset and reset", "a\x1b(Bb\x1bcc", "abc"},
		{"escape at the end", "a\x1b", "a"},
		{"escape before a wide character", "\x1bé", "é"},
		{"overwriting a line", "safe\rrm -rf\r\nx", "safe\nrm -rf\nx"},
		{"backspace, bell, nul, del", "a\b\a\x00\x7fb", "ab"},
		{"invalid utf-8", "a\xff\xc3b", "a\ufffd\ufffdb"},
		{"a raw C1 byte is invalid", "a\x9b31m", "a\ufffd31m"},
		{"bidi override", "a\u202eb", "a<U+202E>b"},
		{"zero width", "a\u200bb\u200d", "a<U+200B>b<U+200D>"},
		{"tag characters", "a\U000e0041b", "a<U+E0041>b"},
		{"line separator", "a\u2028b", "a<U+2028>b"},
		{"byte order mark", "\ufeffa\ufeff", "a<U+FEFF>"},
		{"empty", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Text([]byte(tc.in)); got != tc.want {
				t.Errorf("Text(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"short", " a\n\tb  c ", 10, "a b c"},
		{"exact", "abcde", 5, "abcde"},
		{"cut by runes", "日本語テスト", 4, "日本語…"},
		{"no blank before the ellipsis", "ab cdef", 4, "ab…"},
		{"escapes do not count", "\x1b[31mabc\x1b[0m", 3, "abc"},
		{"one", "abc", 1, "…"},
		{"a wrong byte is shown", "a\xff", 3, "a\ufffd"},
		{"very long", strings.Repeat("\x1b[31m", 2000) + "text", 5, "…"},
		{"very long and wide", strings.Repeat("日本 ", 5000), 4, "日本…"},
		{"none", "abc", 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Line(tc.in, tc.limit); got != tc.want {
				t.Errorf("Line(%q, %d) = %q, want %q", tc.in, tc.limit, got, tc.want)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"\x1b]0;x", "\x1b[1;2", "\u009d\x1b", "\xff\x1b\x9b", "a\r\n\u202e", strings.Repeat("\x1b]", 50)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := Text(b)
		if !utf8.ValidString(got) {
			t.Fatalf("Text(%q) = %q: invalid UTF-8", b, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("Text(%q) = %q: holds %U", b, got, r)
			}
		}
		if again := Text([]byte(got)); again != got {
			t.Fatalf("Text(%q) = %q, and again %q", b, got, again)
		}
		if len(got) > 4*len(b) {
			t.Fatalf("Text of %d bytes has %d", len(b), len(got))
		}
		if line := Line(string(b), 20); utf8.RuneCountInString(line) > 20 || strings.ContainsAny(line, "\n\t") {
			t.Fatalf("Line(%q, 20) = %q", b, line)
		}
	})
}
