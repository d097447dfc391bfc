package proposals

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"si/internal/clean"
	"si/learn/place"
)

// Approve does what a proposal says and then records that a person wanted it. In
// this order a crash between both is healed by approving again. allow says whether a
// path may be written at all: a proposal may be older than the policy.
func Approve(ctx context.Context, p place.Place, id string, at time.Time, allow func(path string) error) (Proposal, error) {
	return decide(ctx, p, id, func(one *Proposal) error {
		for _, f := range one.Files {
			if err := allow(f.Path); err != nil {
				return err
			}
			if err := f.fits(p); err != nil {
				return err
			}
		}
		for _, f := range one.Files {
			if err := f.apply(p); err != nil {
				return err
			}
		}
		one.State, one.Since = Approved, at.UTC()
		return nil
	})
}

// Reject puts a proposal aside for good, with the reason that later retrospectives
// are shown.
func Reject(ctx context.Context, p place.Place, id, reason string, at time.Time) (Proposal, error) {
	reason = clean.Line(reason, maxText+1)
	if n := utf8.RuneCountInString(reason); n == 0 || n > maxText {
		return Proposal{}, fmt.Errorf("reject %s: the reason has %d code points, want 1 to %d: it is what keeps the same from being proposed again", id, n, maxText)
	}
	return decide(ctx, p, id, func(one *Proposal) error {
		one.State, one.Said, one.Since = Rejected, reason, at.UTC()
		return nil
	})
}

func decide(ctx context.Context, p place.Place, id string, how func(*Proposal) error) (Proposal, error) {
	release, err := p.Lock(ctx)
	if err != nil {
		return Proposal{}, err
	}
	defer release()
	one, err := Get(p, id)
	if err != nil {
		return one, err
	}
	if one.State != Pending {
		return one, fmt.Errorf("the proposal %s was %s on %s; it cannot be decided again", id, one.State, one.Since.Format(time.DateOnly))
	}
	if err := how(&one); err != nil {
		return one, fmt.Errorf("decide about the proposal %s: %w", id, err)
	}
	return one, save(p, one)
}

// fits reports whether the file is as the proposal saw it, or already as it wants
// it.
func (f File) fits(p place.Place) error {
	data, err := p.Read(f.Path)
	if err != nil {
		return err
	}
	if now := Hash(data); now != f.Before && now != f.after() {
		return fmt.Errorf("%s: %w", f.Path, ErrChanged)
	}
	return nil
}

func (f File) after() string {
	if f.Content == nil {
		return ""
	}
	return Hash([]byte(*f.Content))
}

func (f File) apply(p place.Place) error {
	if f.Content == nil {
		return p.Remove(f.Path)
	}
	return p.Write(f.Path, []byte(*f.Content))
}

// Follow takes over into one checkout what a person decided in another: the loop
// works in its own, people decide in theirs. It returns what it took over; a proposal
// whose files changed since stays pending and is told in faults.
func Follow(ctx context.Context, to, from place.Place, allow func(path string) error) (taken []Proposal, faults []string, err error) {
	here, _, err := List(to)
	if err != nil {
		return nil, nil, err
	}
	there, _, err := List(from)
	if err != nil {
		return nil, nil, err
	}
	for _, one := range here {
		i := slices.IndexFunc(there, func(o Proposal) bool { return o.Digest == one.Digest && o.State != Pending })
		if one.State != Pending || i < 0 {
			continue
		}
		done := there[i]
		if done.State == Approved {
			done, err = Approve(ctx, to, one.ID, done.Since, allow)
		} else {
			done, err = Reject(ctx, to, one.ID, done.Said, done.Since)
		}
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		taken = append(taken, done)
	}
	return taken, faults, nil
}

// Keep writes a proposal that was made in another checkout down in this one, so that
// it can be decided about here. One that is here already is left alone.
func Keep(ctx context.Context, p place.Place, one Proposal) error {
	if err := one.check(); err != nil {
		return fmt.Errorf("keep the proposal %.40s: %w", one.ID, err)
	}
	release, err := p.Lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	old, err := p.Read(p.Proposals() + "/" + one.ID + ".json")
	if err != nil || old != nil {
		return err
	}
	return save(p, one)
}
