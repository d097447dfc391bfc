package cmd

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"si/agents"
	"si/agents/acp"
	"si/agents/anthropic"
	"si/agents/claude"
	"si/agents/codex"
	"si/agents/command"
	"si/agents/httpmodel"
	"si/agents/openai"
	"si/agents/pi"
	"si/agents/price"
	"si/agents/stream"
	"si/agents/tuner"
	"si/internal/proc"
)

// factory makes backends out of their names.
type factory struct {
	world World
	run   proc.Runner
	dir   string // for the files of a task
	open  bool   // nothing enforces the containment of a task
	costs price.Table
}

// newFactory reads the prices of models; those in prices.json of the user's
// configuration folder win over the built-in ones.
func newFactory(w World, run proc.Runner, dir string, open bool) (factory, error) {
	path := ""
	if config, err := w.userDir("XDG_CONFIG_HOME", ".config"); err == nil {
		path = filepath.Join(config, "prices.json")
	}
	costs, err := price.Load(path)
	return factory{world: w, run: run, dir: filepath.Join(dir, "prompts"), open: open, costs: costs}, err
}

// player makes the player that a name stands for, and says what it needs of the
// user's home.
func (f factory) player(name string) (agents.Player, agents.Folders, error) {
	spec, err := parseAgent(name)
	if err != nil {
		return agents.Player{}, agents.Folders{}, err
	}
	p := agents.Player{Name: name, Model: spec.model, Effort: spec.effort}
	var needs agents.Folders
	switch spec.kind {
	case kindTuner:
		p.Backend = tuner.New()
	case kindCommand:
		p.Backend, needs = command.New(f.run, command.Options{Command: spec.line, Dir: f.dir, Now: f.world.Now}), agents.AllFolders()
	case "claude":
		p.Backend, needs = claude.New(f.program()), claude.Folders()
	case "codex":
		p.Backend, needs = codex.New(f.program()), codex.Folders()
	case "pi":
		p.Backend, needs = pi.New(f.program()), pi.Folders()
	case "openai":
		p.Backend = f.server(openai.New, "OPENAI")
	case "anthropic":
		p.Backend = f.server(anthropic.New, "ANTHROPIC")
	case "ollama":
		p.Backend, err = f.ollama()
	default:
		p.Backend, needs, err = f.acp(spec)
	}
	return p, needs, err
}

// program are the options of an agent that is a program of its own.
func (f factory) program() stream.Options {
	return stream.Options{
		Run: f.run, Dir: f.dir, Lookup: f.world.Lookup, Open: f.open, Root: os.Getuid() == 0, Price: f.costs.Cost, Now: f.world.Now,
	}
}

// server makes a backend for a model server: NAME_BASE_URL says where it is, and
// NAME_API_KEY is its key. A server of one's own may want no key.
func (f factory) server(make func(proc.Runner, httpmodel.Options) *httpmodel.Backend, name string) agents.Backend {
	o := f.serverOptions()
	o.BaseURL, o.KeyEnv = f.world.env(name+"_BASE_URL"), name+"_API_KEY"
	key := f.world.env(o.KeyEnv)
	if key == "" && o.BaseURL != "" {
		o.KeyEnv = ""
	}
	return keyed{inner: make(f.run, o), name: o.KeyEnv, key: key}
}

// ollama makes a backend for an Ollama server of this machine, which wants no key.
func (f factory) ollama() (agents.Backend, error) {
	base := agents.OllamaURL(f.world.env("OLLAMA_HOST"))
	if base == "" {
		return nil, usagef("OLLAMA_HOST names another machine; use openai:MODEL, and OPENAI_BASE_URL for its address")
	}
	o := f.serverOptions()
	o.Name, o.BaseURL = "ollama", base+"/v1"
	return openai.New(f.run, o), nil
}

func (f factory) serverOptions() httpmodel.Options {
	return httpmodel.Options{Price: f.costs.Cost, Until: untilIn}
}

// untilIn reads when a limit is lifted; a time without a zone is this machine's.
func untilIn(said string, now time.Time) time.Time { return agents.LimitUntil(said, now, time.Local) }

// acp makes a backend for a program that speaks the Agent Client Protocol.
func (f factory) acp(spec agentSpec) (agents.Backend, agents.Folders, error) {
	profile, known := acp.Find(spec.kind)
	if spec.kind == kindACP {
		profile, known = acp.Command(spec.line), true
	}
	if !known {
		return nil, agents.Folders{}, usagef("nothing is known of the agent %q", spec.text)
	}
	needs := agents.Folders{Writable: profile.Writable, Readable: profile.Readable}
	if spec.kind == kindACP {
		needs = agents.AllFolders()
	}
	return acp.New(f.run, acp.Options{Profile: profile, Version: Version, Lookup: f.world.Lookup, Price: f.costs.Cost, Until: untilIn}), needs, nil
}

// keyed gives a backend its own key, and no other: the variables of a task are what
// every agent gets.
type keyed struct {
	inner     agents.Backend
	name, key string
}

func (k keyed) Run(ctx context.Context, t agents.Task) (agents.Answer, error) {
	if k.name != "" && k.key != "" {
		t.Env = append(slices.DeleteFunc(slices.Clone(t.Env), func(e string) bool { return strings.HasPrefix(e, k.name+"=") }), k.name+"="+k.key)
	}
	return k.inner.Run(ctx, t)
}
