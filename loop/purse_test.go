package loop

import (
	"strings"
	"testing"

	"si/agents"
	"si/track"
)

func cost(usd float64, tokens int64) track.Spent {
	return track.Spent{CostUSD: &usd, Usage: &track.Usage{Input: tokens}}
}

// work lets one task of the role cost what it costs.
func work(t *testing.T, p *purse, role agents.Role, b track.BudgetOptions, spent track.Spent) {
	t.Helper()
	bill, refused := p.start(role, b)
	if refused != "" {
		t.Fatalf("%s was refused: %s", role, refused)
	}
	bill.pay(spent)
	bill.close()
}

func TestABudgetIsPassedByOneReservationAtMost(t *testing.T) {
	b := track.BudgetOptions{CostUSD: 10, Task: track.TaskBudget{CostUSD: 3}}
	var p purse
	var bills []*bill
	started := 0
	for range 10 { // side by side: none has told its cost yet
		one, refused := p.start(agents.Executor, b)
		if refused != "" {
			continue
		}
		started++
		one.pay(cost(3, 0))
		bills = append(bills, one)
	}
	for _, one := range bills {
		one.close()
	}
	if started < 2 || p.run.spent.cost > 10 || p.run.aside != (amount{}) {
		t.Errorf("%d tasks of $3 were started within $10, $%.2f spent, %+v still set aside", started, p.run.spent.cost, p.run.aside)
	}
}

func TestWhatStartsWithinABudget(t *testing.T) {
	for _, c := range []struct {
		name   string
		budget track.BudgetOptions
		before []track.Spent // of researchers, then one more starts
		want   string        // part of the refusal
		ends   bool          // the run ends with it
	}{
		{name: "no budget", before: []track.Spent{cost(1000, 1e9)}},
		{name: "enough is left", budget: track.BudgetOptions{CostUSD: 3}, before: []track.Spent{cost(1, 0)}},
		{name: "less is left than the dearest took", budget: track.BudgetOptions{CostUSD: 3}, before: []track.Spent{cost(2, 0)}, want: "the budget of $3.00 of the run", ends: true},
		{name: "tokens", budget: track.BudgetOptions{Tokens: 100}, before: []track.Spent{cost(0, 60)}, want: "100 tokens of the run", ends: true},
		{name: "of a round", budget: track.BudgetOptions{Round: track.RoundBudget{Tokens: 100}}, before: []track.Spent{cost(0, 60)}, want: "100 tokens of a round"},
		{name: "spent to the cent, and the role is new", budget: track.BudgetOptions{CostUSD: 2, Task: track.TaskBudget{CostUSD: 0.5}}, before: []track.Spent{cost(0.5, 0), cost(0.5, 0), cost(0.5, 0), cost(0.5, 0)}, want: "$2.00 of the run", ends: true},
		{name: "a cost that nobody knows", budget: track.BudgetOptions{CostUSD: 1}, before: []track.Spent{{}, {}, {}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p purse
			for _, s := range c.before {
				work(t, &p, agents.Researcher, c.budget, s)
			}
			_, refused := p.start(agents.Researcher, c.budget)
			if refused == "" != (c.want == "") || !strings.Contains(refused, c.want) {
				t.Errorf("refused %q, want %q", refused, c.want)
			}
			if ends := p.spent(c.budget) != ""; ends != c.ends {
				t.Errorf("the run ends: %t (%s), want %t", ends, p.spent(c.budget), c.ends)
			}
			p.nextRound(2)
			if _, refused := p.start(agents.Researcher, c.budget); refused != "" != c.ends {
				t.Errorf("in the next round refused %q", refused)
			}
		})
	}
}

func TestWhoTellsItsCostIsEndedAtTheBudget(t *testing.T) {
	b := track.BudgetOptions{Tokens: 100}
	var p purse
	one, _ := p.start(agents.Executor, b)
	two, _ := p.start(agents.Executor, b)
	for _, c := range []struct {
		bill *bill
		used int64 // by its run so far
		over bool
	}{{one, 40, false}, {two, 40, false}, {one, 60, false}, {two, 41, true}, {one, 60, true}} {
		if why := c.bill.tell(cost(0, c.used)); why != "" != c.over {
			t.Errorf("at %d tokens: %q", c.used, why)
		}
	}
	one.pay(cost(0, 61))
	two.pay(cost(0, 41))
	if p.run.spent.tokens != 102 {
		t.Errorf("%d tokens are booked, of 102", p.run.spent.tokens)
	}
}

// TestWhatWorksBesideTheRounds: a review that is under way when a round begins gives
// back what was set aside, and no more.
func TestWhatWorksBesideTheRounds(t *testing.T) {
	b := track.BudgetOptions{Round: track.RoundBudget{CostUSD: 5}, Task: track.TaskBudget{CostUSD: 3}}
	var p purse
	review, _ := p.start(agents.Reviewer, b)
	p.nextRound(2)
	if _, refused := p.start(agents.Planner, b); refused == "" {
		t.Error("the new round forgets what is under way")
	}
	review.close()
	if p.round.aside != (amount{}) {
		t.Fatalf("%+v is set aside for nobody", p.round.aside)
	}
	first, refused := p.start(agents.Planner, b)
	if refused != "" {
		t.Fatal(refused)
	}
	defer first.close()
	if _, refused := p.start(agents.Planner, b); refused == "" {
		t.Error("two tasks of $3 were started in a round of $5")
	}
}

func TestTheFirstOfARoleMayCostWhatOthersDid(t *testing.T) {
	b := track.BudgetOptions{CostUSD: 10}
	var p purse
	work(t, &p, agents.Researcher, b, cost(3, 0))
	started := 0
	for range 5 {
		if _, refused := p.start(agents.Planner, b); refused == "" {
			started++
		}
	}
	if started != 2 {
		t.Errorf("%d planners were started with $7 left, when an agent has cost $3", started)
	}
}

func TestNobodyFillsThePurse(t *testing.T) {
	b := track.BudgetOptions{CostUSD: 2, Tokens: 100}
	for name, told := range map[string]track.Spent{
		"less than nothing": cost(-1e6, -1e6),
		"an overflow":       {Usage: &track.Usage{Input: 1 << 62, CacheRead: 1 << 62, CacheWrite: 1 << 62, Output: 1 << 62}},
	} {
		t.Run(name, func(t *testing.T) {
			var p purse
			work(t, &p, agents.Planner, b, cost(1, 50))
			one, _ := p.start(agents.Critic, b)
			one.tell(told)
			one.pay(told)
			if p.run.spent.cost < 1 || p.run.spent.tokens < 50 {
				t.Errorf("%+v is spent, of $1 and 50 tokens", p.run.spent)
			}
		})
	}
}

func TestBudgetsInWhichNobodyFits(t *testing.T) {
	for name, c := range map[string]struct {
		budget track.BudgetOptions
		want   string
	}{
		"none":          {},
		"room for one":  {budget: track.BudgetOptions{CostUSD: 3, Tokens: 9, Round: track.RoundBudget{CostUSD: 3, Tokens: 9}, Task: track.TaskBudget{CostUSD: 3, Tokens: 9}}},
		"of a round":    {track.BudgetOptions{Round: track.RoundBudget{CostUSD: 1}, Task: track.TaskBudget{CostUSD: 3}}, "si.budget.round.cost_usd only 1"},
		"of the run":    {track.BudgetOptions{Tokens: 10, Task: track.TaskBudget{Tokens: 11}}, "si.budget.task.tokens is 11"},
		"no task limit": {budget: track.BudgetOptions{CostUSD: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkBudget(c.budget)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
