package httpmodel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"si/agents"
	"si/internal/clean"
)

// maxConcessions bounds how often one request is put in another form.
const maxConcessions = 12

// tries counts what was done for one request.
type tries struct {
	waited    int
	broken    int
	conceded  int
	shortened bool
}

// ask gets one whole reply, and tries again what may pass. Its error is a
// *agents.Failure, or why ctx ended.
func (s *session) ask(ctx context.Context, closing bool) (Reply, error) {
	var tr tries
	for {
		r := s.request(closing)
		voice := &speaker{emit: s.emit}
		reply, err := s.client.ask(ctx, r, voice.hear)
		voice.flush()
		if err == nil {
			s.b.learn(s.model, s.quirks)
			s.account(reply)
			return reply, nil
		}
		wait, err := s.again(err, r, &tr)
		if err != nil {
			return Reply{}, err
		}
		if err := sleep(ctx, s.o.Clock, wait); err != nil {
			return Reply{}, err
		}
	}
}

// again says how long to wait before the request is sent again, or gives the
// failure that err is.
func (s *session) again(err error, r Request, tr *tries) (time.Duration, error) {
	var refused *Refusal
	var network *networkError
	var redirect *redirectError
	var malformed *MalformedError
	switch {
	case errors.Is(err, errIdle), errors.Is(err, errWall), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return 0, err
	case errors.As(err, &refused):
		return s.refused(refused, r, tr)
	case errors.As(err, &redirect):
		return 0, s.fail(agents.FailModel, "its server cannot be asked", err)
	case errors.As(err, &network):
		return s.wait(0, tr, s.fail(agents.FailModel, "its server gave no answer", err))
	case errors.Is(err, ErrCut):
		return s.once(tr, s.fail(agents.FailTruncated, "its answer broke off, twice", err))
	case errors.As(err, &malformed):
		return s.once(tr, s.fail(agents.FailModel, "its server was not understood, twice", err))
	}
	return 0, s.fail(agents.FailModel, "its request cannot be made", err)
}

func (s *session) refused(refused *Refusal, r Request, tr *tries) (time.Duration, error) {
	switch refused.class() {
	case classAuth:
		return 0, s.fail(agents.FailAuth, s.aboutKey(), refused)
	case classPlan:
		return 0, s.limited(refused, refused.After)
	case classRate:
		if tr.waited >= s.o.Retries || refused.After > s.o.LongestWait {
			return 0, s.limited(refused, refused.After)
		}
		return s.wait(refused.After, tr, s.fail(agents.FailUsage, "too many requests", refused))
	case classBusy:
		if refused.After > s.o.LongestWait {
			return 0, s.limited(refused, refused.After)
		}
		return s.wait(refused.After, tr, s.fail(agents.FailModel, "its server gave no answer", refused))
	case classContext:
		if !tr.shortened && s.shorten(keepWhenRefused) {
			tr.shortened = true
			return 0, nil
		}
		return 0, s.fail(agents.FailContext, "the conversation is too long for the model", refused)
	case classRequest:
	}
	f := s.fail(agents.FailModel, "its server does not take the request", refused)
	if tr.conceded++; tr.conceded > maxConcessions || !s.b.wire.Concede(&s.quirks, r, refused.Code+" "+refused.Said) {
		return 0, f
	}
	if s.quirks.NoTools && s.t.Role.Edits() {
		return 0, f // without tools it can only talk
	}
	return 0, nil
}

func (s *session) aboutKey() string {
	if s.o.KeyEnv == "" {
		return "its server wants a key: name the variable that holds it in key_env"
	}
	return "its server does not take the key in " + clean.Line(s.o.KeyEnv, 100)
}

// once tries a broken reply a second time.
func (s *session) once(tr *tries, f *agents.Failure) (time.Duration, error) {
	if tr.broken++; tr.broken > 1 {
		return 0, f
	}
	return s.wait(0, tr, f)
}

// wait announces another try, unless there were enough.
func (s *session) wait(after time.Duration, tr *tries, f *agents.Failure) (time.Duration, error) {
	if tr.waited >= s.o.Retries {
		return 0, f
	}
	d := max(after, s.pause(tr.waited))
	tr.waited++
	s.emit(agents.Event{
		Kind: agents.EventRetry, Until: s.o.Clock.Now().Add(d),
		Text: fmt.Sprintf("%s; try %d of %d", clean.Line(reason(f), 300), tr.waited+1, s.o.Retries+1),
	})
	return d, nil
}

func reason(f *agents.Failure) string {
	if f.Err != nil {
		return f.Err.Error()
	}
	return f.What
}

// pause doubles from one second to half a minute, of which up to a half is by
// chance: agents that were refused together are not to come back together.
func (s *session) pause(n int) time.Duration {
	d := min(time.Second<<min(n, 10), 30*time.Second)
	return d/2 + time.Duration(s.o.Jitter()*float64(d/2))
}

// limited is the failure of a usage limit, and says so to whoever watches.
func (s *session) limited(r *Refusal, after time.Duration) *agents.Failure {
	f := s.fail(agents.FailUsage, "its usage limit is reached", r)
	now := s.o.Clock.Now()
	if f.Until = s.o.Until(r.Said, now); after > 0 {
		f.Until = now.Add(min(after, longestWait))
	}
	s.emit(agents.Event{Kind: agents.EventLimit, Text: r.Said, Until: f.Until, Failed: true})
	f.Spent = s.meter.Spent()
	return f
}
