package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"si/internal/secret"
)

// Not parallel: it measures what this process allocates.
func TestFloodIsBounded(t *testing.T) {
	b := newBench(t)
	const n = 200 << 20
	c := b.child("flood", "209715200", "line")
	c.Supervised = true
	c.Stdout = Output{File: filepath.Join(t.TempDir(), "log"), FileMax: 1 << 20}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := b.run(t, c)
	runtime.ReadMemStats(&after)
	if res.Stdout.Total != n || res.Code != 0 {
		t.Errorf("read %d bytes, code %d", res.Stdout.Total, res.Code)
	}
	if d := after.TotalAlloc - before.TotalAlloc; d > 8<<20 {
		t.Errorf("allocated %d bytes for it", d)
	}
	data, err := os.ReadFile(c.Stdout.File)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) < 1<<20 || len(data) > 1<<20+200 || !bytes.HasSuffix(data, []byte("bytes are kept here]\n")) {
		t.Errorf("the file has %d bytes and ends in %q", len(data), data[max(0, len(data)-80):])
	}
	if len(res.Stdout.Head) != defaultKeep || len(res.Stdout.Tail) != defaultKeep {
		t.Errorf("kept %d and %d bytes", len(res.Stdout.Head), len(res.Stdout.Tail))
	}
}

func TestLongLineIsCut(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, b *bench, supervised bool) {
		t.Helper()
		var sizes []int
		c := b.child("flood", "20971520", "one")
		c.Supervised = supervised
		c.Stdout.Line = func(l []byte) { sizes = append(sizes, len(l)) }
		res := b.run(t, c)
		if res.Stdout.Total != 20<<20 || len(sizes) != 1 || sizes[0] != 1<<20 {
			t.Errorf("total %d, lines of %v bytes", res.Stdout.Total, sizes)
		}
	})
}

func TestBytesArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, b *bench, supervised bool) {
		t.Helper()
		const out, errOut = "a\r\n\n\xff\xfe\x1b[31m\nlast", "to stderr"
		for _, merge := range []bool{false, true} {
			var lines []string
			c := b.child("print", out, errOut)
			c.Supervised, c.Merge = supervised, merge
			c.Stdout = Output{File: filepath.Join(t.TempDir(), "sub", "log"), Line: func(l []byte) { lines = append(lines, string(l)) }}
			res := b.run(t, c)
			want, wantErr := out, errOut
			if merge {
				want, wantErr = out+errOut, ""
			}
			file, err := os.ReadFile(c.Stdout.File)
			if err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string]string{"head": string(res.Stdout.Head), "tail": string(res.Stdout.Tail), "file": string(file), "lines": strings.Join(lines, "\n")} {
				if got != want {
					t.Errorf("merge %v: %s is %q, want %q", merge, name, got, want)
				}
			}
			if string(res.Stderr.Head) != wantErr {
				t.Errorf("merge %v: stderr %q", merge, res.Stderr.Head)
			}
		}
	})
}

func TestPanicInTheCallbackIsAnError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.child("flood", "300000", "line")
	c.Stdout.Line = func([]byte) { panic("boom") }
	res, err := b.Run(context.Background(), c)
	if err == nil || !strings.Contains(err.Error(), "boom") || res.Stdout.Total != 300000 {
		t.Errorf("got %v after %d bytes", err, res.Stdout.Total)
	}
}

// A planted link must not lead the log into a file of the user.
func TestOutputFileReplacesALink(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	for name, plant := range map[string]func(target, link string) error{"symbolic": os.Symlink, "hard": os.Link} {
		if err := os.WriteFile(precious, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		log := filepath.Join(dir, name)
		if err := plant(precious, log); err != nil {
			t.Fatal(err)
		}
		c := b.child("print", "out", "")
		c.Stdout.File = log
		b.run(t, c)
		got, _ := os.ReadFile(log)
		if kept, _ := os.ReadFile(precious); string(kept) != "mine" || string(got) != "out" {
			t.Errorf("%s link: the file is now %q, the log %q", name, kept, got)
		}
	}
}

// runWith runs an unsupervised child after change has got at its streams.
func (b *bench) runWith(t *testing.T, c Command, change func(*streams)) Result {
	t.Helper()
	s, err := openStreams(c)
	if err != nil {
		t.Fatal(err)
	}
	change(s)
	p, err := b.plan(c)
	if err != nil {
		t.Fatal(err)
	}
	ch, err := b.start(p, s.forChild)
	s.closeChildEnds()
	if err != nil {
		t.Fatal(err)
	}
	defer ch.release()
	s.pump()
	r := run{c: c, child: ch, streams: s, began: time.Now()}
	res, err := r.finish(r.untilEnd(context.Background()))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestFullDiskStillDrains(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	res := b.runWith(t, b.child("flood", "3000000", "line"), func(s *streams) {
		s.stdout.sink.file = &cappedFile{f: full, room: 1 << 30, max: 1 << 30}
	})
	if res.Code != 0 || res.Stdout.Total != 3000000 {
		t.Errorf("got code %d, %d bytes", res.Code, res.Stdout.Total)
	}
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "no space left") {
		t.Errorf("warnings %q", res.Warnings)
	}
}

// What holds the pipe and cannot be ended (here: this process) is not waited for.
func TestUnknownHolderIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	took(t, 15*time.Second, func() {
		res := b.runWith(t, b.child("print", "out", ""), func(s *streams) {
			fd, err := unix.FcntlInt(s.forChild[1].Fd(), unix.F_DUPFD_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = unix.Close(fd) })
		})
		if string(res.Stdout.Head) != "out" || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "held the pipe") {
			t.Errorf("got %q, warnings %q", res.Stdout.Head, res.Warnings)
		}
	})
}

func TestStdin(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, b *bench, supervised bool) {
		t.Helper()
		big := bytes.Repeat([]byte("p"), 5<<20)
		pipe, blocked := io.Pipe() // gives nothing, and no end
		for name, tc := range map[string]struct {
			stdin io.Reader
			mode  string
			arg   string
			want  string
		}{
			"nothing is an end":           {nil, "count", "", "0 <nil>\n"},
			"big, then an end":            {bytes.NewReader(big), "count", "", "5242880 <nil>\n"},
			"big, not read":               {bytes.NewReader(big), "exit", "0", ""},
			"blocked when the child ends": {pipe, "exit", "0", ""},
			"a panic in the reader":       {panicReader{}, "count", "", "0 <nil>\n"},
		} {
			c := b.child(tc.mode, tc.arg)
			c.Supervised, c.Stdin = supervised, tc.stdin
			res := b.run(t, c)
			if res.Code != 0 || string(res.Stdout.Head) != tc.want {
				t.Errorf("%s: code %d, %q, want %q", name, res.Code, res.Stdout.Head, tc.want)
			}
			if _, isPanic := tc.stdin.(panicReader); isPanic != (len(res.Warnings) > 0) {
				t.Errorf("%s: warnings %q", name, res.Warnings)
			}
		}
		if _, err := blocked.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the reader was not closed: %v", err)
		}
	})
}

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("no prompt") }

// What is kept has no secret in it, wherever the pipe cuts it; a reader of lines gets
// what was printed.
func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "log")
	var lines []string
	c, err := newCapture(Output{File: file, HeadMax: 12, TailMax: 20, Hide: secret.Set{}.With("sk-0123456789"), Line: func(b []byte) { lines = append(lines, string(b)) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"my key sk-0", "12345", "6789\nsk-01", " is none\nsk"} {
		c.write([]byte(part))
	}
	c.end()
	c.closeFile()
	got := c.captured()
	data, err := os.ReadFile(file)
	if want := "my key [key]\nsk-01 is none\nsk"; err != nil || string(data) != want || string(got.Head) != want[:12] || string(got.Tail) != want[len(want)-20:] {
		t.Errorf("file %q, head %q, tail %q, %v", data, got.Head, got.Tail, err)
	}
	if got.Total != 37 || strings.Join(lines, "|") != "my key sk-0123456789|sk-01 is none" {
		t.Errorf("%d bytes, lines %q", got.Total, lines)
	}
}

func TestLineCutter(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		chunks []string
		want   string
	}{
		"split anywhere": {[]string{"ab", "c\nd", "\n\n"}, "abc|d||"},
		"exactly max":    {[]string{"12345678\nx\n"}, "12345678|x|"},
		"beyond max":     {[]string{"12345678", "9", "0\nx\n"}, "12345678|x|"},
		"cut at the end": {[]string{"1234567890"}, "12345678|"},
		"no newline":     {[]string{"a\nb"}, "a|b|"},
		"nothing":        {nil, ""},
	} {
		got := ""
		l := lineCutter{max: 8, call: func(b []byte) { got += string(b) + "|" }}
		for _, c := range tc.chunks {
			l.write([]byte(c))
		}
		if l.last(); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
