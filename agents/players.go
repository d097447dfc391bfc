package agents

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Player is a backend that plays a role, by a name that people know it by.
type Player struct {
	Name    string
	Backend Backend
	Model   string // in the backend's own words; its own default when empty
	Effort  string
}

// unsaidLimit is how long a player rests whose usage limit did not say when it ends.
const unsaidLimit = 15 * time.Minute

// bench holds the players of each role, in the order in which they are tried. A
// player that met its usage limit rests until it is lifted, in all its roles.
type bench struct {
	players map[Role][]Player
	now     func() time.Time

	mu    sync.Mutex
	rests map[string]*Failure // by the player's name
}

func newBench(players map[Role][]Player, now func() time.Time) *bench {
	return &bench{players: players, now: now, rests: map[string]*Failure{}}
}

// play lets the first player that can play do the task. One that is at its usage
// limit, is not logged in, cannot be started or has no model gives its place to
// the next; the failure of the last one is returned. When all rest, it is that of
// the one whose limit is lifted first.
func (b *bench) play(ctx context.Context, task Task) (Answer, error) {
	var failed error
	for _, p := range b.players[task.Role] {
		if f := b.resting(p, task); f != nil {
			failed = sooner(failed, f)
			continue
		}
		answer, err := start(ctx, p, task)
		if err == nil || ctx.Err() != nil || !benched(err) {
			return answer, err
		}
		b.rest(p, err)
		failed = sooner(failed, err)
	}
	return Answer{}, failed
}

// start runs one player and tells what it cost.
func start(ctx context.Context, p Player, task Task) (Answer, error) {
	if p.Model != "" {
		task.Model = p.Model
	}
	if p.Effort != "" {
		task.Effort = p.Effort
	}
	if task.Played != nil {
		task.Played(p)
	}
	answer, err := p.Backend.Run(ctx, task)
	if task.Paid != nil {
		spent := answer.Spent
		var f *Failure
		if errors.As(err, &f) {
			spent = f.Spent
		}
		task.Paid(spent)
	}
	if task.Said != nil && err == nil {
		task.Said(answer)
	}
	return answer, err
}

// benched says whether another player may do what this one could not even try.
func benched(err error) bool {
	switch KindOf(err) { //nolint:exhaustive // the others say something about the task, not about who plays
	case FailUsage, FailAuth, FailStart, FailModel:
		return true
	}
	return false
}

// sooner prefers the failure that waiting can mend, and of two such the one that is
// over first.
func sooner(old, next error) error {
	if old == nil {
		return next
	}
	var a, b *Failure
	switch {
	case KindOf(old) != FailUsage:
		return next
	case KindOf(next) != FailUsage:
		return old
	case errors.As(old, &a) && errors.As(next, &b) && a.Until.Before(b.Until):
		return old
	}
	return next
}

// rest remembers a usage limit, and says in the failure itself when it ends.
func (b *bench) rest(p Player, err error) {
	var f *Failure
	if !errors.As(err, &f) || f.Kind != FailUsage {
		return
	}
	if now := b.now(); !f.Until.After(now) {
		f.Until = now.Add(unsaidLimit)
	}
	if p.Name == "" { // nobody to remember
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rests[p.Name] = f
}

// resting returns why the player does not play now, as a failure of this task.
func (b *bench) resting(p Player, task Task) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.rests[p.Name]
	switch {
	case f == nil:
		return nil
	case !f.Until.After(b.now()):
		delete(b.rests, p.Name)
		return nil
	}
	return &Failure{Kind: FailUsage, Role: task.Role, ID: task.ID, What: f.What, Until: f.Until}
}
