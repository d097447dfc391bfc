package loop

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"si/agents"
	"si/internal/durable"
	"si/track"
)

// parkedRound is a round with a clock of its own: an alarm rings when the test says so.
func parkedRound(t *testing.T, waitHours float64) (*round, *time.Time, chan time.Duration, chan time.Time) {
	t.Helper()
	now := time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)
	asked, ring := make(chan time.Duration, 1), make(chan time.Time, 1)
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, _, err := track.OpenJournal(&durable.Store{}, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	clock := func() time.Time { return now }
	l := &Loop{
		cfg:    Config{Now: clock, After: func(d time.Duration) <-chan time.Time { asked <- d; return ring }},
		events: &emitter{journal: j, path: path, run: "r1", now: clock}, started: now,
	}
	l.helm = newHelm(l.events, func(error) {})
	l.settings.Value.SI.Agents.WaitHours = waitHours
	return &round{Loop: l, n: 1}, &now, asked, ring
}

func TestParkedUntilTheLimitIsLifted(t *testing.T) {
	r, now, asked, ring := parkedRound(t, 0)
	failure := &agents.Failure{Kind: agents.FailUsage, What: "5-hour limit reached", Until: now.Add(4 * time.Hour)}
	done := make(chan error, 1)
	go func() {
		waited, err := r.park(t.Context(), agents.Task{Role: agents.Planner, ID: "planner_a"}, failure, &patience{})
		if err == nil && !waited {
			err = errors.New("it did not wait")
		}
		done <- err
	}()
	if d := <-asked; d != 4*time.Hour {
		t.Errorf("the alarm is set to %s", d)
	}
	*now = now.Add(4 * time.Hour)
	ring <- *now
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if r.parked() != 4*time.Hour {
		t.Errorf("parked for %s, which must not count as work", r.parked())
	}
	r.settings.Value.SI.Budget.WallHours = 1
	if why := r.hoursSpent(); why != "" {
		t.Errorf("waiting spent the budget of time: %s", why)
	}
}

func TestALimitThatIsTooFarEndsTheRunInstead(t *testing.T) {
	for hours, wait := range map[float64]time.Duration{0: 7 * time.Hour, -1: time.Minute, 2: 3 * time.Hour} {
		r, now, _, _ := parkedRound(t, hours)
		waited, err := r.park(t.Context(), agents.Task{ID: "planner_a"}, &agents.Failure{Kind: agents.FailUsage, Until: now.Add(wait)}, &patience{})
		if waited || err != nil || r.purse.spent(track.BudgetOptions{}) == "" {
			t.Errorf("wait_hours %g, limit in %s: waited %t, %v, and the run goes on: %q", hours, wait, waited, err, r.purse.spent(track.BudgetOptions{}))
		}
	}
}

func TestAStopEndsTheWait(t *testing.T) {
	r, now, asked, _ := parkedRound(t, 0)
	done := make(chan error, 1)
	go func() {
		_, err := r.park(t.Context(), agents.Task{ID: "planner_a"}, &agents.Failure{Kind: agents.FailUsage, Until: now.Add(time.Hour)}, &patience{})
		done <- err
	}()
	<-asked
	r.helm.apply(track.Control{Act: track.ActStop})
	if err := <-done; !errors.Is(err, errStop) {
		t.Errorf("%v", err)
	}
}

func TestOtherFailuresDoNotPark(t *testing.T) {
	r, _, _, _ := parkedRound(t, 0)
	for _, kind := range []agents.FailureKind{agents.FailExit, agents.FailAuth, agents.FailModel} {
		if waited, err := r.park(context.Background(), agents.Task{}, &agents.Failure{Kind: kind}, &patience{}); waited || err != nil {
			t.Errorf("%s: %t %v", kind, waited, err)
		}
	}
	if _, err := os.Stat(r.events.path); err != nil {
		t.Fatal(err)
	}
}

// TestALimitThatIsNeverLifted: an agent that says each time that it may go on in a
// second costs neither the night nor a full journal.
func TestALimitThatIsNeverLifted(t *testing.T) {
	for name, c := range map[string]struct {
		works bool // between two limits
		ends  bool // the run, not just the task
		parks int
	}{
		"and nothing is done":   {ends: true, parks: 120}, // two hours, a minute each but the first
		"in the middle of work": {works: true, parks: mostParks},
	} {
		t.Run(name, func(t *testing.T) {
			r, now, asked, ring := parkedRound(t, 2)
			var p patience
			task := agents.Task{ID: "executor_a"}
			p.watching(&task)
			parks := 0
			for ; parks < 1000; parks++ {
				if c.works {
					task.Watch(agents.Event{Kind: agents.EventToolStart})
				}
				done := make(chan bool, 1)
				go func() {
					waited, err := r.park(t.Context(), task, &agents.Failure{Kind: agents.FailUsage, Until: now.Add(time.Second)}, &p)
					done <- waited && err == nil
				}()
				waited := false
				select {
				case d := <-asked:
					*now = now.Add(d)
					ring <- *now
					waited = <-done
				case waited = <-done:
				}
				if !waited {
					break
				}
			}
			if ended := r.purse.spent(track.BudgetOptions{}) != ""; parks != c.parks || ended != c.ends {
				t.Errorf("%d waits, want %d; the run ends: %t (%s)", parks, c.parks, ended, r.purse.spent(track.BudgetOptions{}))
			}
		})
	}
}
