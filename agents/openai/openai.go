// Package openai speaks the chat/completions format, streaming, as OpenAI defined
// it and Ollama, llama.cpp, vLLM, LM Studio and most hosted services speak it.
// They differ in what they refuse: each field that is not in all of them is left
// out once a server has complained of it.
package openai

import (
	"net/http"
	"strings"

	"si/agents/httpmodel"
	"si/internal/proc"
)

// defaultBase is the vendor's own server.
const defaultBase = "https://api.openai.com/v1"

// New returns a backend for a server of this format. BaseURL ends before
// /chat/completions, usually in /v1.
func New(run proc.Runner, o httpmodel.Options) *httpmodel.Backend {
	return httpmodel.New(run, Wire{}, o)
}

// Wire is the format.
type Wire struct{}

var _ httpmodel.Wire = Wire{}

// Name is that of the backend.
func (Wire) Name() string { return "openai" }

// Base is the address of the server; the vendor's when it is empty.
func (Wire) Base(url string) string {
	if url == "" {
		return defaultBase
	}
	return strings.TrimSuffix(strings.TrimRight(url, "/"), "/chat/completions")
}

// Path is where conversations are continued.
func (Wire) Path() string { return "/chat/completions" }

// Authorize adds the key; servers without keys get no header.
func (Wire) Authorize(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// Window is what the smaller of the models that can do the work have.
func (Wire) Window() int { return 128_000 }

// Concede drops the field that the server complains of. What it says is in no
// fixed words, so that the ladder of the answer goes down at any complaint: to ask
// in a weaker form costs a request, to give up costs the task.
func (Wire) Concede(q *httpmodel.Quirks, r httpmodel.Request, said string) bool {
	said = strings.ToLower(said)
	switch {
	case !q.NoUsage && strings.Contains(said, "stream_options"):
		q.NoUsage = true
	case !q.OldMaxTokens && r.MaxTokens > 0 && strings.Contains(said, "max_completion_tokens"):
		q.OldMaxTokens = true
	case !q.NoEffort && r.Effort != "" && (strings.Contains(said, "reasoning") || strings.Contains(said, "effort")):
		q.NoEffort = true
	case !q.NoTools && len(r.Tools) > 0 && strings.Contains(said, "tool") && strings.Contains(said, "support"):
		q.NoTools = true
	case r.Closing && len(r.Schema) > 0 && q.Rung < httpmodel.RungPrompt:
		q.Rung++
	default:
		return false
	}
	return true
}
