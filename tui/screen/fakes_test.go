package screen

import (
	"context"
	"errors"
	"sync"

	"si/tui"
)

// asked remembers what was asked of the loop.
type asked struct {
	mu     sync.Mutex
	wishes []tui.Wish
	fail   bool
}

func (a *asked) Ask(_ context.Context, w tui.Wish) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail {
		return "", errors.New("the disk is full")
	}
	a.wishes = append(a.wishes, w)
	return "asked: it takes effect", nil
}

func (a *asked) all() []tui.Wish {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]tui.Wish(nil), a.wishes...)
}
