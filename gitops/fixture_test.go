package gitops

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"si/internal/proc"
)

// day is the date of every commit that tests make through this package.
func day() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 3600)) }

// counting counts the git processes that a runner starts.
type counting struct {
	proc.Runner
	n atomic.Int64
}

func (c *counting) Run(ctx context.Context, cmd proc.Command) (proc.Result, error) {
	c.n.Add(1)
	return c.Runner.Run(ctx, cmd)
}

// fixture is a repository in a folder with a blank and a newline in its name.
type fixture struct {
	t    *testing.T
	dir  string
	env  []string
	runs *counting
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, dir: filepath.Join(home, "my \"re\npo\""), runs: &counting{Runner: proc.New(proc.Options{})}}
	f.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "gitconfig")}
	f.must(os.WriteFile(filepath.Join(home, "gitconfig"), []byte("[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"), 0o600))
	f.must(os.CopyFS(f.dir, os.DirFS(firstCommit(t))))
	f.git("update-index", "--refresh") // the copy has other times
	return f
}

// firstCommit gives a repository that fixtures are copied from: a copy is
// cheaper than the git commands that make it.
func firstCommit(t *testing.T) string {
	t.Helper()
	once.Do(func() {
		dir, err := os.MkdirTemp("", "si-gitops-test-")
		if err != nil {
			t.Fatal(err)
		}
		template = dir
		put(t, filepath.Join(dir, "a.txt"), "one\n")
		put(t, filepath.Join(dir, "dir/b.txt"), "two\n")
		for _, args := range [][]string{
			{"init", "-q", "-b", "main"},
			{"add", "-A"},
			{"-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "first"},
		} {
			cmd := exec.CommandContext(t.Context(), "git", args...)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %q: %v\n%s", args, err, out)
			}
		}
	})
	return template
}

var (
	once     sync.Once
	template string
)

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(template)
	os.Exit(code)
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) git(args ...string) string {
	f.t.Helper()
	return f.gitIn(f.dir, args...)
}

func (f *fixture) gitIn(dir string, args ...string) string {
	f.t.Helper()
	out, err := f.try(dir, args...)
	if err != nil {
		f.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

func (f *fixture) try(dir string, args ...string) (string, error) {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(f.env, "GIT_AUTHOR_DATE=@1700000000 +0000", "GIT_COMMITTER_DATE=@1700000000 +0000")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (f *fixture) write(path, content string) {
	f.t.Helper()
	put(f.t, filepath.Join(f.dir, path), content)
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// commit commits everything in the user's checkout and gives the id.
func (f *fixture) commit(msg string) string {
	f.t.Helper()
	f.git("add", "-A")
	f.git("commit", "-q", "--allow-empty", "-m", msg)
	return f.git("rev-parse", "HEAD")
}

func (f *fixture) open() *Repo {
	f.t.Helper()
	r, err := OpenWith(f.t.Context(), f.dir, f.runs, Options{Env: f.env})
	f.must(err)
	f.t.Cleanup(func() {
		if err := r.Close(); err != nil {
			f.t.Error(err)
		}
	})
	return r
}

// root is a folder for workspaces, outside the repository.
func (f *fixture) root() string { return filepath.Join(filepath.Dir(f.dir), "work spaces") }

func (f *fixture) clone(r *Repo, commit string) *Workspace {
	f.t.Helper()
	w, err := r.Clone(f.t.Context(), filepath.Join(f.root(), "agent"), commit)
	f.must(err)
	return w
}

func (f *fixture) worktree(r *Repo, commit string) *Workspace {
	f.t.Helper()
	w, err := r.Worktree(f.t.Context(), filepath.Join(f.root(), "measure"), commit)
	f.must(err)
	return w
}

func meta(msg string) CommitMeta { return CommitMeta{Message: msg, When: day()} }

func (f *fixture) collect(r *Repo, w *Workspace, base string) (Commit, []Change) {
	f.t.Helper()
	c, changes, err := r.Collect(f.t.Context(), w, base, meta("try"))
	f.must(err)
	return c, changes
}

// content maps every file below dir, but the top .git, to its content; links to
// "-> target", executable files get a "*" before it, empty folders "/".
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		switch {
		case d.IsDir():
			if list, err := os.ReadDir(path); err == nil && len(list) == 0 {
				m[rel] = "/"
			}
		case d.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			m[rel] = "-> " + target
			return err
		default:
			data, err := os.ReadFile(path)
			info, _ := d.Info()
			if info.Mode()&0o100 != 0 {
				m[rel] = "*"
			}
			m[rel] += string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
