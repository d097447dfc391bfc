package agents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"si/internal/clean"
	"si/internal/proc"
)

// State says whether a backend can be used, as far as can be seen without asking
// anybody on the network.
type State string

// The states of a backend.
const (
	Missing   State = "missing"
	LoggedOut State = "not logged in" // neither a login nor a key was seen
	Ready     State = "ready"
)

// Candidate is a backend that this machine may have.
type Candidate struct {
	Name    string // as settings name it
	Path    string // of the program, or the server's address
	Version string // "" when it did not say
	State   State
	Hint    string // what to do, or what was seen
}

// versionLimit is how long a program may take to say its version: those that run
// on node need a second or two, eight of them at once more.
const versionLimit = 10 * time.Second

// Found looks for the agent programs that si knows, for keys of hosted models, and
// for a model server on this machine, in the order in which people are shown them.
// Programs are asked for their version, all at once, without keys and with updates
// turned off. Of logins it is only seen whether their file is there.
func Found(ctx context.Context, run proc.Runner, lookup func(string) (string, bool)) []Candidate {
	l := looker{run: run, lookup: lookup}
	programs := knownPrograms()
	out := make([]Candidate, len(programs)+3)
	var all sync.WaitGroup
	each := func(i int, name string, look func() Candidate) {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					out[i] = Candidate{Name: name, State: Missing, Hint: clean.Line(fmt.Sprintf("looking for it went wrong: %v", p), 200)}
				}
			}()
			out[i] = look()
		})
	}
	for i, p := range programs {
		each(i, p.name, func() Candidate { return l.program(ctx, p) })
	}
	each(len(programs), "openai", l.openai)
	each(len(programs)+1, "anthropic", l.anthropic)
	each(len(programs)+2, "ollama", func() Candidate { return l.ollama(ctx) })
	all.Wait()
	return out
}

// looker sees the machine through the user's environment.
type looker struct {
	run    proc.Runner
	lookup func(string) (string, bool)
}

func (l looker) value(name string) string {
	value, _ := l.lookup(name)
	return value
}

func (l looker) program(ctx context.Context, p knownProgram) Candidate {
	c := Candidate{Name: p.name, State: Missing, Hint: "install it: " + p.install}
	command := proc.Command{
		Path: p.program, Args: []string{"--version"}, Dir: os.TempDir(), Env: l.quietEnv(), Wall: versionLimit, Grace: time.Second,
		Stdout: proc.Output{HeadMax: 4 << 10, TailMax: -1}, Stderr: proc.Output{HeadMax: -1, TailMax: 4 << 10},
	}
	path, err := command.Find()
	if err != nil {
		return c
	}
	r, err := l.run.Run(ctx, command)
	said := strings.TrimSpace(clean.Text(r.Stdout.Head))
	if p.other != "" && strings.HasPrefix(strings.ToLower(said), p.other) {
		c.Hint = fmt.Sprintf("%s is another program of this name; %s", clean.Line(path, 200), c.Hint)
		return c
	}
	c.Path, c.Version = path, versionIn(said)
	if err != nil || r.Outcome != proc.Exited || r.Code != 0 {
		c.State, c.Hint = LoggedOut, "it does not run: "+broken(r, err)
		return c
	}
	c.State, c.Hint = l.login(p)
	return c
}

// broken says why a program did not say its version.
func broken(r proc.Result, err error) string {
	switch {
	case err != nil:
		return clean.Line(err.Error(), 200)
	case r.Outcome == proc.TimedOut:
		return fmt.Sprintf("no answer to --version in %s", versionLimit)
	}
	return clean.Line(fmt.Sprintf("--version ended with code %d: %s", r.Code, LastLines(r.Stderr.Tail)), 200)
}

func versionIn(said string) string {
	return clean.Line(regexp.MustCompile(`\d+\.\d+(?:\.\d+)?[\w.+-]*`).FindString(said), 40)
}

// login sees whether there is a key, or the file of a login.
func (l looker) login(p knownProgram) (State, string) {
	for _, name := range p.keys {
		if l.value(name) != "" {
			return Ready, "by " + name
		}
	}
	for _, f := range p.logins {
		if path := l.place(f); path != "" && isFile(path) {
			return Ready, "by " + l.short(path)
		}
	}
	for _, f := range p.settings {
		if path := l.place(f); path != "" && isFile(path) {
			return Ready, "no login was seen; " + l.short(path) + " may name a provider"
		}
	}
	return LoggedOut, p.hint
}

// place is a file below a folder that a variable names, or otherwise below HOME.
func (l looker) place(f homeFile) string {
	if dir := l.value(f.variable); f.variable != "" && filepath.IsAbs(dir) {
		return filepath.Join(dir, filepath.FromSlash(f.inside))
	}
	home := l.value("HOME")
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(f.home), filepath.FromSlash(f.inside))
}

func (l looker) short(path string) string {
	if rest, ok := strings.CutPrefix(path, filepath.Clean(l.value("HOME"))+"/"); ok {
		path = "~/" + rest
	}
	return clean.Line(path, 200)
}

// isFile sees a file without opening it.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// quietEnv has no key in it, and turns off what programs do at their start.
func (l looker) quietEnv() []string {
	env := AgentEnv(l.lookup, nil)
	return append(env, "NO_COLOR=1", "CI=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "PI_OFFLINE=1", "PI_TELEMETRY=0",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "COPILOT_OFFLINE=true")
}
