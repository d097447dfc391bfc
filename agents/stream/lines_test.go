package stream

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// all reads every line; a long one is marked.
func all(t *testing.T, l *LineReader) []string {
	t.Helper()
	var out []string
	for {
		line, long, err := l.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text := string(line)
		if long {
			text += "…"
		}
		out = append(out, text)
	}
}

func TestLines(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"none", "", ""},
		{"plain", "a\nb\n", "a|b"},
		{"no last newline", "a\nb", "a|b"},
		{"empty lines", "\n\na\n", "||a"},
		{"carriage returns", "a\r\nb\r\n", "a|b"},
		{"as long as may be", "12345678\nx\n", "12345678|x"},
		{"too long", "123456789\nx\n", "12345678…|x"},
		{"too long at the end", "x\n123456789", "x|12345678…"},
		{"two in a row", "1234567890\nabcdefghijk\nx", "12345678…|abcdefgh…|x"},
		{"longer than the buffer", strings.Repeat("y", 100<<10) + "\nx\n", "yyyyyyyy…|x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{"whole": strings.NewReader(tc.in), "by bytes": iotest.OneByteReader(strings.NewReader(tc.in))} {
				if got := strings.Join(all(t, Lines(r, 8)), "|"); got != tc.want {
					t.Errorf("%s: %q, want %q", name, got, tc.want)
				}
			}
		})
	}
}

func TestALineBeforeAnErrorIsNotLost(t *testing.T) {
	broken := errors.New("broken")
	l := Lines(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(broken)), 8)
	for _, want := range []string{"a", "half"} {
		if line, _, err := l.Next(); err != nil || string(line) != want {
			t.Errorf("%q, %v; want %q", line, err, want)
		}
	}
	if _, _, err := l.Next(); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestAGiantLineCostsItsLimitOnly(t *testing.T) {
	l := Lines(io.MultiReader(io.LimitReader(zeros{}, 200<<20), strings.NewReader("\nlast\n")), 1<<20)
	line, long, err := l.Next()
	if err != nil || !long || len(line) != 1<<20 || cap(l.line) > 4<<20 {
		t.Errorf("%d bytes of %d, long %v, %v", len(line), cap(l.line), long, err)
	}
	if line, long, err = l.Next(); err != nil || long || string(line) != "last" || l.Dropped() != 1 || cap(l.line) > keepLine {
		t.Errorf("%q, long %v, %v; dropped %d, kept %d", line, long, err, l.Dropped(), cap(l.line))
	}
}

// zeros never ends, and has no newline.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte{'0'}, len(p))), nil }
