// Package anthropic speaks the messages format of Anthropic's API, streaming, in
// the version 2023-06-01. The conversation is marked for the server's cache, since
// each step of a task sends all that went before.
package anthropic

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"si/agents/httpmodel"
	"si/internal/proc"
)

const (
	defaultBase = "https://api.anthropic.com"
	version     = "2023-06-01"

	defaultMaxTokens = 32_000 // of a reply: the server wants a number
	leastForText     = 4_000  // tokens of a reply that thinking leaves
)

// New returns a backend for a server of this format. BaseURL ends before /v1.
func New(run proc.Runner, o httpmodel.Options) *httpmodel.Backend {
	return httpmodel.New(run, Wire{}, o)
}

// Wire is the format.
type Wire struct{}

var _ httpmodel.Wire = Wire{}

// Name is that of the backend.
func (Wire) Name() string { return "anthropic" }

// Base is the address of the server; the vendor's when it is empty. A /v1 at its
// end, as other formats want it, is taken off.
func (Wire) Base(url string) string {
	if url == "" {
		return defaultBase
	}
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), "/messages")
	return strings.TrimSuffix(url, "/v1")
}

// Path is where conversations are continued.
func (Wire) Path() string { return "/v1/messages" }

// Authorize adds the version and the key.
func (Wire) Authorize(h http.Header, key string) {
	h.Set("Anthropic-Version", version)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

// Window is that of the models in use.
func (Wire) Window() int { return 200_000 }

// Concede drops what the server complains of. A forced tool is the only form that
// holds an answer to a schema here; below it there is the prompt.
func (Wire) Concede(q *httpmodel.Quirks, r httpmodel.Request, said string) bool {
	said = strings.ToLower(said)
	most := largest(said)
	switch {
	case most > 0 && most < maxTokens(r):
		q.MaxTokens = most
	case !q.NoEffort && r.Effort != "" && (strings.Contains(said, "thinking") || strings.Contains(said, "budget_tokens")):
		q.NoEffort = true
	case !q.NoTools && len(r.Tools) > 0 && strings.Contains(said, "tool") && strings.Contains(said, "support"):
		q.NoTools = true
	case r.Closing && len(r.Schema) > 0 && q.Rung < httpmodel.RungPrompt:
		q.Rung = httpmodel.RungPrompt
	default:
		return false
	}
	return true
}

// largest reads the limit out of a complaint such as "max_tokens: 32000 > 8192,
// which is the maximum allowed number of output tokens"; 0 when it has none.
func largest(said string) int {
	m := regexp.MustCompile(`max_tokens: \d+ > (\d{1,9})\b`).FindStringSubmatch(said)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}

// maxTokens is how much a reply may have, thinking included.
func maxTokens(r httpmodel.Request) int {
	asked := r
	if asked.MaxTokens == 0 {
		asked.MaxTokens = defaultMaxTokens
	}
	return asked.Limit()
}

// thinking is how many tokens the model may think for, 0 for none: the effort in
// words, or a number.
func thinking(r httpmodel.Request) int {
	if r.Quirks.NoEffort || r.Closing {
		return 0 // a forced tool and thinking exclude each other
	}
	budget, err := strconv.Atoi(r.Effort)
	if err != nil {
		budget = map[string]int{"low": 2_048, "medium": 8_192, "high": 16_384, "max": 26_000}[r.Effort]
	}
	budget = min(budget, maxTokens(r)-leastForText)
	if budget < 1024 { // the server's least
		return 0
	}
	return budget
}
