package cmd

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"si/loop"
	"si/track"
	"si/tui"
)

// steering carries the wishes of a screen to the loop, by the same files as the
// commands do.
type steering struct {
	world World
	place *place
}

// Ask implements tui.Steer.
func (s steering) Ask(_ context.Context, wish tui.Wish) (string, error) {
	if wish.Act == tui.ActIdea {
		old, err := track.LoadIdeas(s.place.paths)
		if err != nil {
			return "", err
		}
		return ideaNoted, s.place.addIdea(s.world, old, wish.Text)
	}
	_, held, err := track.LockHolder(s.place.paths.LockPath())
	if err != nil {
		return "", err
	}
	if !held {
		return "", errors.New("no loop runs on this track; 'si run' starts one")
	}
	req := track.Control{Act: string(wish.Act), When: wish.When, Target: wish.Target, Text: wish.Text}
	return takesEffect(wish), s.place.ask(s.world, req)
}

// takesEffect says when a wish is carried out; the loop itself answers to some.
func takesEffect(wish tui.Wish) string {
	switch wish.Act {
	case tui.ActStop:
		if wish.When == string(loop.StopNow) {
			return "asked: the loop stops now; 'si run --resume' goes on with it"
		}
		return "asked: the loop stops after what runs now; 'si run --resume' goes on with it"
	case tui.ActPause:
		return "asked: the loop waits before its next step"
	case tui.ActResume:
		return "asked: the loop goes on"
	case tui.ActSkip:
		return fmt.Sprintf("asked: %s is ended", wish.Target)
	case tui.ActVeto:
		return fmt.Sprintf("asked: %s does not enter the tournament", wish.Target)
	case tui.ActMeasure:
		return fmt.Sprintf("asked: %s is measured once more at the end of this round's tournament", wish.Target)
	case tui.ActIdea:
	}
	return "asked"
}

// mostPatch bounds what is read of one change, in bytes.
const mostPatch = 1 << 20

// differ reads changes for a screen, one at a time; nil outside a repository.
func (p *place) differ() func(ctx context.Context, from, to string) ([]byte, error) {
	if p.repo == nil {
		return nil
	}
	var one sync.Mutex
	return func(ctx context.Context, from, to string) ([]byte, error) {
		one.Lock()
		defer one.Unlock()
		text, cut, err := p.repo.Patch(ctx, from, to, mostPatch)
		if cut {
			text = append(text, "\n(the change is longer than what is shown here)\n"...)
		}
		return text, err
	}
}
