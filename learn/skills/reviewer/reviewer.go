// Package reviewer looks back at what an agent did, on a cheap model, and writes down
// what others can use: memories and skills. It only adds. It runs beside the loop: its
// crash, its time-out and its nonsense are a line in the log, and nobody waits for it
// but Close, for a bounded time.
package reviewer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"si/internal/clean"
	"si/internal/secret"
	"si/learn/memory"
	"si/learn/skills"
)

const (
	defaultCalls = 5
	defaultWall  = 5 * time.Minute
	waiting      = 64 // tasks that wait for their review; more are left out
	grace        = time.Second
)

// Settings say whether and when tasks are reviewed. A zero value means its default.
type Settings struct {
	On           bool    `json:"on,omitempty"`             // off by default: it costs model calls
	MinToolCalls int     `json:"min_tool_calls,omitempty"` // tasks with fewer are not reviewed, default 5
	WallSeconds  float64 `json:"wall_seconds,omitempty"`   // of one review, default 300
}

func (s Settings) calls() int {
	if s.MinToolCalls <= 0 {
		return defaultCalls
	}
	return s.MinToolCalls
}

func (s Settings) wall() time.Duration {
	if s.WallSeconds <= 0 {
		return defaultWall
	}
	return time.Duration(min(s.WallSeconds, 86400) * float64(time.Second))
}

// Options are what a reviewer works with.
type Options struct {
	Settings Settings
	Library  *skills.Library
	Memories *memory.Store
	Model    skills.Model        // nil: none is configured, and nothing is reviewed
	Redact   func(string) string // takes secrets out of a text; may be nil
	Done     func(Outcome)       // hears of every review, from the reviewer's goroutine; must not block; may be nil
}

// Task is an agent's task that has ended.
type Task struct {
	ID         string // names it in all of the run: "run/3/executor_a"
	Run        string
	Round      int
	Role       string
	Succeeded  bool
	About      string // what it was to do, in a sentence or two
	Log        string // where its output is, for the provenance
	Transcript *Transcript
}

// Outcome is what came of one review.
type Outcome struct {
	Task      string   `json:"task"`
	Memories  []string `json:"memories,omitempty"`  // ids
	Skills    []string `json:"skills,omitempty"`    // names of new ones
	Proposals []string `json:"proposals,omitempty"` // ids: the names were taken
	Notes     []string `json:"notes,omitempty"`     // what was left out and why
	Err       error    `json:"-"`
}

// Line is the outcome for a log.
func (o Outcome) Line() string {
	text := fmt.Sprintf("review of %s: %d memories, %d skills, %d proposals", o.Task, len(o.Memories), len(o.Skills), len(o.Proposals))
	if o.Err != nil {
		text = fmt.Sprintf("review of %s came to nothing: %v", o.Task, o.Err)
	}
	for _, n := range o.Notes {
		text += "; " + n
	}
	return clean.Line(text, 600)
}

// Reviewer reviews one task after the other, in a goroutine of its own.
type Reviewer struct {
	o      Options
	cancel context.CancelFunc
	queue  chan Task
	ended  chan struct{} // the worker is done
	calls  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	left   int // tasks that were not reviewed
}

// New starts a reviewer; Close ends it.
func New(o Options) *Reviewer {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Reviewer{o: o, cancel: cancel, queue: make(chan Task, waiting), ended: make(chan struct{})}
	go r.work(ctx)
	return r
}

// Qualifies reports whether a task would be reviewed.
func (r *Reviewer) Qualifies(t Task) bool {
	return r.o.Settings.On && r.o.Model != nil && t.Succeeded && t.Transcript != nil && t.Transcript.Calls() >= r.o.Settings.calls()
}

// After takes a task that has ended. It never blocks; queued says whether the task
// will be reviewed.
func (r *Reviewer) After(t Task) (queued bool) {
	if !r.Qualifies(t) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	select {
	case r.queue <- t:
		return true
	default:
		r.left++
		return false
	}
}

// Close waits for the reviews that are under way until ctx ends, then stops them. It
// returns how many tasks were left without a review. Only the first call does it.
func (r *Reviewer) Close(ctx context.Context) (left int) {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	r.mu.Unlock()
	if first {
		close(r.queue)
	}
	select {
	case <-r.ended:
	case <-ctx.Done():
		r.cancel()
		<-r.ended // a cancelled review ends at once, whatever its model does
	}
	r.cancel()
	r.waitForCalls()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}

// waitForCalls gives calls of a model that were given up a moment to notice.
func (r *Reviewer) waitForCalls() {
	gone := make(chan struct{})
	go func() { // ends with the calls; nothing in it can panic
		r.calls.Wait()
		close(gone)
	}()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-gone:
	case <-timer.C:
	}
}

func (r *Reviewer) work(ctx context.Context) {
	defer close(r.ended)
	for t := range r.queue {
		if ctx.Err() != nil {
			r.mu.Lock()
			r.left++
			r.mu.Unlock()
			continue
		}
		r.tell(r.review(ctx, t))
	}
}

func (r *Reviewer) tell(o Outcome) {
	defer func() { _ = recover() }() // the listener's fault is not the reviewer's end
	if r.o.Done != nil {
		r.o.Done(o)
	}
}

// review never panics and ends soon after ctx or its time has ended.
func (r *Reviewer) review(ctx context.Context, t Task) (o Outcome) {
	o.Task = t.ID
	defer func() {
		if p := recover(); p != nil {
			o.Err = fmt.Errorf("it crashed: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, r.o.Settings.wall(), errors.New("it took too long"))
	defer cancel()
	text, err := r.ask(ctx, r.prompt(t))
	if err == nil {
		err = r.keep(ctx, t, text, &o)
	}
	o.Err = err
	return o
}

// ask calls the model and gives it up when ctx ends: a model that does not listen
// costs a goroutine, not the loop.
func (r *Reviewer) ask(ctx context.Context, prompt string) (string, error) {
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	r.calls.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				got <- answer{err: fmt.Errorf("the model's client crashed: %v", p)}
			}
		}()
		text, err := r.o.Model(ctx, skills.SlotReview, prompt)
		got <- answer{text, err}
	})
	select {
	case a := <-got:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (r *Reviewer) redact(text string) string {
	if r.o.Redact != nil {
		text = r.o.Redact(text)
	}
	return secret.Mask(text)
}

func (r *Reviewer) redactAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = r.redact(t)
	}
	return out
}
