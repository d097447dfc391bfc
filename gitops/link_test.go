package gitops

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestLinkBringsDependencies(t *testing.T) {
	f := newFixture(t)
	f.write(".gitignore", "node_modules/\n.env\n.venv/\ndata/\n:*\n")
	f.write(".worktreeinclude", ".env\n/data/*.bin\n:*\na.txt\nuntracked\n")
	base := f.commit("base")
	f.write("node_modules/.bin/tool", "x")
	f.write("node_modules/pkg/index.js", "x")
	f.must(os.Symlink("../pkg/index.js", filepath.Join(f.dir, "node_modules/.bin/inside")))
	f.must(os.Symlink("/etc", filepath.Join(f.dir, "node_modules/outside")))
	f.must(os.Symlink("../../..", filepath.Join(f.dir, "node_modules/up")))
	f.must(os.Chmod(filepath.Join(f.dir, "node_modules/.bin/tool"), 0o755))
	f.write(".env", "KEY=1")
	f.write("data/x.bin", "1")
	f.write(":(top)x", "1")
	f.write("data/x.txt", "1")
	f.write(".venv/pyvenv.cfg", "home = /usr\n")
	f.write("untracked", "not ignored, so not included")
	f.must(os.Symlink("/etc", filepath.Join(f.dir, "out")))
	r := f.open()
	w := f.clone(r, base)
	put(t, filepath.Join(w.Path(), "a.txt"), "changed\n")
	warnings, err := w.Link(t.Context(), []Link{
		{"node_modules", LinkCopy}, {".venv", LinkLink}, {"out/passwd", LinkCopy}, {"a.txt", LinkCopy}, {"none", LinkLink},
	})
	f.must(err)
	got := content(t, w.Path())
	want := map[string]string{
		".gitignore": got[".gitignore"], ".worktreeinclude": got[".worktreeinclude"], "a.txt": "changed\n", "dir/b.txt": "two\n",
		"node_modules/.bin/tool": "*x", "node_modules/pkg/index.js": "x", "node_modules/.bin/inside": "-> ../pkg/index.js",
		".env": "KEY=1", ":(top)x": "1", "data/x.bin": "1", ".venv": "-> " + filepath.Join(f.dir, ".venv"),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	all := strings.Join(warnings, "\n")
	for _, part := range []string{"outside is a link", "up is a link", "out/passwd is not in your checkout", "a.txt is in the workspace already", "none is not", ".venv is a link into"} {
		if !strings.Contains(all, part) {
			t.Errorf("no warning that %q in %q", part, all)
		}
	}
	// A link .venv is not matched by the pattern .venv/ and is still no part of the candidate.
	if _, changes := f.collect(r, w, base); len(changes) != 1 || changes[0].Path != "a.txt" {
		t.Errorf("collected %v", changes)
	}
	f.must(w.Remove(t.Context()))
	f.must(r.Close())
	if _, err := os.Stat(filepath.Join(f.dir, ".venv/pyvenv.cfg")); err != nil {
		t.Errorf("removing followed the link: %v", err)
	}
}

func TestLinkRefusesWaysOut(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	f.write("sub/node_modules/x", "x")
	w := f.clone(f.open(), base)
	outside := t.TempDir()
	f.must(os.Symlink(outside, filepath.Join(w.Path(), "sub")))
	for _, path := range []string{"../x", "/etc", ".git/config", "dir/.git", "", ".", "sub/node_modules"} {
		if _, err := w.Link(t.Context(), []Link{{path, LinkCopy}}); err == nil {
			t.Errorf("%q was taken", path)
		}
	}
	if got := content(t, outside); len(got) != 1 {
		t.Errorf("written outside: %q", got)
	}
	if _, err := w.Link(t.Context(), []Link{{"sub/node_modules", "move"}}); err == nil {
		t.Error("an unknown mode was taken")
	}
}

func TestSubmodulesComeFromTheUsersDisk(t *testing.T) {
	f := newFixture(t)
	inner, outer := newFixture(t), newFixture(t)
	allow := []string{"-c", "protocol.file.allow=always"}
	outer.git(append(allow, "submodule", "add", "-q", inner.dir, "deep")...)
	outer.commit("with a submodule")
	f.git(append(allow, "submodule", "add", "-q", outer.dir, "sub mod")...)
	f.git(append(allow, "submodule", "update", "-q", "--init", "--recursive")...)
	base := f.commit("with submodules")
	config, err := os.ReadFile(filepath.Join(f.dir, ".git/config"))
	f.must(err)
	r := f.open()
	m, w := f.worktree(r, base), f.clone(r, base)
	for _, ws := range []*Workspace{m, w} {
		got := content(t, ws.Path())
		if got["sub mod/a.txt"] != "one\n" || got["sub mod/deep/a.txt"] != "one\n" || len(ws.Warnings()) != 0 {
			t.Errorf("%s: %q %q", ws.Path(), got, ws.Warnings())
		}
		if status := f.gitIn(ws.Path(), "status", "--porcelain"); status != "" {
			t.Errorf("status %q", status)
		}
	}
	put(t, filepath.Join(m.Path(), "sub mod/deep/a.txt"), "eno\n")
	put(t, filepath.Join(m.Path(), "sub mod/new"), "x")
	f.must(m.Reset(t.Context(), base))
	if got := content(t, m.Path()); got["sub mod/deep/a.txt"] != "one\n" || got["sub mod/new"] != "" {
		t.Errorf("after Reset: %q", got)
	}
	put(t, filepath.Join(w.Path(), "a.txt"), "x\n")
	// git status of the whole would run git inside, with the agent's settings.
	trace := filepath.Join(t.TempDir(), "ran")
	f.gitIn(filepath.Join(w.Path(), "sub mod"), "config", "core.fsmonitor", "touch '"+trace+"'; false")
	f.gitIn(filepath.Join(w.Path(), "sub mod"), "config", "filter.evil.clean", "touch '"+trace+"'; cat")
	put(t, filepath.Join(w.Path(), "sub mod/.gitattributes"), "* filter=evil\n")
	put(t, filepath.Join(w.Path(), "sub mod/a.txt"), "eno\n")
	if _, changes := f.collect(r, w, base); len(changes) != 1 {
		t.Errorf("%v", changes)
	}
	absent(t, trace)
	if now, _ := os.ReadFile(filepath.Join(f.dir, ".git/config")); string(now) != string(config) {
		t.Error("the user's configuration was written")
	}
	f.must(os.RemoveAll(filepath.Join(f.dir, ".git/modules")))
	f.must(m.Reset(t.Context(), base))
	if len(m.Warnings()) != 1 || !strings.Contains(m.Warnings()[0], "sub mod is empty") {
		t.Errorf("warnings %q", m.Warnings())
	}
}

func TestLFSPointersAreSaid(t *testing.T) {
	f := newFixture(t)
	f.write(".gitattributes", "*.bin filter=lfs diff=lfs -text\n")
	f.write("x.bin", lfsHead+"v1\noid sha256:00\nsize 1\n")
	base := f.commit("lfs")
	w := f.worktree(f.open(), base)
	if len(w.Warnings()) != 1 || !strings.Contains(w.Warnings()[0], "x.bin") {
		t.Errorf("%q", w.Warnings())
	}
}

func TestPush(t *testing.T) {
	f := newFixture(t)
	f.git("init", "-q", "--bare", "../remote.git")
	f.git("remote", "add", "origin", "../remote.git")
	f.git("branch", "improve/x")
	trace := f.hostile()
	r := f.open()
	f.must(r.Push(t.Context(), "origin", "improve/x"))
	if got := f.git("ls-remote", "origin"); !strings.HasSuffix(got, "refs/heads/improve/x") || strings.Contains(got, "main") {
		t.Errorf("remote has %q", got)
	}
	absent(t, trace)
	for _, remote := range []string{"none", "", "--upload-pack=x", "ext::sh -c exit"} {
		if err := r.Push(t.Context(), remote, "improve/x"); err == nil {
			t.Errorf("pushed to %q", remote)
		}
	}
}

func TestRemoteURLHidesThePassword(t *testing.T) {
	f := newFixture(t)
	f.git("remote", "add", "origin", "https://ada:secret@example.org/x.git")
	r := f.open()
	if got, err := r.RemoteURL(t.Context(), "origin"); got != "https://ada@example.org/x.git" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if got, err := r.RemoteURL(t.Context(), "none"); got != "" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

func TestInitialIsTheSameEverywhere(t *testing.T) {
	var ids []string
	for range 2 {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "main.go"), "package main\r\n")
		put(t, filepath.Join(dir, "sub/x"), "x")
		f := newFixture(t)
		id, err := Initial(t.Context(), dir, f.runs)
		f.must(err)
		if got := f.gitIn(dir, "status", "--porcelain", "--branch"); got != "## main" {
			t.Errorf("status %q", got)
		}
		if _, err := Initial(t.Context(), dir, f.runs); err == nil {
			t.Error("made twice")
		}
		ids = append(ids, id)
	}
	if ids[0] != ids[1] {
		t.Errorf("not the same: %v", ids)
	}
}

func TestSync(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	f.must(r.Sync())
	f.must(os.RemoveAll(f.dir))
	if r.Sync() == nil {
		t.Error("synced a folder that is gone")
	}
}
