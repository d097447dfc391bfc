package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"si/internal/clean"
	"si/internal/proc"
)

// trialLimit is for a machine under heavy load.
const trialLimit = 10 * time.Second

// probe finds the best kind that works.
func (s *Sandbox) probe(ctx context.Context) Report {
	if !helperWorks {
		return noneReport("there is no sandbox for this system yet", nil, nil)
	}
	if s.o.Self == "" || s.o.Run == nil {
		return noneReport("the program does not know its own path", nil, nil)
	}
	g, err := newGround(ctx, s.o.Scratch)
	if err != nil {
		return noneReport(err.Error(), nil, nil)
	}
	defer g.remove()
	var failures, hints []string
	for _, try := range []struct {
		kind Kind
		f    func(context.Context, *ground) (Report, error)
	}{{Bubblewrap, s.tryBwrap}, {Landlock, s.tryLandlock}} {
		if len(s.o.Only) > 0 && !slices.Contains(s.o.Only, try.kind) {
			continue
		}
		r, err := try.f(ctx, g)
		if err == nil {
			r.Failures, r.Advice = failures, hints
			return r
		}
		failures = append(failures, fmt.Sprintf("%s: %v", try.kind, err))
		hints = append(hints, advice(err.Error())...)
	}
	return noneReport("no sandbox works here", failures, hints)
}

// errNoBwrap is a text that advice knows.
var errNoBwrap = errors.New("bwrap is in no folder of PATH")

func (s *Sandbox) tryBwrap(ctx context.Context, g *ground) (Report, error) {
	path, found := findBwrap(s.o.Path)
	if !found {
		return Report{}, errNoBwrap
	}
	s.bwrap = path
	got, err := s.try(ctx, g, Bubblewrap)
	if err != nil && strings.Contains(err.Error(), "--disable-userns") {
		s.keepUserns = true // older than 0.8
		got, err = s.try(ctx, g, Bubblewrap)
	}
	if err != nil {
		return Report{}, err
	}
	if !got[WriteConfined] {
		return Report{}, errors.New("it ran, and a write outside of the writable folder was not refused")
	}
	return bwrapReport(s.bwrapVersion(ctx), got, s.keepUserns), nil
}

func (s *Sandbox) tryLandlock(ctx context.Context, g *ground) (Report, error) {
	s.landlock = landlockVersion()
	if s.landlock == 0 {
		return Report{}, errors.New("the kernel has no Landlock, or it is switched off")
	}
	got, err := s.try(ctx, g, Landlock)
	if err != nil {
		return Report{}, err
	}
	if !got[WriteConfined] {
		return Report{}, errors.New("it ran, and a write outside of the writable folder was not refused")
	}
	return landlockReport(s.landlock, got), nil
}

// try runs a trial in a sandbox of a kind.
func (s *Sandbox) try(ctx context.Context, g *ground, kind Kind) (tried, error) {
	p := g.profile()
	c := proc.Command{Dir: "/", Env: []string{}, Wall: trialLimit, Grace: time.Second}
	o := order{Trial: &g.trial}
	if kind == Landlock {
		p.Bind = nil
	}
	r, err := resolve(p)
	if err != nil {
		return nil, err
	}
	if kind == Landlock {
		if o.Land, err = landOf(p, r); err == nil {
			err = s.intoHelper(&c, o, []string{"trial"})
		}
	} else {
		o.Started = pathBytes(os.DevNull) // nobody waits for news
		err = s.intoBwrap(&c, p, r, o, []string{"trial"}, "/")
		c.Shield = false
	}
	if err != nil {
		return nil, err
	}
	res, err := s.o.Run.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	var got tried
	if res.Outcome != proc.Exited || res.Code != 0 || json.Unmarshal(res.Stdout.Head, &got) != nil {
		return nil, errors.New(saidBy(res))
	}
	return got, nil
}

func (s *Sandbox) bwrapVersion(ctx context.Context) string {
	res, err := s.o.Run.Run(ctx, proc.Command{Path: s.bwrap, Args: []string{"--version"}, Dir: "/", Wall: trialLimit})
	if err != nil || res.Code != 0 {
		return ""
	}
	_, version, _ := strings.Cut(clean.Line(string(res.Stdout.Head), 60), " ")
	return version
}
