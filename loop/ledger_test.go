package loop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"si/agents"
	"si/track"
)

// tale is a journal as it is told, each event some minutes after midnight.
type tale struct {
	t      *testing.T
	ledger *ledger
}

func (w tale) at(minute int, kind track.Kind, round int, data any) {
	w.t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		w.t.Fatal(err)
	}
	when := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(minute) * time.Minute)
	if err := w.ledger.hear(track.Event{TS: when, Ev: kind, Round: round, Data: raw}); err != nil {
		w.t.Fatal(err)
	}
}

func (w tale) task(minute, round int, usd float64) {
	w.t.Helper()
	a := track.AgentEvent{Role: string(agents.Executor), ID: "executor_a", Attempt: 1}
	w.at(minute, track.EvAgentStarted, round, a)
	a.Spent = &track.Spent{CostUSD: &usd}
	w.at(minute+1, track.EvAgentEnded, round, a)
}

// TestABudgetHoldsOverStarts: who is killed or stopped and goes on has not got its
// budgets anew; a run that came to its end has.
func TestABudgetHoldsOverStarts(t *testing.T) {
	for name, tc := range map[string]struct {
		end     track.Status // of the first start; none was a kill
		over    bool
		usd     float64
		runs    int
		minutes float64
	}{
		"killed":         {"", false, 5, 2, 18},
		"stopped":        {track.StatusUserStopped, false, 5, 2, 18},
		"failed":         {track.StatusFailed, false, 5, 2, 18},
		"ended":          {track.StatusBudget, false, 2, 1, 0},
		"target reached": {track.StatusTargetReached, false, 2, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := tale{t, newLedger()}
			w.at(0, track.EvRunStarted, 0, track.RunStarted{})
			w.at(1, track.EvMeasured, 1, track.Sample{})
			w.task(2, 1, 3)
			w.at(10, track.EvParked, 1, track.Parked{})
			w.at(20, track.EvParked, 1, track.Parked{}) // side by side
			w.at(30, track.EvSteered, 1, track.Steered{Act: track.ActResume, Text: "nothing was paused"})
			w.at(50, track.EvUnparked, 1, track.Parked{})
			w.at(70, track.EvUnparked, 1, track.Parked{})
			w.at(74, track.EvSteered, 1, track.Steered{Act: track.ActPause, Text: "pauses before the next step"})
			w.at(75, track.EvSteered, 1, track.Steered{Act: track.ActPause, Waits: track.WaitBegins})
			w.at(80, track.EvSteered, 1, track.Steered{Act: track.ActResume, Waits: track.WaitEnds})
			w.at(83, track.EvMeasured, 1, track.Sample{}) // 18 minutes of work
			if tc.end != "" {
				w.at(83, track.EvRunEnded, 0, track.Summary{Status: tc.end})
			}
			w.at(600, track.EvRunStarted, 0, track.RunStarted{Resumed: true})
			w.task(601, 1, 2)
			if tc.runs == 1 {
				w.at(602, track.EvMeasured, 1, track.Sample{})
			}
			g := w.ledger
			if g.over != tc.over || g.spent.cost != tc.usd || g.rounds[1].cost != tc.usd || g.runs != tc.runs || g.worked.Minutes() != tc.minutes {
				t.Errorf("$%g ($%g in the round), %d runs, %g minutes, over %t; want $%g, %d runs, %g minutes",
					g.spent.cost, g.rounds[1].cost, g.runs, g.worked.Minutes(), g.over, tc.usd, tc.runs, tc.minutes)
			}
		})
	}
}

// TestWhatAKilledAgentToldIsPaid: of an agent that was ended together with the program
// the journal has the start alone; what it told of its cost until then is in its diary.
func TestWhatAKilledAgentToldIsPaid(t *testing.T) {
	paths := track.Paths{Root: t.TempDir()}
	doing := paths.ActivityPath(2, "executor_a", 1)
	if err := os.MkdirAll(filepath.Dir(doing), 0o755); err != nil {
		t.Fatal(err)
	}
	lines := `{"kind":"usage","usage":{"input":10,"output":5},"cost_usd":0.5}
{"kind":"usage","usage":{"input":30,"output":5},"cost_usd":1.5}
{"kind":"usage","usage":{"inp`
	if err := os.WriteFile(doing, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	w := tale{t, newLedger()}
	w.at(0, track.EvRunStarted, 0, track.RunStarted{})
	w.at(1, track.EvAgentStarted, 2, track.AgentEvent{Role: "executor", ID: "executor_a", Attempt: 1, Doing: doing})
	l := &Loop{cfg: Config{Paths: paths}}
	l.takeUp(w.ledger, track.StatusRunning)
	if len(l.broken) != 1 || *l.broken[0].Spent.CostUSD != 1.5 {
		t.Fatalf("broken: %+v", l.broken)
	}
	l.purse.nextRound(2)
	if _, refused := l.purse.start(agents.Executor, track.BudgetOptions{CostUSD: 2}); refused == "" {
		t.Error("a task of $1.5 starts where $0.5 of $2 are left")
	}
	if _, refused := l.purse.start(agents.Executor, track.BudgetOptions{Round: track.RoundBudget{Tokens: 40}}); refused == "" {
		t.Error("a task of 35 tokens starts where the round has 5 left")
	}
	// This start says so in the journal, for the next one: it is counted once.
	w = tale{t, newLedger()}
	w.at(0, track.EvRunStarted, 0, track.RunStarted{})
	w.at(1, track.EvAgentStarted, 2, track.AgentEvent{Role: "executor", ID: "executor_a", Attempt: 1, Doing: doing})
	w.at(2, track.EvRunStarted, 0, track.RunStarted{Broken: l.broken})
	w.at(3, track.EvRunStarted, 0, track.RunStarted{})
	if got := w.ledger.spent.cost; got != 1.5 {
		t.Errorf("the ledger has $%g", got)
	}
}

// TestADiaryTellsOfAllPlayers: where another player took over, what the first one cost is
// paid, too, when the program is killed.
func TestADiaryTellsOfAllPlayers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	d, err := openDiary(path)
	if err != nil {
		t.Fatal(err)
	}
	var p purse
	one, _ := p.start(agents.Executor, track.BudgetOptions{})
	w := &witness{diary: d, bill: one, cut: func(error) {}}
	w.watch(agents.Event{Kind: agents.EventUsage, CostUSD: new(0.5), Usage: &agents.Usage{Output: 10}})
	w.paid(track.Spent{CostUSD: new(1.0), Usage: &agents.Usage{Output: 20}})
	w.watch(agents.Event{Kind: agents.EventUsage, CostUSD: new(0.25)})
	w.watch(agents.Event{Kind: agents.EventText, Text: "on"})
	w.close()
	if s := toldSpent(path); s == nil || *s.CostUSD != 1.25 || s.Usage.Total() != 20 {
		t.Errorf("%+v", s)
	}
}
