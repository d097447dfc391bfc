package gitops

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"si/internal/proc"
)

// bigFiles and bigBytes make a repository of 50,000 files and 95 MB.
const (
	bigFiles = 50_000
	bigBytes = 1_900
)

// BenchmarkWorkspace compares laying our workspaces with git's own "worktree
// add" on a large repository, in one run: ratio is ours over git's.
func BenchmarkWorkspace(b *testing.B) {
	dir := b.TempDir()
	main := filepath.Join(dir, "main")
	run := func(args ...string) {
		cmd := exec.CommandContext(b.Context(), "git", args...)
		cmd.Dir, cmd.Env = main, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for i := range bigFiles {
		path := filepath.Join(main, fmt.Sprintf("d%d", i%250), fmt.Sprintf("f%d.txt", i))
		if i < 250 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(path, []byte(strings.Repeat(fmt.Sprintf("%08d", i), bigBytes/8)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	run("init", "-q", "-b", "main")
	run("add", "-A")
	run("-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-q", "-m", "start")
	repo, err := Open(b.Context(), main, proc.New(proc.Options{Mark: fmt.Sprint("si-bench-", time.Now().UnixNano())}))
	if err != nil {
		b.Fatal(err)
	}
	defer repo.Close()
	head, err := repo.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	timed := func(do func()) float64 {
		start := time.Now()
		do()
		return time.Since(start).Seconds()
	}
	var plain, worktree, clone float64
	b.ResetTimer()
	for i := range b.N {
		plain += timed(func() { run("worktree", "add", "-q", "--detach", filepath.Join(dir, fmt.Sprintf("plain%d", i))) })
		worktree += timed(func() {
			if _, err := repo.Worktree(b.Context(), filepath.Join(dir, fmt.Sprintf("ours%d", i)), head.Commit); err != nil {
				b.Fatal(err)
			}
		})
		clone += timed(func() {
			if _, err := repo.Clone(b.Context(), filepath.Join(dir, fmt.Sprintf("clone%d", i)), head.Commit); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.ReportMetric(plain/float64(b.N), "s-git")
	b.ReportMetric(worktree/plain, "worktree-ratio")
	b.ReportMetric(clone/plain, "clone-ratio")
}
