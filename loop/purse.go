package loop

import (
	"fmt"
	"sync"
	"time"

	"si/agents"
	"si/track"
)

// purse keeps what agents cost, and says before each start whether there is enough
// left. What a task may cost is set aside before it starts: as much as one task is
// allowed, or else as much as the dearest one of its role so far. So a budget is
// passed by one task's reservation at most. It is safe for concurrent use.
type purse struct {
	mu      sync.Mutex
	run     account
	round   account
	dearest map[agents.Role]amount
	refused string // why a start was refused for the whole run
}

// amount is what money and tokens can be counted in.
type amount struct {
	cost   float64
	tokens int64
}

func (a amount) plus(b amount) amount  { return amount{a.cost + b.cost, a.tokens + b.tokens} }
func (a amount) minus(b amount) amount { return amount{a.cost - b.cost, a.tokens - b.tokens} }

func amountOf(s track.Spent) amount {
	var a amount
	if s.CostUSD != nil {
		a.cost = *s.CostUSD
	}
	if s.Usage != nil {
		a.tokens = s.Usage.Total()
	}
	return a
}

// account is what was spent in one span, and what is set aside.
type account struct {
	spent, aside amount
}

// short says which limit a further task would pass, "" when none.
func (a account) short(task amount, costUSD float64, tokens int64, span string) string {
	would := a.spent.plus(a.aside).plus(task)
	switch {
	case costUSD > 0 && (would.cost > costUSD || a.spent.cost >= costUSD):
		return fmt.Sprintf("the budget of $%.2f of %s is spent ($%.2f, and $%.2f set aside)", costUSD, span, a.spent.cost, a.aside.plus(task).cost)
	case tokens > 0 && (would.tokens > tokens || a.spent.tokens >= tokens):
		return fmt.Sprintf("the budget of %d tokens of %s is spent (%d, and %d set aside)", tokens, span, a.spent.tokens, a.aside.plus(task).tokens)
	}
	return ""
}

// nextRound empties the account of the round.
func (p *purse) nextRound() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.round = account{}
}

// start sets aside what a task may cost. It returns why it may not start, and
// otherwise what is to be called with the cost of each of its runs, and at its end.
func (p *purse) start(role agents.Role, b track.BudgetOptions) (pay func(track.Spent), end func(), refused string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	aside := p.reservation(role, b.Task)
	if why := p.run.short(aside, b.CostUSD, b.Tokens, "the run"); why != "" {
		p.refused = why
		return nil, nil, why
	}
	if why := p.round.short(aside, b.Round.CostUSD, b.Round.Tokens, "a round"); why != "" {
		return nil, nil, why
	}
	p.setAside(aside)
	var spent amount
	pay = func(s track.Spent) {
		p.mu.Lock()
		defer p.mu.Unlock()
		a := amountOf(s)
		spent = spent.plus(a)
		p.run.spent, p.round.spent = p.run.spent.plus(a), p.round.spent.plus(a)
	}
	end = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.setAside(amount{}.minus(aside))
		if p.dearest == nil {
			p.dearest = map[agents.Role]amount{}
		}
		d := p.dearest[role]
		p.dearest[role] = amount{max(d.cost, spent.cost), max(d.tokens, spent.tokens)}
	}
	return pay, end, ""
}

func (p *purse) setAside(a amount) {
	p.run.aside, p.round.aside = p.run.aside.plus(a), p.round.aside.plus(a)
}

func (p *purse) reservation(role agents.Role, task track.TaskBudget) amount {
	a := p.dearest[role]
	if task.CostUSD > 0 {
		a.cost = task.CostUSD
	}
	if task.Tokens > 0 {
		a.tokens = task.Tokens
	}
	return a
}

// close refuses every further start of the run.
func (p *purse) close(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = why
}

// spent says which budget of the run is used up, "" when none.
func (p *purse) spent(b track.BudgetOptions) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused != "" {
		return p.refused
	}
	return p.run.short(amount{}, b.CostUSD, b.Tokens, "the run")
}

// hoursSpent says whether the budget of time is used up. What the run waited for a
// person, or for a usage limit, does not count: nothing of it was spent.
func (l *Loop) hoursSpent() string {
	limit := l.settings.Value.SI.Budget.WallHours
	worked := l.cfg.Now().Sub(l.started) - l.helm.waited() - l.parked()
	if limit > 0 && worked >= time.Duration(limit*float64(time.Hour)) {
		return fmt.Sprintf("budget of %g hours is spent", limit)
	}
	return ""
}
