// Package httpmodel plays roles with a model behind an HTTP server: it holds the
// conversation, runs the tools that the model calls, tries again what may pass,
// and names each failure by its class. What a server's words look like is for a
// Wire. It promises that a reply is whole or an error, that memory is bounded
// whatever the server sends, and that the key goes to the server and nowhere
// else. It judges no answer: a schema is asked for, its keeping is checked by
// package agents.
package httpmodel

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"si/agents"
	"si/agents/httpmodel/tools"
	"si/internal/proc"
)

// Options say which server and which model play.
type Options struct {
	Name      string // shown to people; the wire's when empty
	BaseURL   string // of the server; the vendor's when empty
	KeyEnv    string // variable of the task's environment that holds the key; empty for a server that wants none
	Model     string // when the task names none
	Effort    string // when the task names none
	MaxTokens int    // of one reply; 0 leaves it to the wire
	Window    int    // tokens that a conversation may have, 0 for the wire's guess

	Retries     int           // of one request, default 4
	LongestWait time.Duration // beyond which a wait is a usage limit, default 2 min
	ToolWall    time.Duration // of one shell command, default 2 min; a model may ask for up to 10

	Price func(model string, u agents.Usage) *float64 // USD, nil when it is not known; nil knows none
	Until func(said string, now time.Time) time.Time  // reads when a limit is lifted out of words; zero when they do not say; may be nil

	Clock     Clock             // default the machine's
	Jitter    func() float64    // in [0, 1), default random
	Transport http.RoundTripper // default one of its own for each task
}

func (o Options) withDefaults(w Wire) Options {
	if o.Name == "" {
		o.Name = w.Name()
	}
	o.BaseURL = w.Base(o.BaseURL)
	if o.Window == 0 {
		o.Window = w.Window()
	}
	if o.Retries == 0 {
		o.Retries = 4
	}
	if o.LongestWait == 0 {
		o.LongestWait = 2 * time.Minute
	}
	if o.ToolWall == 0 {
		o.ToolWall = 2 * time.Minute
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
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	return o
}

// Backend plays roles. It is safe for concurrent use.
type Backend struct {
	run  proc.Runner
	wire Wire
	o    Options

	mu     sync.Mutex
	quirks map[string]Quirks // by model: what the server was found not to take
}

var _ agents.Backend = (*Backend)(nil)

// New returns a backend that speaks wire, and runs shell commands through run.
func New(run proc.Runner, wire Wire, o Options) *Backend {
	return &Backend{run: run, wire: wire, o: o.withDefaults(wire), quirks: map[string]Quirks{}}
}

// Name is what people call the backend.
func (b *Backend) Name() string { return b.o.Name }

// Run is as promised by agents.Backend.
func (b *Backend) Run(ctx context.Context, t agents.Task) (agents.Answer, error) {
	s, err := b.session(t)
	if err != nil {
		return agents.Answer{}, err
	}
	defer s.close()
	ctx, stop := limitWall(ctx, b.o.Clock, t.Wall)
	defer stop()
	answer, err := s.converse(ctx)
	if err != nil {
		return agents.Answer{}, s.failed(ctx, err)
	}
	answer.Spent = s.meter.Spent()
	return answer.Without(s.hide), nil
}

func (b *Backend) known(model string) Quirks {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.quirks[model]
}

// learn keeps what made a request pass: the next task need not find it out again.
func (b *Backend) learn(model string, q Quirks) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.quirks[model] = q
}

func (b *Backend) shell(t agents.Task, key string) tools.Shell {
	return tools.Shell{
		Run: b.run, Env: withoutKey(t.Env, b.o.KeyEnv, key), Contain: t.Contain, Wall: b.o.ToolWall,
	}
}
