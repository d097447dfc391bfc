package claude

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"si/agents"
	"si/agents/stream"
)

// result is the final event. Its subtype may say success although is_error says
// that it is none.
type result struct {
	Type     string          `json:"type"`
	Subtype  string          `json:"subtype"`
	IsError  bool            `json:"is_error"`
	Text     string          `json:"result"`
	JSON     json.RawMessage `json:"structured_output"`
	Errors   []string        `json:"errors"`
	Status   int             `json:"api_error_status"`
	Terminal string          `json:"terminal_reason"`
	Session  string          `json:"session_id"`

	Usage  *tokens               `json:"usage"`
	Models map[string]modelUsage `json:"modelUsage"`                    // of the session, with earlier processes' part
	Since  map[string]modelUsage `json:"model_usage_since_last_result"` // of this process
	Cost   *float64              `json:"total_cost_usd"`                // of the session
}

// tokens is how the model's server counts: input is net of the cache.
type tokens struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func (t tokens) sum() agents.Usage {
	return agents.Usage{Input: t.Input, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output}
}

type modelUsage struct {
	Input      int64   `json:"inputTokens"`
	CacheRead  int64   `json:"cacheReadInputTokens"`
	CacheWrite int64   `json:"cacheCreationInputTokens"`
	Output     int64   `json:"outputTokens"`
	Thinking   int64   `json:"thinkingTokens"`
	USD        float64 `json:"costUSD"`
}

// tally is what results have said of costs. A cost of nothing is one that the
// program does not know.
type tally struct {
	usage agents.Usage
	usd   float64
	known bool
}

func (t *tally) add(models map[string]modelUsage) {
	for _, m := range models {
		t.usage = t.usage.Add(agents.Usage{Input: m.Input, CacheRead: m.CacheRead, CacheWrite: m.CacheWrite, Output: m.Output, Reasoning: m.Thinking})
		t.usd += max(m.USD, 0)
		t.known = true
	}
}

func (d *dialect) readResult(data []byte) (events []agents.Event, was bool) {
	var r result
	if lenient(data, &r) != nil || r.Type != "result" {
		return nil, false
	}
	d.result = &r
	switch {
	case r.Since != nil:
		d.counted.add(r.Since)
	case r.Models != nil: // older; a run of ours resumes nothing, so this process did it all
		d.counted = tally{}
		d.counted.add(r.Models)
	case r.Usage != nil && r.Usage.sum() != agents.Usage{}:
		d.counted.usage, d.counted.known = d.counted.usage.Add(r.Usage.sum()), true
		if r.Cost != nil {
			d.counted.usd += *r.Cost
		}
	}
	if !d.counted.known {
		return nil, true
	}
	e := agents.Event{Kind: agents.EventUsage, Session: r.Session, Usage: new(d.counted.usage)}
	if d.counted.usd > 0 {
		e.CostUSD = new(d.counted.usd)
	}
	return []agents.Event{e}, true
}

// End is as promised by stream.Dialect.
func (d *dialect) End(e stream.Exit) stream.Verdict {
	r := d.result
	switch {
	case r == nil && d.refused > 0:
		return stream.Failed(d.refusal, 401, d.now(), d.zone)
	case r == nil && d.limit.Status == "rejected":
		return d.limited(stream.Failed("the "+d.limit.Type+" limit is reached", 429, d.now(), d.zone))
	case r == nil:
		return stream.Unfinished()
	case !r.IsError && r.Subtype == "success":
		return stream.Verdict{Text: r.Text, JSON: stream.Object(string(r.JSON))}
	}
	return d.failed(*r)
}

func (d *dialect) failed(r result) stream.Verdict {
	said := cmp.Or(strings.Join(r.Errors, "; "), r.Text, r.Terminal, r.Subtype)
	switch {
	case r.Subtype == "error_max_turns", r.Subtype == "error_max_budget_usd":
		return stream.Verdict{Kind: agents.FailLimit, What: "it came to a limit of its own: " + said}
	case r.Subtype == "error_max_structured_output_retries":
		return stream.Verdict{Kind: agents.FailAnswer, What: "its answers did not keep the schema", Said: said}
	case r.Terminal == "prompt_too_long":
		return stream.Failed(said, 413, d.now(), d.zone)
	}
	v := stream.Failed(said, r.Status, d.now(), d.zone)
	if v.Kind == agents.FailModel && r.Status == 0 && agents.SaidWhy(said) == "" {
		v.What = fmt.Sprintf("it ended with %s", cmp.Or(r.Subtype, "an error"))
	}
	return d.limited(v)
}

// limited prefers the moment that the program gave as a number.
func (d *dialect) limited(v stream.Verdict) stream.Verdict {
	if until := d.limit.until(); v.Kind == agents.FailUsage && d.limit.Status == "rejected" && !until.IsZero() {
		v.Until = until
	}
	return v
}

func asType(err error, wrong **json.UnmarshalTypeError) bool { return errors.As(err, wrong) }
