package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"si/internal/proc"
)

func TestMain(m *testing.M) {
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	goleak.VerifyTestMain(m)
}

// open makes the tools of a folder with some files, beside a secret that is not to
// be reached.
func open(t *testing.T) (b *Box, dir string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(base, "work")
	for name, text := range map[string]string{
		"a.go": "package a\n\nconst size = 3\n", "sub/b.txt": "one\ntwo\nthree\n", ".git/config": "[core]\n",
		"binary": "a\x00b", "latin1": "caf\xe9", "crlf": "one\r\ntwo\r\n", "empty": "", "twice": "x = 1\nx = 1\n", "../secret": "secret words\n",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	for link, to := range map[string]string{
		"out": "../secret", "outdir": "..", "abs": filepath.Join(base, "secret"), "inside": "a.go", "loop": "loop", "dangling": "nowhere",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err = Open(dir, true, Shell{
		Run: proc.New(proc.Options{Self: self, Mark: "tools-test"}), Env: []string{"PATH=/usr/bin:/bin", "GORACE=atexit_sleep_ms=0"}, Wall: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func TestCalls(t *testing.T) {
	for _, tc := range []struct {
		name, tool, args string
		want             string // part of the result; of a failed one after "! ", of a malformed one after "!! "
	}{
		{"read", "read", `{"path":"a.go"}`, "package a\n\nconst size = 3\n"},
		{"read by an absolute path", "read", `{"path":"DIR/sub/b.txt"}`, "one\ntwo\nthree\n"},
		{"read some lines", "read", `{"path":"sub/b.txt","from":2,"lines":1}`, "two\n\n[lines 2 to 2 of 3]"},
		{"read beyond the end", "read", `{"path":"sub/b.txt","from":9}`, "! read: there is no line 9: the file has 3"},
		{"read from a line below one", "read", `{"path":"sub/b.txt","from":-9}`, "one\n"},
		{"read an empty file", "read", `{"path":"empty"}`, "(the file is empty)"},
		{"read by a link inside", "read", `{"path":"inside"}`, "package a"},
		{"read by a link that leaves", "read", `{"path":"out"}`, "! read: out leads out of the working folder by a link"},
		{"read by an absolute link", "read", `{"path":"abs"}`, "! read: abs leads out of the working folder by a link"},
		{"read through a folder that leaves", "read", `{"path":"outdir/secret"}`, "! read: outdir/secret leads out of the working folder by a link"},
		{"read a loop", "read", `{"path":"loop"}`, "! read: loop"},
		{"read above", "read", `{"path":"../secret"}`, "! read: ../secret is outside of the working folder"},
		{"read an absolute path elsewhere", "read", `{"path":"/etc/passwd"}`, "! read: /etc/passwd is outside of the working folder"},
		{"read a folder", "read", `{"path":"sub"}`, "! read: sub is a folder; use list"},
		{"read a pipe", "read", `{"path":"pipe"}`, "! read: pipe is no regular file"},
		{"read a binary file", "read", `{"path":"binary"}`, "! read: binary is no text file"},
		{"read another encoding", "read", `{"path":"latin1"}`, "! read: latin1 is no text file"},
		{"read what is not there", "read", `{"path":"absent"}`, "! read: absent does not exist"},
		{"read nothing", "read", `{}`, "!! read: path is missing"},
		{"no arguments", "read", ``, "!! read: path is missing"},
		{"no JSON", "read", `{"path":`, "!! read: the arguments cannot be read"},
		{"a list", "read", `["a"]`, "!! read: the arguments cannot be read"},
		{"a wrong type", "read", `{"path":["a"]}`, "!! read: the arguments cannot be read"},
		{"an unknown argument", "read", `{"file":"a"}`, `!! read: the arguments cannot be read: json: unknown field "file"`},
		{"two objects", "read", `{"path":"a.go"}{}`, "!! read: the arguments are more than one JSON object"},
		{"a zero byte", "read", `{"path":"a\u0000"}`, "!! read: path is no path of a file"},
		{"no such tool", "delete", `{}`, "!! there is no tool \"delete\"; the tools are: read list search edit write shell"},

		{"list", "list", `{}`, "a.go\nabs\nbinary\ncrlf\ndangling\nempty\ninside\nlatin1\nloop\nout\noutdir\npipe\nsub/\ntwice\n"},
		{"list deeper", "list", `{"depth":2}`, "sub/\nsub/b.txt\n"},
		{"list by a link that leaves", "list", `{"path":"outdir"}`, "! list: outdir leads out"},
		{"list a file", "list", `{"path":"a.go"}`, "! list: a.go"},

		{"search", "search", `{"pattern":"size|tw"}`, "a.go:3:const size = 3\ncrlf:2:two\nsub/b.txt:2:two\n"},
		{"search some files", "search", `{"pattern":"t","glob":"*.txt"}`, "sub/b.txt:2:two\nsub/b.txt:3:three\n"},
		{"search one file", "search", `{"pattern":"t","path":"a.go"}`, "a.go:3:const size = 3\n"},
		{"search follows no links", "search", `{"pattern":"secret"}`, "(nothing was found)"},
		{"search leaves git out", "search", `{"pattern":"core"}`, "(nothing was found)"},
		{"search above", "search", `{"pattern":"secret","path":".."}`, "! search: .. is outside of the working folder"},
		{"search for a broken pattern", "search", `{"pattern":"("}`, "!! search: pattern: error parsing regexp"},
		{"search for nothing", "search", `{"pattern":""}`, "!! search: pattern: want 1 to"},
		{"search with a broken glob", "search", `{"pattern":"x","glob":"["}`, "!! search: glob:"},

		{"edit", "edit", `{"path":"a.go","old":"size = 3","new":"size = 9"}`, "a.go is edited at line 3"},
		{"edit what stands there twice", "edit", `{"path":"twice","old":"x = 1","new":"x = 2"}`, "! edit: twice: the old text stands there more than once"},
		{"edit what does not stand there", "edit", `{"path":"a.go","old":"sice","new":"size"}`, "! edit: a.go: the old text does not stand there: read the file"},
		{"edit with other blanks", "edit", `{"path":"a.go","old":"size  =  3","new":"x"}`, "! edit: a.go: the old text does not stand there with these blanks"},
		{"edit with other line ends", "edit", `{"path":"crlf","old":"one\ntwo","new":"x"}`, "! edit: crlf: the old text does not stand there: the lines of the file end in CR LF"},
		{"edit nothing", "edit", `{"path":"a.go","old":"a","new":"a"}`, "!! edit: old and new are the same"},
		{"edit an empty text", "edit", `{"path":"a.go","old":"","new":"a"}`, "!! edit: old is missing"},
		{"edit by a link", "edit", `{"path":"inside","old":"size = 3","new":"size = 9"}`, "! edit: inside is a link"},
		{"edit by a link that leaves", "edit", `{"path":"out","old":"secret","new":"x"}`, "! edit: out leads out"},
		{"edit a file of git", "edit", `{"path":".git/config","old":"core","new":"x"}`, "! edit: .git/config belongs to git"},

		{"write", "write", `{"path":"new/deep/file","content":"text\n"}`, "new/deep/file is written, 5 bytes"},
		{"write nothing into a file", "write", `{"path":"a.go","content":""}`, "a.go is written, 0 bytes"},
		{"write no content", "write", `{"path":"a.go"}`, "!! write: content is missing"},
		{"write above", "write", `{"path":"../new","content":"x"}`, "! write: ../new is outside of the working folder"},
		{"write by a link that leaves", "write", `{"path":"out","content":"x"}`, "! write: out is a link"},
		{"write by a dangling link", "write", `{"path":"dangling","content":"x"}`, "! write: dangling is a link"},
		{"write through a folder that leaves", "write", `{"path":"outdir/new","content":"x"}`, "! write: outdir"},
		{"write to a pipe", "write", `{"path":"pipe","content":"x"}`, "! write: pipe is no regular file"},
		{"write over a folder", "write", `{"path":"sub","content":"x"}`, "! write: sub is no regular file"},
		{"write into git", "write", `{"path":"sub/.GIT/hooks/x","content":"x"}`, "! write: sub/.GIT/hooks/x belongs to git"},

		{"shell", "shell", `{"command":"cat a.go; pwd; echo no >&2"}`, "package a\n\nconst size = 3\nDIR\nno\n"},
		{"shell in silence", "shell", `{"command":"true"}`, "(it printed nothing)"},
		{"shell fails", "shell", `{"command":"echo why; exit 3"}`, "! shell: exit code 3\nwhy\n"},
		{"shell takes too long", "shell", `{"command":"echo begun; exec sleep 100","seconds":1}`, "! shell: ended after 1s, its time\nbegun\n"},
		{"shell of nothing", "shell", `{"command":" "}`, "!! shell: command: want a line"},
		{"shell with escape codes", "shell", `{"command":"printf '\\033[31mred\\033[0m'"}`, "red"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, dir := open(t)
			r := b.Call(t.Context(), tc.tool, strings.ReplaceAll(tc.args, "DIR", dir))
			want, malformed := strings.CutPrefix(tc.want, "!! ")
			want, failed := strings.CutPrefix(want, "! ")
			failed = failed || malformed
			want = strings.ReplaceAll(want, "DIR", dir)
			if !strings.Contains(r.Text, want) || r.Failed != failed || r.Malformed != malformed {
				t.Errorf("result %+v; want %q", r, tc.want)
			}
			if secret, err := os.ReadFile(filepath.Join(dir, "..", "secret")); err != nil || string(secret) != "secret words\n" || strings.Contains(r.Text, "secret words") {
				t.Errorf("what lies outside was reached: %q, %v", secret, err)
			}
			if names, err := filepath.Glob(filepath.Join(dir, "..", "*")); err != nil || len(names) != 2 {
				t.Errorf("outside there are %v", names)
			}
		})
	}
}

func TestAnEditKeepsModeAndOtherNamesOfTheFile(t *testing.T) {
	b, dir := open(t)
	file, other := filepath.Join(dir, "a.go"), filepath.Join(dir, "..", "other")
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(file, other); err != nil {
		t.Fatal(err)
	}
	if r := b.Call(t.Context(), "edit", `{"path":"a.go","old":"3","new":"9"}`); r.Failed {
		t.Fatal(r.Text)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if text, err := os.ReadFile(other); err != nil || !strings.Contains(string(text), "= 3") {
		t.Errorf("a file outside was changed by its other name: %q, %v", text, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*new*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestResultsAreBounded(t *testing.T) {
	b, dir := open(t)
	put(t, filepath.Join(dir, "long"), strings.Repeat("a line of text\n", 100_000))
	put(t, filepath.Join(dir, "wide"), strings.Repeat("ä", 500_000)+"\nend\n")
	put(t, filepath.Join(dir, "huge"), strings.Repeat("x", maxFile+1))
	for i := range 1500 {
		put(t, filepath.Join(dir, "many", fmt.Sprintf("%0100d", i)), "")
	}
	for _, tc := range []struct{ tool, args, want string }{
		{"read", `{"path":"long"}`, "[lines 1 to 2000 of 100000]"},
		{"read", `{"path":"wide"}`, "[the rest of the line is left out]"},
		{"read", `{"path":"huge"}`, "has more than"},
		{"list", `{"path":"many"}`, "[there are more"},
		{"search", `{"pattern":"line","path":"long"}`, "(nothing was found)"}, // larger than what is searched
		{"search", `{"pattern":"ä","path":"wide"}`, "…"},
		{"shell", `{"command":"cat long"}`, "bytes are left out]"},
		{"shell", `{"command":"cat huge"}`, "bytes are left out]"},
	} {
		r := b.Call(t.Context(), tc.tool, tc.args)
		if !strings.Contains(r.Text, tc.want) || len(r.Text) > maxText+maxParts {
			t.Errorf("%s %s: %d bytes, ends in %q", tc.tool, tc.args, len(r.Text), r.Text[max(0, len(r.Text)-200):])
		}
	}
	put(t, filepath.Join(dir, "long"), strings.Repeat("a line of text\n", 10_000))
	r := b.Call(t.Context(), "search", `{"pattern":"line","path":"long"}`)
	if strings.Count(r.Text, "\n") != maxHits || !strings.Contains(r.Text, "[there may be more") {
		t.Errorf("a search gives %d lines", strings.Count(r.Text, "\n"))
	}
}

func TestBothEndsOfALongOutputAreShown(t *testing.T) {
	b, _ := open(t)
	r := b.Call(t.Context(), "shell", `{"command":"echo first; seq 1 20000; echo last"}`)
	if !strings.HasPrefix(r.Text, "first\n") || !strings.HasSuffix(r.Text, "last\n") || strings.Count(r.Text, "\n1000\n") != 1 {
		t.Errorf("%d bytes: %.40q … %q", len(r.Text), r.Text, r.Text[len(r.Text)-40:])
	}
	if r := b.Call(t.Context(), "shell", `{"command":"seq 1 5000"}`); strings.Contains(r.Text, "left out") || strings.Count(r.Text, "\n") != 5000 {
		t.Errorf("an output that fits is cut: %d lines", strings.Count(r.Text, "\n"))
	}
}

func TestACancelledCallEnds(t *testing.T) {
	b, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, call := range [][2]string{{"shell", `{"command":"sleep 100"}`}, {"list", `{}`}, {"search", `{"pattern":"x"}`}} {
		if r := b.Call(ctx, call[0], call[1]); !r.Failed {
			t.Errorf("%s: %+v", call[0], r)
		}
	}
}

func TestSchemasAreValid(t *testing.T) {
	for _, tool := range all() {
		var schema struct {
			Type       string                    `json:"type"`
			Properties map[string]map[string]any `json:"properties"`
			Required   []string                  `json:"required"`
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || schema.Type != "object" || tool.About == "" {
			t.Errorf("%s: %v: %s", tool.Name, err, tool.Schema)
		}
		for _, name := range schema.Required {
			if schema.Properties[name] == nil {
				t.Errorf("%s: %s is required, and not described", tool.Name, name)
			}
		}
	}
}

func TestSummariesTellCallsApart(t *testing.T) {
	for _, tc := range []struct{ name, args, want string }{
		{"read", `{"path":"a.go"}`, "a.go"},
		{"shell", `{"command":"go test ./..."}`, "go test ./..."},
		{"list", `{}`, "#44136f"},
		{"read", `{"path":"a\nb"}`, "a b #4618dc"},
		{"read", `not JSON`, "not JSON #62b812"},
	} {
		if got := Summary(tc.name, tc.args); got != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.name, tc.args, got, tc.want)
		}
	}
	long := strings.Repeat("x", 1000)
	a, b := Summary("edit", `{"path":"a","old":"`+long+`1","new":""}`), Summary("edit", `{"path":"a","old":"`+long+`2","new":""}`)
	if a == b || !strings.HasPrefix(a, "a #") {
		t.Errorf("%q and %q", a, b)
	}
}

func FuzzCall(f *testing.F) {
	f.Add("read", `{"path":"a.go","from":1}`)
	f.Add("list", `{"path":".","depth":-3}`)
	f.Add("search", `{"pattern":"(a|b){1000}","glob":"*"}`)
	f.Add("edit", `{"path":"a.go","old":"a","new":"b"}`)
	f.Add("write", `{"path":"x/../../y","content":""}`)
	f.Fuzz(func(t *testing.T, name, args string) {
		if name == "shell" {
			return
		}
		b, dir := open(t)
		r := b.Call(t.Context(), name, args)
		if r.Malformed && !r.Failed || r.Text == "" || len(r.Text) > maxText+2*maxParts {
			t.Errorf("result %+v", r)
		}
		Summary(name, args)
		if outside, err := os.ReadDir(filepath.Join(dir, "..")); err != nil || len(outside) != 2 {
			t.Errorf("outside there are %v, %v", outside, err)
		}
	})
}
