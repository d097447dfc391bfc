package gitops

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"si/internal/secret"
)

func TestCollectTakesWhatIsInTheFolder(t *testing.T) {
	f := newFixture(t)
	f.write(".gitignore", "*.o\n")
	f.write("gone", "x\n")
	f.write("run.sh", "x\n")
	f.write("becomes-dir", "x\n")
	f.write("becomes-file/x", "x\n")
	f.write("latin-\xe9", "x\n")
	base := f.commit("base")
	f.git("checkout", "-q", "--orphan", "elsewhere") // where the user is does not matter
	f.git("commit", "-q", "-m", "elsewhere")
	r := f.open()
	w := f.clone(r, base)
	at := func(p string) string { return filepath.Join(w.Path(), p) }
	put(t, at("a.txt"), "eno\n") // same size, same second
	put(t, at("new\nline\x1b"), "x")
	put(t, at("latin-\xe9"), "y\n")
	put(t, at("x.o"), "ignored")
	put(t, at(":(glob)*"), "x")
	put(t, at("-rf"), "x")
	f.must(os.Remove(at("gone")))
	f.must(os.Chmod(at("run.sh"), 0o755))
	f.must(os.Symlink("/etc/passwd", at("link")))
	f.must(os.Remove(at("becomes-dir")))
	put(t, at("becomes-dir/y"), "y")
	f.must(os.RemoveAll(at("becomes-file")))
	put(t, at("becomes-file"), "y")
	// The agent's own commits and index do not matter.
	put(t, at("committed"), "x")
	f.gitIn(w.Path(), "add", "committed", "gone")
	f.gitIn(w.Path(), "commit", "-q", "-m", "agent's")
	f.gitIn(w.Path(), "update-index", "--assume-unchanged", "a.txt")

	c, changes := f.collect(r, w, base)
	got := map[string]string{}
	for _, ch := range changes {
		got[ch.Path] = string(ch.Status) + ch.NewMode
	}
	want := map[string]string{
		"a.txt": "M100644", "new\nline\x1b": "A100644", "latin-\xe9": "M100644", ":(glob)*": "A100644", "-rf": "A100644",
		"gone": "D000000", "run.sh": "M100755", "link": "A120000", "becomes-dir": "D000000", "becomes-dir/y": "A100644",
		"becomes-file": "A100644", "becomes-file/x": "D000000", "committed": "A100644",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if target, err := r.ReadFile(t.Context(), c.ID, "link", 100); string(target) != "/etc/passwd" || err != nil {
		t.Errorf("link: %q %v", target, err)
	}
	if f.git("fsck", "--strict", "--no-dangling") != "" {
		t.Error("fsck complains")
	}
	again, _ := f.collect(r, w, base)
	if again != c {
		t.Errorf("not the same again: %v, %v", again, c)
	}
}

// TestASecretIsNotCollected: a key of the environment that an agent writes down comes into
// no commit and no object; what the repository has already told is no news.
func TestASecretIsNotCollected(t *testing.T) {
	const key, told = "sk-0123456789-abc", "told-0123456789"
	long := strings.Repeat(strings.Repeat("d", 200)+"/", 10) + strings.Repeat("e", 30)
	for _, tc := range []struct{ name, path, text, want string }{
		{"in a file", "new/file", "one\nkey = \"" + key + "\"\n", "environment: new/file:2"},
		{"in a file that was there", "a.txt", "one\n" + key, "environment: a.txt:2"},
		{"among bytes", "bin", "\x00" + key + "\x00", "environment: bin:1"},
		{"in a name", "x-" + key, "x", "environment: x-[key]"},
		{"the target of a link", "link", "", "environment: link:1"},
		{"beside one that is told", "a.txt", told + "\n" + key + "\n", "environment: a.txt:2"},
		{"one that the repository tells", "copy", "again " + told + "\n", ""},
		{"what git makes of it", "wide.u", "\xff\xfeo\x00n\x00e\x00\n\x00" + strings.Join(strings.Split(key, ""), "\x00") + "\x00", "environment: wide.u:2"},
		{"behind a path that is too long for us", long + "/" + long + "/f", key, "a changed file cannot be looked at: file name too long"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t)
			f.write("told", "x\n"+told+"\n")
			f.write(".gitattributes", "*.u working-tree-encoding=UTF-16\n")
			base := f.commit("base")
			r := f.open()
			w := f.clone(r, base)
			if tc.text == "" {
				f.must(os.Symlink(key, filepath.Join(w.Path(), tc.path)))
			} else {
				putDeep(t, w.Path(), tc.path, tc.text)
			}
			objects := f.git("count-objects")
			m := meta("Try " + key)
			m.Secrets = secret.Set{}.With(key, told)
			c, _, err := r.Collect(t.Context(), w, base, m)
			if tc.want == "" {
				if said := f.git("log", "-1", "--format=%s", c.ID); err != nil || said != "Try [key]" {
					t.Fatalf("%q, %v", said, err)
				}
				return
			}
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), key) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if now := f.git("count-objects"); now != objects {
				t.Errorf("something of it is kept: %s before, %s after", objects, now)
			}
		})
	}
}

// putDeep writes a file from inside of its folder, as a shell does that has gone there:
// its whole path may be longer than the system takes.
func putDeep(t *testing.T, dir, path, text string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsGoneHoldsNoSecret: a file that is deleted, also by a file in the place of its
// folder, brings nothing, whatever it is called.
func TestWhatIsGoneHoldsNoSecret(t *testing.T) {
	const key = "sk-0123456789-abc"
	f := newFixture(t)
	f.write("dir/"+key, "x")
	base := f.commit("base")
	r := f.open()
	w := f.clone(r, base)
	f.must(os.RemoveAll(filepath.Join(w.Path(), "dir")))
	put(t, filepath.Join(w.Path(), "dir"), "a file")
	m := meta("Try")
	m.Secrets = secret.Set{}.With(key)
	if _, changes, err := r.Collect(t.Context(), w, base, m); err != nil || len(changes) != 3 {
		t.Errorf("%v, %v", changes, err)
	}
}

// TestARefusalNamesNoSecret: what is refused for something else is named, too.
func TestARefusalNamesNoSecret(t *testing.T) {
	const key = "sk-0123456789-abc"
	f := newFixture(t)
	base := f.commit("base")
	r := f.open()
	w := f.clone(r, base)
	put(t, filepath.Join(w.Path(), "x-"+key), "much")
	m := meta("Try")
	m.Secrets, m.Limits.FileBytes = secret.Set{}.With(key), 1
	_, _, err := r.Collect(t.Context(), w, base, m)
	var broken *Error
	if !errors.As(err, &broken) || !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "files over 1 bytes: x-[key]") {
		t.Errorf("%v", err)
	}
}

// TestASecretWrittenOftenCostsLittle: base is asked once, not once a file.
func TestASecretWrittenOftenCostsLittle(t *testing.T) {
	const key = "sk-0123456789-abc"
	f := newFixture(t)
	base := f.commit("base")
	r := f.open()
	w := f.clone(r, base)
	for i := range 300 {
		put(t, filepath.Join(w.Path(), fmt.Sprint("f", i)), key)
	}
	before := f.runs.n.Load()
	m := meta("Try")
	m.Secrets = secret.Set{}.With(key)
	if _, _, err := r.Collect(t.Context(), w, base, m); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "and 292 more") || f.runs.n.Load()-before > 8 {
		t.Errorf("%v; %d programs", err, f.runs.n.Load()-before)
	}
}

func TestCollectedCommitIsReproducible(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	r := f.open()
	w := f.clone(r, base)
	put(t, filepath.Join(w.Path(), "a.txt"), "x\n")
	c, _, err := r.Collect(t.Context(), w, base, meta("Try \x1b[31mred\x00\n\n\nwhy: \xff\tx\r\n\n"))
	f.must(err)
	raw := f.git("cat-file", "commit", c.ID)
	want := "tree " + c.Tree + "\nparent " + base + "\nauthor Ada <ada@example.org> 1772597167 +0100\ncommitter Ada <ada@example.org> 1772597167 +0100\n\nTry ?[31mred?\n\n\nwhy: ?    x"
	if raw != want {
		t.Errorf("got %q\nwant %q", raw, want)
	}
	id, err := r.Recommit(t.Context(), c.ID, "Another")
	f.must(err)
	if got := f.git("cat-file", "commit", id); got != want[:strings.Index(want, "\n\n")]+"\n\nAnother" {
		t.Errorf("recommit %q", got)
	}
}

func TestCommitWithoutIdentity(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	f.must(os.WriteFile(filepath.Join(filepath.Dir(f.dir), "gitconfig"), nil, 0o600))
	r := f.open()
	w := f.clone(r, base)
	put(t, filepath.Join(w.Path(), "a.txt"), "x\n")
	c, _ := f.collect(r, w, base)
	f.must(r.MoveRef(t.Context(), "refs/heads/x", c.ID, ""))
	if got := f.git("log", "-1", "--format=%an <%ae>", "x"); got != "si <si@localhost>" {
		t.Errorf("by %s", got)
	}
}

func TestCollectRefusals(t *testing.T) {
	tests := []struct {
		name string
		make func(f *fixture, dir string)
		want string
	}{
		{"nothing", func(*fixture, string) {}, ErrNoChange.Error()},
		{"only an ignored file and a time", func(f *fixture, dir string) {
			put(f.t, filepath.Join(dir, "x.o"), "x")
			put(f.t, filepath.Join(dir, "a.txt"), "one\n")
		}, ErrNoChange.Error()},
		{"large file", func(f *fixture, dir string) { put(f.t, filepath.Join(dir, "big\x1b"), strings.Repeat("x", 101)) }, "files over 100 bytes: big?"},
		{"repository inside", func(f *fixture, dir string) {
			f.gitIn(dir, "init", "-q", "inner")
			put(f.t, filepath.Join(dir, "inner/x"), "x")
			f.gitIn(filepath.Join(dir, "inner"), "add", "x")
			f.gitIn(filepath.Join(dir, "inner"), "commit", "-qm", "x")
		}, "repositories inside the workspace: inner/"},
		{"many paths", func(f *fixture, dir string) {
			for _, c := range "abcdef" {
				put(f.t, filepath.Join(dir, "many", string(c)), "x")
			}
		}, "more than 5 paths changed: many/a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.write(".gitignore", "*.o\n")
			base := f.commit("base")
			r := f.open()
			w := f.clone(r, base)
			tt.make(f, w.Path())
			c := meta("x")
			c.Limits = Limits{FileBytes: 100, Paths: 5}
			_, _, err := r.Collect(t.Context(), w, base, c)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if errors.Is(err, ErrNoChange) != (tt.want == ErrNoChange.Error()) {
				t.Errorf("ErrNoChange: %v", err)
			}
		})
	}
}

// An agent writes into its clone's git folder whatever makes git run programs.
func TestCollectRunsNothingOfTheAgents(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	r := f.open()
	w := f.clone(r, base)
	trace := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(w.Path(), "evil.sh")
	put(t, script, "#!/bin/sh\ntouch '"+trace+"'\ncat\n")
	f.must(os.Chmod(script, 0o755))
	put(t, filepath.Join(w.Path(), ".gitattributes"), "* filter=evil diff=evil merge=evil\n")
	quoted := "'" + script + "'" // git hands these to a shell
	for _, kv := range [][2]string{
		{"core.fsmonitor", quoted},
		{"filter.evil.clean", quoted},
		{"filter.evil.smudge", quoted},
		{"filter.evil.process", quoted},
		{"diff.external", quoted},
		{"core.hooksPath", "hooks"},
		{"core.worktree", "/"},
		{"core.sshCommand", quoted},
	} {
		f.gitIn(w.Path(), "config", kv[0], kv[1])
	}
	for _, hook := range []string{"post-index-change", "pre-commit", "reference-transaction"} {
		put(t, filepath.Join(w.Path(), ".git/hooks", hook), "#!/bin/sh\ntouch '"+trace+"'\n")
		f.must(os.Chmod(filepath.Join(w.Path(), ".git/hooks", hook), 0o755))
	}
	c, changes := f.collect(r, w, base)
	if len(changes) != 2 {
		t.Errorf("%v", changes)
	}
	m := f.worktree(r, c.ID)
	f.must(m.Reset(t.Context(), base))
	f.must(m.Reset(t.Context(), c.ID))
	absent(t, trace)
	// The trap is armed: git in the clone itself runs it.
	out, _ := f.try(w.Path(), "--work-tree="+w.Path(), "add", "-A")
	if _, err := os.Lstat(trace); err != nil {
		t.Errorf("the trap does not work, so nothing was shown: %s", out)
	}
}

func TestCollectDoesNotFollowAReplacedGitFolder(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	r := f.open()
	w := f.clone(r, base)
	f.must(os.RemoveAll(filepath.Join(w.Path(), ".git")))
	put(t, filepath.Join(w.Path(), ".git"), "gitdir: /nowhere\n")
	put(t, filepath.Join(w.Path(), "a.txt"), "x\n")
	if _, changes := f.collect(r, w, base); len(changes) != 1 {
		t.Errorf("%v", changes)
	}
	outside := t.TempDir()
	put(t, filepath.Join(outside, "index"), "precious")
	f.must(os.Remove(filepath.Join(w.Path(), ".git")))
	f.must(os.Symlink(outside, filepath.Join(w.Path(), ".git")))
	f.must(w.Reset(t.Context(), base))
	if content(t, outside)["index"] != "precious" {
		t.Error("written through a link of the agent's")
	}
	if got := content(t, w.Path())["a.txt"]; got != "one\n" {
		t.Errorf("after Reset %q", got)
	}
}

func TestMerge(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	f.write("a.txt", "tip\n")
	tip := f.commit("tip")
	f.git("checkout", "-q", "-b", "c", base)
	f.write("dir/b.txt", "candidate\n")
	good := f.commit("good")
	f.write("a.txt", "candidate\n")
	f.write("n\newline", "x")
	bad := f.commit("bad")
	before := f.git("for-each-ref") + f.git("status", "--porcelain")
	r := f.open()
	m, err := r.Merge(t.Context(), tip, good, meta("Iteration 1: x (score: 1 → 2)"))
	f.must(err)
	if got := f.git("log", "-1", "--format=%P %s", m.Commit); got != tip+" "+good+" Iteration 1: x (score: 1 → 2)" {
		t.Errorf("%q", got)
	}
	if f.git("show", m.Commit+":a.txt") != "tip" || f.git("show", m.Commit+":dir/b.txt") != "candidate" || f.git("rev-parse", m.Commit+"^{tree}") != m.Tree {
		t.Error("wrong content")
	}
	again, err := r.Merge(t.Context(), tip, good, meta("Iteration 1: x (score: 1 → 2)"))
	if err != nil || again.Commit != m.Commit {
		t.Errorf("not reproducible: %v %v", again, err)
	}
	m, err = r.Merge(t.Context(), tip, bad, meta("x"))
	if err != nil || m.Commit != "" || !reflect.DeepEqual(m.Conflicts, []string{"a.txt"}) {
		t.Errorf("conflict: %+v %v", m, err)
	}
	if after := f.git("for-each-ref") + f.git("status", "--porcelain"); after != before {
		t.Errorf("something moved: %s", after)
	}
	// Where the tip could be moved forward there is a merge all the same.
	m, err = r.Merge(t.Context(), base, good, meta("x"))
	if err != nil || m.Commit == good || m.Tree != f.git("rev-parse", good+"^{tree}") {
		t.Errorf("%+v %v", m, err)
	}
}

// A round of three executors is to cost well under a second of our own time.
func TestProcessesOfARound(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	r := f.open()
	f.must(r.MoveRef(t.Context(), "refs/heads/improve/x", base, ""))
	count := func(what string, most int64, do func()) {
		t.Helper()
		before := f.runs.n.Load()
		do()
		if n := f.runs.n.Load() - before; n > most {
			t.Errorf("%s started %d processes, at most %d are needed", what, n, most)
		}
	}
	var w, m *Workspace
	var c Commit
	count("Clone", 4, func() { w = f.clone(r, base) })
	put(t, filepath.Join(w.Path(), "a.txt"), "x\n")
	count("Collect", 4, func() { c, _ = f.collect(r, w, base) })
	count("MoveRef", 1, func() { f.must(r.MoveRef(t.Context(), "refs/heads/experiment/x", c.ID, "")) })
	count("Worktree", 3, func() { m = f.worktree(r, base) })
	count("Reset", 3, func() { f.must(m.Reset(t.Context(), c.ID)) })
	count("reads", 0, func() {
		_, err := r.Head(t.Context())
		f.must(err)
		_, err = r.Diff(t.Context(), base, c.ID)
		f.must(err)
		_, err = r.TreeOf(t.Context(), c.ID)
		f.must(err)
	})
	count("Fingerprint", 2, func() {
		_, err := r.Fingerprint(t.Context(), nil)
		f.must(err)
	})
}
