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
// allowed, or else as much as the dearest one of its role so far, or of any where it is
// its role's first. Who tells its cost
// while it works is ended where the budget is: what is passed is the step under way.
// Who tells it at the end can pass a budget by one task. It is safe for concurrent use.
type purse struct {
	mu      sync.Mutex
	run     account
	round   account
	dearest map[agents.Role]amount
	before  map[int]amount // by round, what earlier starts of the run have spent in it
	refused string         // why a start was refused for the whole run
}

// amount is what money and tokens can be counted in.
type amount struct {
	cost   float64
	tokens int64
}

func (a amount) plus(b amount) amount  { return amount{a.cost + b.cost, a.tokens + b.tokens} }
func (a amount) minus(b amount) amount { return amount{a.cost - b.cost, a.tokens - b.tokens} }

// amountOf takes an agent's own word: what it says can only add to what was spent, or
// one that tells of less than nothing would fill the purse.
func amountOf(s track.Spent) amount {
	var a amount
	s = s.Plausible()
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

// nextRound empties the account of the round, but for what an earlier start has spent in
// round n. What works beside the rounds is under way still, and has its share set aside
// in the new one.
func (p *purse) nextRound(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.round = account{spent: p.before[n], aside: p.run.aside}
}

// bill is what one task costs while it runs.
type bill struct {
	purse  *purse
	role   agents.Role
	budget track.BudgetOptions
	aside  amount
	paid   amount // for runs that have ended
	live   amount // of the run that has not
}

// start sets aside what a task may cost. It returns why the task may not start, or
// the bill that is to be kept.
func (p *purse) start(role agents.Role, b track.BudgetOptions) (_ *bill, refused string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	aside := p.reservation(role, b.Task)
	if why := p.run.short(aside, b.CostUSD, b.Tokens, "the run"); why != "" {
		p.refused = why
		return nil, why
	}
	if why := p.round.short(aside, b.Round.CostUSD, b.Round.Tokens, "a round"); why != "" {
		return nil, why
	}
	p.setAside(aside)
	return &bill{purse: p, role: role, budget: b, aside: aside}, ""
}

// tell takes what the run costs so far. It returns which budget that uses up, "" when
// none: then the run is to be ended.
func (b *bill) tell(s track.Spent) string {
	p := b.purse
	p.mu.Lock()
	defer p.mu.Unlock()
	b.book(amountOf(s))
	if why := p.run.over(b.budget.CostUSD, b.budget.Tokens, "the run"); why != "" {
		p.refused = why
		return why
	}
	return p.round.over(b.budget.Round.CostUSD, b.budget.Round.Tokens, "a round")
}

// pay takes what a run has cost in the end.
func (b *bill) pay(s track.Spent) {
	b.purse.mu.Lock()
	defer b.purse.mu.Unlock()
	b.book(amountOf(s))
	b.paid, b.live = b.paid.plus(b.live), amount{}
}

// book makes a the cost of the run that has not ended. The purse's lock is held.
func (b *bill) book(a amount) {
	more := a.minus(b.live)
	b.live = a
	p := b.purse
	p.run.spent, p.round.spent = p.run.spent.plus(more), p.round.spent.plus(more)
}

// close gives back what was set aside.
func (b *bill) close() {
	p := b.purse
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setAside(amount{}.minus(b.aside))
	if p.dearest == nil {
		p.dearest = map[agents.Role]amount{}
	}
	d, cost := p.dearest[b.role], b.paid.plus(b.live)
	p.dearest[b.role] = amount{max(d.cost, cost.cost), max(d.tokens, cost.tokens)}
}

// over says which limit is passed already, "" when none.
func (a account) over(costUSD float64, tokens int64, span string) string {
	switch {
	case costUSD > 0 && a.spent.cost > costUSD:
		return fmt.Sprintf("the budget of $%.2f of %s is spent ($%.2f)", costUSD, span, a.spent.cost)
	case tokens > 0 && a.spent.tokens > tokens:
		return fmt.Sprintf("the budget of %d tokens of %s is spent (%d)", tokens, span, a.spent.tokens)
	}
	return ""
}

func (p *purse) setAside(a amount) {
	p.run.aside, p.round.aside = p.run.aside.plus(a), p.round.aside.plus(a)
}

// reservation is what a task may cost. A role that has told no cost yet may cost what
// the dearest other one did: or all of its agents, which start side by side, would
// find the same money.
func (p *purse) reservation(role agents.Role, task track.TaskBudget) amount {
	a, known := p.dearest[role]
	if !known {
		for _, d := range p.dearest {
			a = amount{max(a.cost, d.cost), max(a.tokens, d.tokens)}
		}
	}
	if task.CostUSD > 0 {
		a.cost = task.CostUSD
	}
	if task.Tokens > 0 {
		a.tokens = task.Tokens
	}
	return a
}

// close ends the run after this round, which goes on with who can play.
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
	worked := l.past.worked + l.cfg.Now().Sub(l.started) - l.helm.waited() - l.parked()
	if limit > 0 && worked >= time.Duration(limit*float64(time.Hour)) {
		return fmt.Sprintf("budget of %g hours is spent", limit)
	}
	return ""
}
