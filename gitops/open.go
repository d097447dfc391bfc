// Package gitops works on the target repository: it reads it, moves refs that
// are ours, lays workspaces and merges, and notices when the user's side was
// touched. It promises that the user's checkout, index, configuration, hooks,
// stash and refs are changed by nothing that it does (one line in info/exclude
// excepted), that git never runs with a configuration that an agent or a
// benchmark could write, and that a kill at any instant leaves nothing that a
// later call cannot adopt or clear away. It does not lock a track: one loop for
// each root of workspaces is the caller's promise.
package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"si/internal/proc"
)

// oldest is the first version with merge-tree --write-tree.
const oldest = "2.38"

// Options of OpenWith.
type Options struct {
	// Env is the environment that git may see parts of, nil for the program's own.
	Env []string
}

// Repo is a target repository. It is safe for concurrent use.
type Repo struct {
	git     program
	top     string // the user's checkout
	gitDir  string // its git folder
	common  string // the git folder that all its worktrees share
	format  string // sha1 or sha256
	conf    map[string]string
	read    reader
	admin   sync.Mutex    // held while git writes below .git/worktrees or .git/info
	laying  chan struct{} // at most two checkouts at once: eight took 90 s on a disk
	trash   bin
	trees   treeCache
	exclude map[string]bool // lines of info/exclude that are ours, guarded by admin
	own     []string        // paths in the checkout that are ours, guarded by admin
	index   indexCache
	seen    statusMemo
	lender  lender
	now     func() time.Time // tells what was just written from what is old
}

// Open opens the repository that dir lies in, with the program's own
// environment. What makes it unusable is an *Error that says what to do.
func Open(ctx context.Context, dir string, run proc.Runner) (*Repo, error) {
	return OpenWith(ctx, dir, run, Options{})
}

// OpenWith is Open with options.
func OpenWith(ctx context.Context, dir string, run proc.Runner, o Options) (*Repo, error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	r := &Repo{
		git: program{run: run, base: o.Env}, laying: make(chan struct{}, 2), exclude: map[string]bool{}, now: time.Now,
	}
	if err := r.git.checkVersion(ctx, abs); err != nil {
		return nil, err
	}
	if err := r.locate(ctx, abs); err != nil {
		return nil, err
	}
	if r.conf, err = r.configured(ctx); err != nil {
		return nil, err
	}
	r.read = r.newReader()
	if _, err := r.Head(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// Toplevel is the root of the user's checkout.
func (r *Repo) Toplevel() string { return r.top }

// GitDir is the git folder of the user's checkout.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir is the git folder that all worktrees share.
func (r *Repo) CommonDir() string { return r.common }

// Close waits for what is being deleted in the background and says what could
// not be.
func (r *Repo) Close() error { return r.trash.wait() }

// here is the user's checkout, for reading only.
func (r *Repo) here() place { return place{gitDir: r.gitDir, workTree: r.top} }

// store is the shared repository without any working tree.
func (r *Repo) store() place { return place{gitDir: r.common} }

func (p program) checkVersion(ctx context.Context, dir string) error {
	const op = "open repository"
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &Error{Op: op, Path: dir, Msg: "no such folder", Hint: "give the folder of a git repository", Err: ErrNotRepository}
	}
	v, err := p.line(ctx, call{op: op, path: dir, dir: dir, args: []string{"version"}})
	if err != nil {
		return err
	}
	v = strings.TrimPrefix(v, "git version ")
	parts := strings.SplitN(v, ".", 3)
	if len(parts) < 2 {
		return &Error{Op: op, Path: dir, Msg: "git says an unknown version: " + printable(v), Err: ErrOldGit}
	}
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	if major < 2 || major == 2 && minor < 38 {
		return &Error{Op: op, Path: dir, Msg: "git " + printable(v) + " is too old", Hint: "install git " + oldest + " or newer", Err: ErrOldGit}
	}
	return nil
}

// locate asks git where things are. Fixed answers come first and each path
// alone: a folder's name may hold a newline.
func (r *Repo) locate(ctx context.Context, dir string) error {
	const op = "open repository"
	ask := func(args ...string) (string, error) {
		args = append([]string{"rev-parse", "--path-format=absolute"}, args...)
		return r.git.line(ctx, call{op: op, path: dir, dir: dir, args: args})
	}
	facts, err := ask("--is-bare-repository", "--is-shallow-repository", "--show-object-format")
	if err != nil {
		return distrust(dir, err)
	}
	said := strings.Split(facts, "\n")
	if len(said) != 3 {
		return &Error{Op: op, Path: dir, Msg: "git gave an unknown answer: " + printable(facts)}
	}
	if said[0] == "true" {
		return wrong(op, dir, ErrBare, "clone it and give the clone's folder")
	}
	if said[1] == "true" {
		return wrong(op, dir, ErrShallow, "run: git fetch --unshallow")
	}
	r.format = said[2]
	for into, flag := range map[*string]string{&r.top: "--show-toplevel", &r.gitDir: "--absolute-git-dir", &r.common: "--git-common-dir"} {
		if *into, err = ask(flag); err != nil {
			var e *Error
			if errors.As(err, &e) && flag == "--show-toplevel" {
				return &Error{Op: op, Path: dir, Msg: "this folder is inside a git folder, not a checkout", Hint: "give the folder of the checkout", Err: ErrNotRepository}
			}
			return err
		}
	}
	return nil
}

// distrust turns git's refusals to open into ours, with git's own advice.
func distrust(dir string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case strings.Contains(e.Msg, "dubious ownership"):
		e.Err = ErrOwnership
		e.Hint = "if you trust it, run: git config --global --add safe.directory " + shellQuote(dir)
	case strings.Contains(e.Msg, "not a git repository"):
		e.Err, e.Msg = ErrNotRepository, ""
		e.Hint = "give the folder of a repository, or run git init and commit there first"
	}
	return e
}

// copied are the settings that decide how bytes are laid; a clone gets them, so
// that git status is clean there too.
var copied = []string{
	"core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.symlinks", "core.ignorecase",
	"core.precomposeunicode",
}

// configured reads once the few settings that matter here; the last value wins.
func (r *Repo) configured(ctx context.Context) (map[string]string, error) {
	pattern := `^(core\.(autocrlf|eol|safecrlf|filemode|symlinks|ignorecase|precomposeunicode|sshcommand|hookspath)|extensions\..*|user\.(name|email))$`
	a, err := r.git.git(ctx, call{
		op: "read the configuration of", path: r.top, in: r.here(), codes: []int{1},
		args: []string{"config", "-z", "--get-regexp", pattern},
	})
	if err != nil {
		return nil, err
	}
	conf := map[string]string{}
	for _, kv := range fields(a.out) {
		key, value, _ := strings.Cut(kv, "\n")
		if key == "core.hookspath" && value == "/dev/null" {
			continue // our own, given on the command line
		}
		conf[key] = value
	}
	return conf, nil
}

// shellQuote makes a word that a shell reads back as s.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@=+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
