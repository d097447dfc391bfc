package modelserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Format is what a client speaks.
type Format string

// The formats.
const (
	Chat      Format = "chat"      // POST /v1/chat/completions
	Messages  Format = "messages"  // POST /v1/messages
	Responses Format = "responses" // POST /v1/responses
	Gemini    Format = "gemini"    // POST /v1beta/models/<name>:generateContent and :streamGenerateContent
)

// maxRequest is the size of a request, in bytes.
const maxRequest = 64 << 20

// Request is what a client asked, in one shape for all formats.
type Request struct {
	N      int // counted from 1
	Format Format
	Model  string
	Stream bool
	System string
	Turns  []Turn
	Tools  []Tool
	Forced string // the tool that has to be called
	Form   string // json_schema or json_object, when the answer is held to one
	Header http.Header
	Body   []byte // as it came
}

// Turn is one turn of the conversation.
type Turn struct {
	Role    string // user, assistant or tool
	Text    string
	Calls   []Call
	Results []Result
}

// Tool is a tool that the client offers. Schema is that of its arguments.
type Tool struct {
	Name   string
	About  string
	Schema json.RawMessage
}

// Result is what a tool gave to the call with the same ID.
type Result struct {
	ID   string
	Text string
}

// Text is all that was said by one role, in order, a blank line between turns.
func (r Request) Text(role string) string {
	var parts []string
	for _, t := range r.Turns {
		if t.Role == role && t.Text != "" {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// Results are those of all tools so far.
func (r Request) Results() []Result {
	var out []Result
	for _, t := range r.Turns {
		out = append(out, t.Results...)
	}
	return out
}

// Tool returns the tool of that name.
func (r Request) Tool(name string) (Tool, bool) {
	for _, t := range r.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

func trimmed(path string) string {
	for _, prefix := range []string{"/v1beta", "/v1"} {
		if rest, ok := strings.CutPrefix(path, prefix); ok && strings.HasPrefix(rest, "/") {
			return rest
		}
	}
	return path
}

func hasVerb(path, verb string) bool {
	_, v, _ := strings.Cut(path, ":")
	return v == verb
}

func formatOf(r *http.Request) (Format, bool) {
	if r.Method != http.MethodPost {
		return "", false
	}
	switch path := trimmed(r.URL.Path); {
	case path == "/chat/completions":
		return Chat, true
	case path == "/messages":
		return Messages, true
	case path == "/responses":
		return Responses, true
	case hasVerb(path, "generateContent") || hasVerb(path, "streamGenerateContent"):
		return Gemini, true
	}
	return "", false
}

func read(f Format, r *http.Request) (Request, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	if err != nil {
		return Request{}, fmt.Errorf("read the request: %w", err)
	}
	if len(body) > maxRequest {
		return Request{}, fmt.Errorf("read the request: it has more than %d bytes", maxRequest)
	}
	req := Request{Format: f, Header: r.Header.Clone(), Body: body}
	switch f {
	case Chat:
		err = readChat(body, &req)
	case Messages:
		err = readMessages(body, &req)
	case Responses:
		err = readResponses(body, &req)
	case Gemini:
		err = readGemini(r.URL.Path, body, &req)
	}
	if err == nil {
		err = req.consistent()
	}
	return req, err
}

// consistent refuses what real servers refuse: results of calls that were not made,
// and calls without a result that are followed by something else.
func (r Request) consistent() error {
	open := map[string]bool{}
	for _, t := range r.Turns {
		for _, res := range t.Results {
			if !open[res.ID] {
				return fmt.Errorf("a result for the tool call %q, which was not made", res.ID)
			}
			delete(open, res.ID)
		}
		if t.Role == "assistant" && len(t.Calls) == 0 && t.Text == "" {
			return fmt.Errorf("a turn of the assistant is empty")
		}
		for _, c := range t.Calls {
			open[c.ID] = true
		}
	}
	for id := range open {
		return fmt.Errorf("the tool call %q has no result", id)
	}
	return nil
}

// texts joins content that is a text or a list of parts with a text.
func texts(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var out []string
	for _, p := range parts {
		if p.Text != "" {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}

func asText(raw json.RawMessage) string {
	if text := texts(raw); text != "" {
		return text
	}
	return string(raw)
}
