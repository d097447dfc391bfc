package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsASecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, env, in, want string }{
		{"a key", "MY_API_KEY=sk-0123456789", "said sk-0123456789.", "said [key]."},
		{"a token", "login_token=tok-0123456789", "tok-0123456789", "[key]"},
		{"too short", "SHORT_KEY=abc", "abc", "abc"},
		{"no name of one", "PATH=/usr/bin:/bin", "/usr/bin:/bin", "/usr/bin:/bin"},
		{"the place of a file", "GOOGLE_APPLICATION_CREDENTIALS=" + file, file, file},
		{"a key that begins with a slash", "AWS_SECRET_ACCESS_KEY=/absent+0123/456789", "/absent+0123/456789", "[key]"},
		{"a number of tokens", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=123456789", "123456789", "123456789"},
		{"a password of digits", "DB_PASSWORD=123456789", "123456789", "[key]"},
		{"an address", "HTTPS_PROXY=http://me:hunter-22@proxy:8080", "via http://me:hunter-22@proxy:8080, hunter-22", "via http://[key]@proxy:8080, [key]"},
		{"a list of headers", "ANTHROPIC_CUSTOM_HEADERS=X-A: 0123456789\nAuthorization: Bearer abcdefghij", "0123456789 Bearer abcdefghij", "[key] Bearer [key]"},
		{"of several lines", "SSH_KEY=-----BEGIN A KEY-----\nMIIEowIBAAKC\nAQEAx0123456", "-----BEGIN A KEY----- MIIEowIBAAKC and AQEAx0123456", "-----BEGIN A KEY----- [key] and [key]"},
		{"words in a list of headers", "ANTHROPIC_CUSTOM_HEADERS=Accept: application/json\nX-Auth: opensesame", "application/json opensesame", "application/json [key]"},
		{"a keyboard is none", "XKB_KEYBOARD=us-international", "us-international", "us-international"},
		{"a password as short names have it", "SMTP_PASS=hunter-22-x", "hunter-22-x", "[key]"},
		{"as JSON has it", `A_SECRET=a"b\c/d<efgh`, `{"k":"a\"b\\c/d\u003cefgh"} a\"b\\c/d<efgh a\"b\\c\/d\u003cefgh`, `{"k":"[key]"} [key] [key]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Of([]string{tc.env}).Mask(tc.in); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestWhereASecretStands(t *testing.T) {
	s := Of([]string{"A_KEY=z123456789", "B_KEY=" + strings.Repeat("long0", 100), "C_PASSWORD=password", "D_PASSWORD=20260301"}).Hard()
	for _, tc := range []struct {
		name, in string
		held     int
		line     int
	}{
		{"none", "abc\nz12345678\n", 0, 0},
		{"on the second line", "a\nx=z123456789;\n", 1, 2},
		{"the first of two", "a\nb\nz123456789\n" + strings.Repeat("long0", 100), 2, 3},
		{"over two pieces", strings.Repeat("x", piece-5) + "\n" + strings.Repeat("long0", 100), 1, 2},
		{"at the end of a long line", strings.Repeat("0\n", piece) + strings.Repeat("x", 3*piece) + "z123456789", 1, piece + 1},
		{"words and dates that anybody writes", "password 20260301", 0, 0},
		{"among bytes", "\x00\xffz123456789\x00", 1, 1},
	} {
		held, line, err := s.In(bytes.NewReader([]byte(tc.in)))
		if len(held.all) != tc.held || line != tc.line || err != nil {
			t.Errorf("%s: %d held, line %d, %v", tc.name, len(held.all), line, err)
		}
	}
}

func TestTheLongerSecretIsHiddenFirst(t *testing.T) {
	s := Of([]string{"A_KEY=z123456789", "B_KEY=z123456789abc"})
	if got := s.Mask("z123456789abc z123456789"); got != "[key] [key]" {
		t.Errorf("%q", got)
	}
	if got := s.Stream().Next("z123456789abc z123456789 "); got != "[key] [key] " {
		t.Errorf("in a stream %q", got)
	}
}

func TestADocumentStaysOne(t *testing.T) {
	s := Set{}.With("0123456789")
	for in, want := range map[string]string{
		`{"a":"x0123456789"}`: `{"a":"x[key]"}`,
		`{"a":0123456789}`:    "",
		`{"a":10123456789}`:   "",
		`{"a":1}`:             `{"a":1}`,
	} {
		if got := s.JSON(json.RawMessage(in)); string(got) != want {
			t.Errorf("%s became %s", in, got)
		}
	}
}

func TestErrors(t *testing.T) {
	s := Set{}.With("0123456789")
	err := s.Error(&fs.PathError{Op: "open", Path: "0123456789", Err: fs.ErrNotExist})
	if strings.Contains(err.Error(), "0123") || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if same := s.Error(fs.ErrExist); !errors.Is(same, fs.ErrExist) || same.Error() != fs.ErrExist.Error() || s.Error(nil) != nil {
		t.Errorf("%v", same)
	}
}

// FuzzStream cuts a text into parts: what comes out is what comes out of the whole.
func FuzzStream(f *testing.F) {
	f.Add("abcabcabd x abcabcabd", uint8(3))
	f.Add("abcabcabcabcabd", uint8(1))
	f.Add("0123456789abc0123456789", uint8(7))
	s := Set{}.With("abcabcabd", "0123456789", "0123456789abc", "bcabcabcabd")
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		whole := s.Stream()
		want := whole.Next(text) + whole.Rest()
		parts, got := s.Stream(), ""
		for rest := text; rest != ""; {
			n := min(len(rest), int(step%32)+1)
			got += parts.Next(rest[:n])
			rest = rest[n:]
		}
		got += parts.Rest()
		if s.Holds(want) || s.Holds(got) {
			t.Errorf("of %q came %q, and %q in parts of %d", text, want, got, step%32+1)
		}
	})
}
