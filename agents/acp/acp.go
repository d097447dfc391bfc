// Package acp plays roles with any agent program that speaks the Agent Client
// Protocol, version 1: JSON-RPC 2.0, one message a line, over the program's stdin
// and stdout (agentclientprotocol.com). It promises that whatever the program
// sends, memory is bounded and nothing of it is left when Run returns; that a turn
// counts as done only when the program says so; and that every permission is
// answered by the role, at once. It offers the program no files and no terminal:
// programs have their own, inside of their containment.
package acp

import (
	"context"
	"strings"
	"sync"
	"time"

	"si/agents"
	"si/internal/proc"
)

// Options say which program plays.
type Options struct {
	Profile Profile // see Find
	Program string  // name or path, in place of the profile's
	Name    string  // shown to people; the profile's when empty
	Model   string  // when the task names none
	Effort  string  // when the task names none
	Version string  // of si, told to the program

	// Lookup finds the variables that the profile names as keys; nil leaves the
	// task's environment as it is.
	Lookup func(string) (string, bool)

	Price func(model string, u agents.Usage) *float64 // USD, nil when it is not known; nil knows none
	Until func(said string, now time.Time) time.Time  // reads when a limit is lifted out of words; zero when they do not say; may be nil
	Clock Clock                                       // default the machine's
}

func (o Options) withDefaults() Options {
	if o.Program != "" {
		o.Profile.Program = o.Program
	}
	if o.Name == "" {
		o.Name = o.Profile.Name
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Lookup == nil {
		o.Lookup = func(string) (string, bool) { return "", false }
	}
	if o.Price == nil {
		o.Price = func(string, agents.Usage) *float64 { return nil }
	}
	if o.Until == nil {
		o.Until = func(string, time.Time) time.Time { return time.Time{} }
	}
	if o.Clock == nil {
		o.Clock = System{}
	}
	return o
}

// Backend plays roles. It is safe for concurrent use.
type Backend struct {
	run proc.Runner
	o   Options

	mu   sync.Mutex
	args []string // the flags that its version understands, once they are known
}

var _ agents.Backend = (*Backend)(nil)

// New returns a backend that runs the program of o through run.
func New(run proc.Runner, o Options) *Backend { return &Backend{run: run, o: o.withDefaults()} }

// Name is what people call the backend.
func (b *Backend) Name() string { return b.o.Name }

// Run is as promised by agents.Backend. The prompt is the whole conversation: one
// session, one turn.
func (b *Backend) Run(ctx context.Context, t agents.Task) (agents.Answer, error) {
	if strings.TrimSpace(b.o.Profile.Program) == "" {
		return agents.Answer{}, &agents.Failure{
			Kind: agents.FailStart, Role: t.Role, ID: t.ID, What: "no agent program is named for it: name one in si.agents of settings.json",
		}
	}
	s, err := b.begin(ctx, t)
	if err != nil {
		return agents.Answer{}, err
	}
	defer s.close()
	err = s.converse(ctx)
	s.end(ctx, err)
	if err := s.verdict(ctx, err); err != nil {
		return agents.Answer{}, err
	}
	return agents.Answer{Text: s.text.String(), Spent: s.meter.Spent()}.Without(s.secrets), nil
}
