package gitops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenRefusals(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(f *fixture) string // gives the folder to open
		want    error
		hint    string
	}{
		{"not a repository", func(f *fixture) string { return filepath.Dir(f.dir) }, ErrNotRepository, "git init"},
		{"no folder", func(f *fixture) string { return f.dir + "/none" }, ErrNotRepository, "give the folder"},
		{"inside .git", func(f *fixture) string { return f.dir + "/.git/objects" }, ErrNotRepository, "checkout"},
		{"bare", func(f *fixture) string {
			f.git("clone", "-q", "--bare", ".", "../bare.git")
			return filepath.Join(filepath.Dir(f.dir), "bare.git")
		}, ErrBare, "clone it"},
		{"shallow", func(f *fixture) string {
			f.commit("second")
			f.git("clone", "-q", "--depth=1", "file://"+f.dir, "../shallow")
			return filepath.Join(filepath.Dir(f.dir), "shallow")
		}, ErrShallow, "--unshallow"},
		{"unborn", func(f *fixture) string {
			f.git("init", "-q", "../unborn")
			return filepath.Join(filepath.Dir(f.dir), "unborn")
		}, ErrUnborn, "git commit"},
		{"unborn for git alone", func(f *fixture) string {
			f.git("init", "-q", "../unborn")
			dir := filepath.Join(filepath.Dir(f.dir), "unborn")
			f.gitIn(dir, "config", "core.repositoryformatversion", "1")
			f.gitIn(dir, "config", "extensions.worktreeConfig", "true")
			return dir
		}, ErrUnborn, "git commit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			_, err := OpenWith(t.Context(), tt.prepare(f), f.runs, Options{Env: f.env})
			var e *Error
			if !errors.Is(err, tt.want) || !errors.As(err, &e) || !strings.Contains(e.Hint, tt.hint) {
				t.Fatalf("got %v, want %v with a hint that says %q", err, tt.want, tt.hint)
			}
		})
	}
}

func TestOpenDubiousOwnership(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	f := newFixture(t)
	f.must(os.Chown(f.dir, 65534, 65534))
	f.must(os.Chown(filepath.Join(f.dir, ".git"), 65534, 65534))
	_, err := OpenWith(t.Context(), f.dir, f.runs, Options{Env: f.env})
	if !errors.Is(err, ErrOwnership) || !strings.Contains(err.Error(), "safe.directory") {
		t.Fatalf("got %v, want git's own advice", err)
	}
}

func TestOpenOldGit(t *testing.T) {
	f := newFixture(t)
	bin := t.TempDir()
	f.must(os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho git version 2.37.9\n"), 0o755))
	env := append(f.env[1:], "PATH="+bin+":"+os.Getenv("PATH"))
	_, err := OpenWith(t.Context(), f.dir, f.runs, Options{Env: env})
	if !errors.Is(err, ErrOldGit) || !strings.Contains(err.Error(), "2.38") {
		t.Fatalf("got %v", err)
	}
}

func TestOpenWithoutGit(t *testing.T) {
	f := newFixture(t)
	env := append(f.env[1:], "PATH="+t.TempDir())
	_, err := OpenWith(t.Context(), f.dir, f.runs, Options{Env: env})
	if err == nil || !strings.Contains(err.Error(), "install git") {
		t.Fatalf("got %v", err)
	}
}

func TestOpenFromSubfolderAndLinkedWorktree(t *testing.T) {
	f := newFixture(t)
	f.git("worktree", "add", "-q", "-b", "side", "../side")
	side := filepath.Join(filepath.Dir(f.dir), "side")
	for dir, want := range map[string]string{filepath.Join(f.dir, "dir"): "main", side: "side"} {
		r, err := OpenWith(t.Context(), dir, f.runs, Options{Env: f.env})
		f.must(err)
		head, err := r.Head(t.Context())
		f.must(err)
		if head.Branch != want || r.CommonDir() != filepath.Join(f.dir, ".git") {
			t.Errorf("%s: on %q with %s", dir, head.Branch, r.CommonDir())
		}
	}
}

func TestOpenFolderWithNewline(t *testing.T) {
	f := newFixture(t)
	odd := f.dir + "\nodd\n"
	f.must(os.Rename(f.dir, odd))
	r, err := OpenWith(t.Context(), odd, f.runs, Options{Env: f.env})
	f.must(err)
	if r.Toplevel() != odd {
		t.Errorf("toplevel %q", r.Toplevel())
	}
}

// GIT_DIR in the environment comes from a hook that started us.
func TestEnvironmentIsNotInherited(t *testing.T) {
	f := newFixture(t)
	f.env = append(f.env, "GIT_DIR=/nowhere", "GIT_INDEX_FILE=/nowhere", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.worktree", "GIT_CONFIG_VALUE_0=/nowhere", "GIT_EDITOR=false")
	r, err := OpenWith(t.Context(), f.dir, f.runs, Options{Env: f.env})
	f.must(err)
	if r.Toplevel() != f.dir {
		t.Errorf("toplevel %q", r.Toplevel())
	}
}

func TestErrorsHoldNoEscapeCodes(t *testing.T) {
	e := &Error{Op: "read", Path: "a\x1b[31mb\nc\u202e", Msg: "bad"}
	if got := e.Error(); got != "read a?[31mb?c?: bad" {
		t.Errorf("got %q", got)
	}
	if got := gitWords([]byte("fatal: \x1b]0;x\a y\nhint: z\n\n")); got != "fatal: ?]0;x? y" {
		t.Errorf("got %q", got)
	}
}
