package agents

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// actor is a backend with one answer, and a count of its runs.
type actor struct {
	runs   int
	err    error
	answer string
	model  string
}

func (a *actor) Run(_ context.Context, t Task) (Answer, error) {
	a.runs++
	a.model = t.Model
	return Answer{Text: a.answer, Spent: Spent{Tools: a.runs}}, a.err
}

func failed(kind FailureKind, until time.Time) error {
	return &Failure{Kind: kind, What: string(kind), Until: until, Spent: Spent{Tools: 7}}
}

func TestWhoStandsInForWhom(t *testing.T) {
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name         string
		first        error
		second       error
		played       []string
		want         FailureKind
		until        time.Time
		againPlayed  []string // the next task, at the same minute
		afterAnHour  []string
		secondAbsent bool
	}{
		{name: "the first plays", played: []string{"a"}, againPlayed: []string{"a"}, afterAnHour: []string{"a"}},
		{name: "at its limit", first: failed(FailUsage, noon.Add(30*time.Minute)), played: []string{"a", "b"}, againPlayed: []string{"b"}, afterAnHour: []string{"a", "b"}},
		{name: "not logged in", first: failed(FailAuth, time.Time{}), played: []string{"a", "b"}, againPlayed: []string{"a", "b"}, afterAnHour: []string{"a", "b"}},
		{name: "a bad answer is no reason", first: failed(FailAnswer, time.Time{}), played: []string{"a"}, want: FailAnswer, againPlayed: []string{"a"}, afterAnHour: []string{"a"}},
		{name: "both at their limits: the sooner", first: failed(FailUsage, noon.Add(30*time.Minute)), second: failed(FailUsage, noon.Add(20*time.Minute)), played: []string{"a", "b"}, want: FailUsage, until: noon.Add(20 * time.Minute), againPlayed: nil, afterAnHour: []string{"a", "b"}},
		{name: "the limit says no time", first: failed(FailUsage, time.Time{}), secondAbsent: true, played: []string{"a"}, want: FailUsage, until: noon.Add(unsaidLimit), againPlayed: nil, afterAnHour: []string{"a"}},
		{name: "waiting mends one", first: failed(FailUsage, noon.Add(time.Minute)), second: failed(FailStart, time.Time{}), played: []string{"a", "b"}, want: FailUsage, until: noon.Add(time.Minute), againPlayed: []string{"b"}, afterAnHour: []string{"a", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := noon
			players := []Player{{Name: "a", Backend: &actor{err: c.first}}, {Name: "b", Backend: &actor{err: c.second}}}
			if c.secondAbsent {
				players = players[:1]
			}
			b := newBench(map[Role][]Player{Planner: players}, func() time.Time { return now })
			play := func() ([]string, error) {
				var names []string
				_, err := b.play(t.Context(), Task{Role: Planner, ID: "planner_a", Played: func(p Player) { names = append(names, p.Name) }})
				return names, err
			}
			names, err := play()
			var f *Failure
			errors.As(err, &f)
			if !slices.Equal(names, c.played) || KindOf(err) != c.want || f != nil && !f.Until.Equal(c.until) {
				t.Errorf("played %v, error %v, until %v", names, err, f)
			}
			if names, _ := play(); !slices.Equal(names, c.againPlayed) {
				t.Errorf("the next task was played by %v, want %v", names, c.againPlayed)
			}
			now = noon.Add(time.Hour)
			if names, _ := play(); !slices.Equal(names, c.afterAnHour) {
				t.Errorf("an hour later %v played, want %v", names, c.afterAnHour)
			}
		})
	}
}

func TestEveryStartIsPaidFor(t *testing.T) {
	players := []Player{{Name: "a", Backend: &actor{err: failed(FailModel, time.Time{})}}, {Name: "b", Backend: &actor{}, Model: "small"}}
	b := newBench(map[Role][]Player{Planner: players}, time.Now)
	var paid []int
	if _, err := b.play(t.Context(), Task{Role: Planner, Paid: func(s Spent) { paid = append(paid, s.Tools) }}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(paid, []int{7, 1}) {
		t.Errorf("paid %v: the first failed for 7, the second cost 1", paid)
	}
	if m := players[1].Backend.(*actor).model; m != "small" {
		t.Errorf("the second was asked for the model %q", m)
	}
}
