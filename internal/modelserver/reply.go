package modelserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Reply is what the model answers.
type Reply struct {
	Text    string
	Thought string // where the format has a place for it
	Calls   []Call
	Usage   Usage // of none at all the client is told nothing
	Stop    Stop
	Fault   Fault
	Parts   int           // pieces in which a text is streamed, default 3
	Gate    chan struct{} // waited for before each piece of a stream; nil does not wait
}

// Call is a tool call. Args is sent as it is, JSON or not. An ID is made up when
// it is empty.
type Call struct {
	ID   string
	Name string
	Args string
}

// Usage is what a reply used. Input is without the cache.
type Usage struct {
	Input, CacheRead, CacheWrite, Output, Reasoning int
}

// Stop is why a reply ends, "" for the usual reasons.
type Stop string

// The unusual ends.
const (
	Length  Stop = "length"  // cut at the limit of tokens
	Refused Stop = "refused" // by the model
)

// Fault is what goes wrong. The zero Fault is none.
type Fault struct {
	Status     int    // an error of HTTP in place of a reply
	RetryAfter string // its header
	Code       string // the error's own word
	Said       string // the error's text
	Redirect   string // an address to send the client to, with Status

	Cut       bool                                   // the stream ends after its first half
	Drop      bool                                   // so does the connection
	Malformed bool                                   // the stream has an event that is not JSON
	InStream  bool                                   // the error comes in the stream, not as a status
	Raw       func(w http.ResponseWriter, r Request) // answers by itself
}

// RateLimit is a refusal that passes; after is the value of Retry-After, "" for none.
func RateLimit(after string) Fault {
	return Fault{Status: http.StatusTooManyRequests, RetryAfter: after, Code: "rate_limit_error", Said: "Too many requests, slow down."}
}

// PlanLimit is a refusal that lasts; said tells until when.
func PlanLimit(said string) Fault {
	return Fault{Status: http.StatusTooManyRequests, Code: "usage_limit_reached", Said: said}
}

// Unauthorized is what a wrong key gets.
func Unauthorized() Fault {
	return Fault{Status: http.StatusUnauthorized, Code: "authentication_error", Said: "invalid x-api-key"}
}

// Broken is a server that is out of order.
func Broken() Fault {
	return Fault{Status: http.StatusInternalServerError, Code: "api_error", Said: "Internal server error"}
}

type object = map[string]any

// answer sends the reply in the format of the request.
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, req Request, r Reply) {
	if r.Fault.Raw != nil {
		r.Fault.Raw(w, req)
		return
	}
	if r.Fault.Status != 0 && !r.Fault.InStream {
		r.Fault.write(w, req.Format)
		return
	}
	for i := range r.Calls {
		if r.Calls[i].ID == "" {
			r.Calls[i].ID = fmt.Sprintf("call_%d_%d", req.N, i)
		}
	}
	f := formats()[req.Format]
	if !req.Stream {
		writeJSON(w, http.StatusOK, f.whole(req, r))
		return
	}
	stream(ctx, w, req, r, f.events(req, r))
}

// form is how a format writes replies.
type form struct {
	whole  func(Request, Reply) any
	events func(Request, Reply) []event
}

func formats() map[Format]form {
	return map[Format]form{
		Chat:      {wholeChat, chatEvents},
		Messages:  {wholeMessage, messageEvents},
		Responses: {wholeResponse, responseEvents},
		Gemini:    {wholeGemini, geminiEvents},
	}
}

func (f Fault) write(w http.ResponseWriter, format Format) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	if f.Redirect != "" {
		w.Header().Set("Location", f.Redirect)
	}
	writeError(w, format, f.Status, f.Code, f.Said)
}

func writeError(w http.ResponseWriter, format Format, status int, code, said string) {
	writeJSON(w, status, errorBody(format, status, code, said))
}

func errorBody(format Format, status int, code, said string) object {
	switch format {
	case Messages:
		return object{"type": "error", "error": object{"type": code, "message": said}}
	case Gemini:
		return object{"error": object{"code": status, "status": code, "message": said}}
	case Chat, Responses:
	}
	return object{"error": object{"message": said, "type": code, "code": code, "param": nil}}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck,errchkjson // the client may be gone
}
