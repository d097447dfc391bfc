package secret

import (
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
		{"of several lines", "SSH_KEY=-----BEGIN\nMIIEowIBAAKC\nAQEAx0123456", "MIIEowIBAAKC and AQEAx0123456", "[key] and [key]"},
		{"as JSON has it", `A_SECRET=a"b\c/d<efgh`, `{"k":"a\"b\\c/d\u003cefgh"} a\"b\\c/d<efgh a\"b\\c\/d\u003cefgh`, `{"k":"[key]"} [key] [key]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Of([]string{tc.env}).Mask(tc.in); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
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
