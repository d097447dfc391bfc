package loop

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"si/gitops"
	"si/track"
)

// checkoutGuard watches the user's side of the repository: refs that are not
// ours, HEAD, stash, configuration, hooks, index and the files that were dirty.
// It is safe for concurrent use.
type checkoutGuard struct {
	mu     sync.Mutex
	repo   *gitops.Repo
	events *emitter
	last   gitops.Fingerprint
	seen   sightings // what the summary says
}

// TamperedError says that something of the user's was changed in a way that no
// person's ordinary work explains.
type TamperedError struct {
	Changes []track.CheckoutEvent
	During  string
}

func (e *TamperedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the user's side of the repository was changed during %s:", e.During)
	for _, c := range e.Changes {
		fmt.Fprintf(&b, "\n  %s %s", c.Kind, c.Name)
		if c.Restore != "" {
			fmt.Fprintf(&b, "; to put it back: %s", c.Restore)
		}
	}
	return b.String()
}

func newCheckoutGuard(ctx context.Context, l *Loop) (*checkoutGuard, error) {
	f, err := l.cfg.Repo.Fingerprint(ctx, ours)
	if err != nil {
		return nil, err
	}
	return &checkoutGuard{repo: l.cfg.Repo, events: l.events, last: f}, nil
}

// check compares the user's side with what it was at the last check. Ordinary
// work of a person (a commit, a checkout, an edit) is an event; anything else is
// a *TamperedError.
func (g *checkoutGuard) check(ctx context.Context, round int, during string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, err := g.repo.Fingerprint(ctx, ours)
	if err != nil {
		return err
	}
	differences := g.last.Compare(ctx, now)
	g.last = now
	var bad []track.CheckoutEvent
	for _, d := range differences {
		ev := track.CheckoutEvent{Kind: string(d.Kind), Name: d.Name, Before: d.Before, After: d.After, Restore: d.Restore, Stops: d.Severity == gitops.Tampering}
		if err := g.events.emit(track.EvCheckout, round, during, ev); err != nil {
			return err
		}
		if ev.Stops {
			bad = append(bad, ev)
			continue
		}
		g.seen.saw(fmt.Sprintf("%s %s", d.Kind, d.Name), round)
	}
	if len(bad) > 0 {
		return &TamperedError{Changes: bad, During: during}
	}
	return nil
}
