package track

// Usage counts tokens. Input is net of what was read from and written to a cache.
type Usage struct {
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Output     int64 `json:"output"` // with the reasoning
	Reasoning  int64 `json:"reasoning,omitempty"`
}

// Total is every token that went in or came out.
func (u Usage) Total() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Reasoning + v.Reasoning}
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
		sum := *v.CostUSD
		if s.CostUSD != nil {
			sum += *s.CostUSD
		}
		out.CostUSD = &sum
	}
	return out
}
