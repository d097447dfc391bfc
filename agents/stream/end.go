package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"si/agents"
	"si/internal/clean"
	"si/internal/proc"
)

// end makes the answer of a run, or its failure. The final event counts most: a
// program that said that it was done may then have been ended by its task's
// limits, by the user or by us. A context that was cancelled is returned as its
// error, with what the run had cost.
func (s *session) end(ctx context.Context, r proc.Result, runErr error) (agents.Answer, error) {
	if s.stop != nil {
		s.stop()
	}
	if runErr != nil && r.Outcome == "" {
		if ctx.Err() != nil {
			return agents.Answer{}, ctx.Err()
		}
		return agents.Answer{}, s.failure(r, agents.FailStart, "it cannot be run", runErr)
	}
	v := s.d.End(Exit{Outcome: r.Outcome, Code: r.Code})
	if lost := s.lost(); lost != "" {
		s.emit(agents.Event{Kind: agents.EventNotice, Text: lost})
	}
	if v.Kind == "" && runErr == nil {
		return agents.Answer{Text: v.Text, JSON: v.JSON, Spent: s.meter.Spent()}.Without(s.hide), nil
	}
	if ctx.Err() != nil && r.Outcome == proc.Cancelled {
		return agents.Answer{Spent: s.meter.Spent()}, ctx.Err()
	}
	return agents.Answer{}, s.failed(r, v, runErr)
}

// failed names a failure: a limit of the task explains a stream that broke off,
// and what the stream says explains an exit code.
func (s *session) failed(r proc.Result, v Verdict, runErr error) *agents.Failure {
	silent := v.Kind == "" || v.Kind == agents.FailTruncated // the stream gives no reason
	switch {
	case v.Kind == "":
		return s.failure(r, agents.FailExit, "not all of it could be ended or read", runErr)
	case s.limit != "":
		return s.failure(r, agents.FailLimit, s.limit, runErr)
	case silent && r.Outcome == proc.TimedOut:
		return s.failure(r, agents.FailTimeout, fmt.Sprintf("ended after its limit of %s", s.t.Wall), runErr)
	case silent && r.Outcome == proc.IdledOut:
		return s.failure(r, agents.FailIdle, fmt.Sprintf("ended after %s without output", s.t.Idle), runErr)
	case silent && r.Outcome == proc.Signaled:
		return s.failure(r, agents.FailExit, "ended by the signal "+r.Signal, runErr)
	case silent && r.Outcome == proc.Exited && r.Code != 0:
		return s.unexplained(r, runErr)
	}
	f := s.failure(r, v.Kind, v.What, errors.Join(runErr, s.words(v.Said)))
	f.Until, f.Said = v.Until, ""
	if v.Kind == agents.FailTruncated {
		f.Said = s.said(r)
	}
	if v.Kind == agents.FailUsage {
		s.emit(agents.Event{Kind: agents.EventLimit, Text: cmp.Or(v.Said, v.What), Until: v.Until, Failed: true})
		f.Spent = s.meter.Spent()
	}
	return f
}

// unexplained is an exit code without a word on stdout: the reason, mostly that
// the program is not set up, stands on stderr.
func (s *session) unexplained(r proc.Result, runErr error) *agents.Failure {
	kind, what := agents.FailExit, fmt.Sprintf("exit code %d", r.Code)
	if said := s.said(r); s.meter.Spent().Session == "" && agents.SaidWhy(said) == agents.FailAuth {
		kind, what = agents.FailAuth, "it is not logged in, or its key is not taken (exit code "+fmt.Sprint(r.Code)+")"
	}
	return s.failure(r, kind, what, runErr)
}

// words are the program's own, as an error.
func (s *session) words(said string) error {
	if said == "" {
		return nil
	}
	return errors.New(clean.Line(s.hide.Mask(said), 500))
}

func (s *session) failure(r proc.Result, kind agents.FailureKind, what string, err error) *agents.Failure {
	f := failure(s.t, kind, s.harmless(what), err)
	f.Code, f.Said, f.Spent = r.Code, s.said(r), s.meter.Spent()
	return f.Without(s.hide)
}

// said is the last lines of stderr. Those of stdout are JSON, which says nothing to
// people, unless nothing else was said.
func (s *session) said(r proc.Result) string {
	return cmp.Or(agents.LastLines(r.Stderr.Tail), agents.LastLines(r.Stdout.Tail))
}

func failure(t agents.Task, kind agents.FailureKind, what string, err error) *agents.Failure {
	return &agents.Failure{Kind: kind, Role: t.Role, ID: t.ID, What: what, Log: t.Log, Err: err}
}
