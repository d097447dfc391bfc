package acp

import (
	"fmt"
	"testing"

	"si/agents"
)

func TestUsageIsNetOfTheCache(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   usage
		want agents.Usage
	}{
		{"net already", usage{Input: 1134, Output: 56, Total: 1290, CacheRead: 100}, agents.Usage{Input: 1134, Output: 56, CacheRead: 100}},
		{"cache in the input", usage{Input: 1234, Output: 56, Total: 1290, CacheRead: 100}, agents.Usage{Input: 1134, Output: 56, CacheRead: 100}},
		{"no total", usage{Input: 10, Output: 5, CacheRead: 3}, agents.Usage{Input: 10, Output: 5, CacheRead: 3}},
		{"thoughts besides the output", usage{Input: 10, Output: 5, Thought: 7, Total: 22}, agents.Usage{Input: 10, Output: 12, Reasoning: 7}},
		{"thoughts in the output", usage{Input: 10, Output: 12, Thought: 7, Total: 22}, agents.Usage{Input: 10, Output: 12, Reasoning: 7}},
		{"both", usage{Input: 10, Output: 5, Thought: 7, CacheRead: 4, Total: 22}, agents.Usage{Input: 6, CacheRead: 4, Output: 12, Reasoning: 7}},
		{"numbers that cannot be", usage{Input: -5, Output: 1 << 60, CacheRead: 3}, agents.Usage{CacheRead: 3}},
	} {
		if got := tc.in.normal(); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestWhatATaskCosts(t *testing.T) {
	price := func(model string, u agents.Usage) *float64 {
		if model != "m" {
			return nil
		}
		usd := float64(u.Total()) / 1000
		return &usd
	}
	const step = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"_meta":{"usage":{"inputTokens":100,"outputTokens":10,"totalTokens":110,"cachedReadTokens":40}}}`
	const tool = `{"sessionUpdate":"tool_call","toolCallId":"c","kind":"read","status":"completed"}`
	for _, tc := range []struct {
		name    string
		model   string
		last    bool // it counts its last step only
		updates []string
		result  string
		want    string
	}{
		{"not told", "m", false, nil, `{"stopReason":"end_turn"}`, "nil nil"},
		{"at the end", "", false, nil, `{"stopReason":"end_turn","usage":{"inputTokens":7,"outputTokens":3,"totalTokens":10}}`, "{7 0 0 3 0} nil"},
		{"priced", "m", false, nil, `{"stopReason":"end_turn","usage":{"inputTokens":7,"outputTokens":3,"totalTokens":10}}`, "{7 0 0 3 0} 0.010"},
		{"by steps", "m", false, []string{step, step}, `{"stopReason":"end_turn"}`, "{120 80 0 20 0} 0.220"},
		{"the end counts more than the steps", "", false, []string{step}, `{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":5,"output_tokens":6}}}}`, "{5 0 0 6 0} nil"},
		{"money that is told", "m", false, []string{`{"sessionUpdate":"usage_update","used":9,"size":10,"cost":{"amount":0.5,"currency":"USD"}}`}, `{"stopReason":"end_turn","usage":{"inputTokens":7}}`, "{7 0 0 0 0} 0.500"},
		{"money of another country", "", false, []string{`{"sessionUpdate":"usage_update","cost":{"amount":0.5,"currency":"EUR"}}`}, `{"stopReason":"end_turn"}`, "nil nil"},
		{"money that cannot be", "", false, []string{`{"sessionUpdate":"usage_update","cost":{"amount":-1}}`}, `{"stopReason":"end_turn"}`, "nil nil"},
		{"one step of a program that counts the last", "", true, nil, `{"stopReason":"end_turn","usage":{"inputTokens":7}}`, "{7 0 0 0 0} nil"},
		{"two steps of it", "", true, []string{tool}, `{"stopReason":"end_turn","usage":{"inputTokens":7}}`, "nil nil"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.o.Price, s.o.Profile.LastStepUsage = price, tc.last
			session := ""
			if tc.model != "" {
				session = `,"models":{"currentModelId":"m"}`
			}
			answer, _, err := s.play(t, func(a *agent) {
				m, _ := a.until("session/new")
				a.result(m, `{"sessionId":"s1"`+session+`}`)
				m, _ = a.until("session/prompt")
				a.text("a")
				for _, u := range tc.updates {
					a.update(u)
				}
				a.result(m, tc.result)
			})
			if err != nil {
				t.Fatal(err)
			}
			got := "nil"
			if u := answer.Spent.Usage; u != nil {
				got = fmt.Sprint(*u)
			}
			if c := answer.Spent.CostUSD; c != nil {
				got += fmt.Sprintf(" %.3f", *c)
			} else {
				got += " nil"
			}
			if got != tc.want {
				t.Errorf("spent %s, want %s", got, tc.want)
			}
		})
	}
}
