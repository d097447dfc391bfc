package track

import "math"

// The most that one run of an agent can have used. What an agent tells is its own word,
// and sums of it have to stay numbers: JSON has no word for an infinite cost.
const (
	MostTokens = 1 << 40
	MostCost   = 1e9 // USD
)

// Usage counts tokens. Input is net of what was read from and written to a cache.
type Usage struct {
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Output     int64 `json:"output"` // with the reasoning
	Reasoning  int64 `json:"reasoning,omitempty"`
}

// Total is every token that went in or came out.
func (u Usage) Total() int64 {
	u = u.Plausible()
	return u.Input + u.CacheRead + u.CacheWrite + u.Output
}

// Add returns the sum of both, as far as they can be: nobody used less than nothing.
func (u Usage) Add(v Usage) Usage {
	u, v = u.Plausible(), v.Plausible()
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Reasoning + v.Reasoning}
}

// Plausible are the numbers of u that can be: what is negative is 0, and what is more
// than MostTokens is that.
func (u Usage) Plausible() Usage {
	for _, n := range []*int64{&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning} {
		*n = min(max(*n, 0), MostTokens)
	}
	return u
}

// Spent is what a task cost. What is not known is nil, never 0.
type Spent struct {
	Usage   *Usage   `json:"usage,omitempty"`
	CostUSD *float64 `json:"cost_usd,omitempty"`
	Tools   int      `json:"tool_calls,omitempty"`
	Session string   `json:"session,omitempty"`
	Model   string   `json:"model,omitempty"`
}

// Add returns the sum of both, with the session and the model of v where it has
// them. A sum of something unknown and something known is what is known.
func (s Spent) Add(v Spent) Spent {
	out := Spent{Tools: s.Tools + v.Tools, Session: v.Session, Model: v.Model, Usage: s.Usage, CostUSD: s.CostUSD}
	if out.Session == "" {
		out.Session = s.Session
	}
	if out.Model == "" {
		out.Model = s.Model
	}
	if v.Usage != nil {
		sum := *v.Usage
		if s.Usage != nil {
			sum = s.Usage.Add(sum)
		}
		out.Usage = &sum
	}
	if v.CostUSD != nil {
		sum := cost(*v.CostUSD)
		if s.CostUSD != nil {
			sum += cost(*s.CostUSD)
		}
		out.CostUSD = &sum
	}
	return out
}

// Plausible is s with numbers that can be. A cost that is no number is not known.
func (s Spent) Plausible() Spent {
	if s.Usage != nil {
		u := s.Usage.Plausible()
		s.Usage = &u
	}
	if s.CostUSD != nil && math.IsNaN(*s.CostUSD) {
		s.CostUSD = nil
	}
	if s.CostUSD != nil {
		usd := cost(*s.CostUSD)
		s.CostUSD = &usd
	}
	return s
}

func cost(usd float64) float64 {
	if math.IsNaN(usd) {
		return 0
	}
	return min(max(usd, 0), MostCost)
}
