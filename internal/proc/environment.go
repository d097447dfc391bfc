package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// MarkVariable is the environment variable that marks every process of a run.
const MarkVariable = "SI_RUN"

// plan is a command as the system will be asked for it.
type plan struct {
	path   string
	argv   []string
	dir    string // absolute
	env    []string
	grace  time.Duration
	super  bool
	shield bool
	report bool // the command has a fourth file
}

func (l *Local) plan(c Command) (plan, error) {
	if c.Supervised && l.o.Self == "" {
		return plan{}, errors.New("no supervisor: this runner was made without the path of the program (Options.Self)")
	}
	if c.Contain != nil {
		return plan{}, errors.New("contain it: this runner cannot; sandbox.Runner can")
	}
	if c.Shield && !c.Supervised {
		return plan{}, errors.New("shield it from signals: only a supervised command can be")
	}
	if c.Report != nil && !c.Supervised {
		return plan{}, errors.New("take its report: only a supervised command can give one")
	}
	dir, err := folder(c.Dir)
	if err != nil {
		return plan{}, err
	}
	env := environment(c.Env, l.o.Mark)
	path, err := lookPath(c.Path, dir, env)
	if err != nil {
		return plan{}, err
	}
	return plan{
		path: path, argv: append([]string{c.Path}, c.Args...), dir: dir, env: env,
		grace: c.Grace, super: c.Supervised, shield: c.Shield, report: c.Report != nil,
	}, nil
}

// folder makes dir absolute and checks it, because the system reports a missing
// folder as if the program were missing.
func folder(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find folder %q: %w", dir, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("enter its folder: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("enter its folder: %s is not a folder", abs)
	}
	return abs, nil
}

// environment is env with the mark. Of several values for a name the last one
// counts, as in os/exec, so that supervised and unsupervised children agree.
func environment(env []string, mark string) []string {
	last := make(map[string]int, len(env))
	for i, e := range env {
		name, _, _ := strings.Cut(e, "=")
		last[name] = i
	}
	out := make([]string, 0, len(env)+1)
	for i, e := range env {
		name, _, found := strings.Cut(e, "=")
		if found && name != MarkVariable && last[name] == i {
			out = append(out, e)
		}
	}
	return append(out, MarkVariable+"="+mark)
}

// lookPath finds name in env's PATH. Relative entries of PATH are passed over:
// they would let a repository bring its own git.
func lookPath(name, dir string, env []string) (string, error) {
	if name == "" {
		return "", errors.New("no program is named")
	}
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	path := valueOf(env, "PATH")
	for _, d := range filepath.SplitList(path) {
		if full := filepath.Join(d, name); filepath.IsAbs(d) && executable(full) == nil {
			return full, nil
		}
	}
	return "", fmt.Errorf("find the program: it is in none of the folders of PATH (%s); install it or give its full path: %w", path, fs.ErrNotExist)
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	if info.IsDir() || info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("find the program: %s cannot be executed: %w", path, fs.ErrPermission)
	}
	return nil
}

func valueOf(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
