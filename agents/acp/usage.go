package acp

import (
	"encoding/json"

	"si/agents"
)

// usage is the protocol's count of tokens. Whether input holds what came from the
// cache differs between programs; the total tells.
type usage struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	Total      int64 `json:"totalTokens"`
	CacheRead  int64 `json:"cachedReadTokens"`
	CacheWrite int64 `json:"cachedWriteTokens"`
	Thought    int64 `json:"thoughtTokens"`
}

// normal is u with its input net of the cache, and its output with the reasoning.
// Numbers that cannot be are 0.
func (u usage) normal() agents.Usage {
	for _, n := range []*int64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Thought} {
		if *n < 0 || *n > 1<<50 {
			*n = 0
		}
	}
	cache := u.CacheRead + u.CacheWrite
	n := agents.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Thought}
	if cache > 0 && cache <= u.Input && (u.Total == u.Input+u.Output || u.Total == u.Input+u.Output+u.Thought) {
		n.Input -= cache
	}
	if u.Thought > 0 && (u.Total == n.Total()+u.Thought || u.Output < u.Thought) {
		n.Output += u.Thought
	}
	return n
}

// turnResult is the answer to session/prompt.
type turnResult struct {
	Stop  string `json:"stopReason"`
	Usage *usage `json:"usage"`
	Meta  meta   `json:"_meta"`
}

// total is what the turn used, as far as its result says.
func (r turnResult) total() *agents.Usage {
	switch tokens := r.Meta.Quota.Tokens; {
	case r.Usage != nil:
		n := r.Usage.normal()
		return &n
	case tokens != nil:
		n := usage{Input: tokens.Input, Output: tokens.Output}.normal()
		return &n
	case r.Meta.Usage != nil:
		n := r.Meta.Usage.normal()
		return &n
	}
	return nil
}

// account takes what the end of a turn says of its tokens. A program that counts
// its last step only is believed when there was one step: a number that is too
// small would be taken for the truth.
func (s *session) account(result json.RawMessage) turnResult {
	var r turnResult
	_ = json.Unmarshal(result, &r) // what cannot be read is empty, and no stop reason is a failure
	total := r.total()
	if total == nil || s.p.LastStepUsage && s.meter.Spent().Tools > 0 {
		return r
	}
	s.used = total
	s.tellUsage()
	return r
}

// step adds what one request to the model used.
func (s *session) step(u *usage) {
	sum := u.normal()
	if s.used != nil {
		sum = sum.Add(*s.used)
	}
	s.used = &sum
	s.tellUsage()
}

// tellUsage tells what is known of tokens and money by now.
func (s *session) tellUsage() {
	cost := s.cost
	if cost == nil && s.used != nil {
		cost = s.o.Price(s.model, *s.used)
	}
	s.emit(agents.Event{Kind: agents.EventUsage, Usage: s.used, CostUSD: cost})
}
