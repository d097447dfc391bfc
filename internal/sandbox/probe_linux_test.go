package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestProbeFindsTheBestKind(t *testing.T) {
	t.Parallel()
	run, self := newRunner(t)
	r := Probe(t.Context(), Options{Run: run, Self: self, Path: os.Getenv("PATH")})
	t.Log("\n" + r.String())
	if _, there := findBwrap(os.Getenv("PATH")); !there || r.Kind != Bubblewrap {
		t.Skip("bubblewrap is not here, or does not work: ", r.Failures)
	}
	for _, p := range []Promise{WriteConfined, ReadOnlyInside, PathsHidden, NetworkOff, OwnProcesses, SamePath, FileLimit} {
		if !r.Enforces(p) {
			t.Errorf("%s: not enforced", p)
		}
	}
	if r.Enforces(ProcessLimit) == (os.Geteuid() == 0) {
		t.Error("a limit of processes holds for ordinary users only")
	}
}

// fakeBwrap passes on to the real one after what is in script.
func fakeBwrap(t *testing.T, script string) (dir string) {
	t.Helper()
	real, there := findBwrap(os.Getenv("PATH"))
	if !there {
		t.Skip("bubblewrap is not here")
	}
	dir = t.TempDir()
	mustWrite(t, dir+"/bwrap", "#!/bin/sh\n"+script+"\nexec "+real+" \"$@\"\n")
	if err := os.Chmod(dir+"/bwrap", 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestProbeOfMachinesThatCannot(t *testing.T) {
	t.Parallel()
	run, self := newRunner(t)
	old := fakeBwrap(t, `for a; do [ "$a" != --disable-userns ] || { echo "bwrap: Unknown option --disable-userns" >&2; exit 1; }; done`)
	refused := fakeBwrap(t, `echo "bwrap: setting up uid map: Permission denied" >&2; exit 1`)
	sham := fakeBwrap(t, `while [ "$1" != -- ]; do shift; done; shift; shift; exec `+self+` "$@"`)
	for name, tc := range map[string]struct {
		o       Options
		kind    []Kind
		failure string
	}{
		"old":                {Options{Path: old}, []Kind{Bubblewrap}, ""},
		"not installed":      {Options{Path: t.TempDir()}, []Kind{Landlock, None}, "in no folder of PATH"},
		"relative PATH only": {Options{Path: "bin:."}, []Kind{Landlock, None}, "in no folder of PATH"},
		"refused":            {Options{Path: refused}, []Kind{Landlock, None}, "setting up uid map"},
		"confines nothing":   {Options{Path: sham}, []Kind{Landlock, None}, "not refused"},
		"nothing allowed":    {Options{Path: old, Only: []Kind{None}}, []Kind{None}, ""},
		"no scratch":         {Options{Path: old, Scratch: "/no/such/folder"}, []Kind{None}, ""},
	} {
		tc.o.Run, tc.o.Self = run, self
		s := New(t.Context(), tc.o)
		r := s.Report()
		if !slices.Contains(tc.kind, r.Kind) || !strings.Contains(strings.Join(r.Failures, "\n"), tc.failure) {
			t.Errorf("%s: %s", name, r)
		}
		if name == "old" && (r.Enforces(NoNesting) || !r.Enforces(WriteConfined) || !s.keepUserns) {
			t.Errorf("old: %s", r)
		}
		if tc.failure != "" && tc.failure != "not refused" && len(r.Advice) == 0 {
			t.Errorf("%s: no advice: %s", name, r)
		}
	}
	if r := Probe(t.Context(), Options{}); r.Kind != None || r.Enforces(WriteConfined) {
		t.Errorf("without anything: %s", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := Probe(ctx, Options{Run: run, Self: self, Path: old}); r.Kind != None {
		t.Errorf("cancelled: %s", r)
	}
}

// All of the tests hold for an ordinary user too.
func TestAsAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is an ordinary user already")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "si-ordinary-") // whose parents, unlike t.TempDir's, all may enter
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, d := range []string{dir, filepath.Join(dir, "tmp")} {
		mustMkdir(t, d)
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(filepath.Join(dir, "tmp"), nobody, nobody); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "sandbox.test")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.v"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir = filepath.Join(dir, "tmp")
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.Dir, "TMPDIR=" + c.Dir, selfKey + "=" + selfOf(t), "GORACE=atexit_sleep_ms=0"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("--- PASS: %s", "TestWritesAreConfined")) {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%d tests passed as user %d, %d skipped", strings.Count(string(out), "--- PASS"), nobody, strings.Count(string(out), "--- SKIP"))
}
