package httpmodel

import (
	"encoding/json"
	"net/http"

	"si/agents"
	"si/agents/httpmodel/tools"
)

// Wire is the format that a kind of server speaks. Its methods keep no state and
// are called from several goroutines.
type Wire interface {
	// Name is that of the backend: openai, anthropic.
	Name() string
	// Path is added to the address of the server, which Base made ready.
	Base(url string) string
	Path() string
	Authorize(h http.Header, key string)
	Encode(r Request) ([]byte, error)
	// Decode reads one reply and tells hear what comes in. Its error is a
	// *Refusal, a *MalformedError, ErrCut, or that of the stream.
	Decode(s *Stream, hear Hear) (Reply, error)
	// Concede changes what q says of the server so that the request may pass, and
	// reports whether there was something to change.
	Concede(q *Quirks, r Request, said string) bool
	// Window is how many tokens a conversation may have when nobody said so.
	Window() int
}

// Hear is told a part of a reply as it comes in: agents.EventText or
// agents.EventThought.
type Hear func(kind agents.EventKind, text string)

// Request is one question to the model.
type Request struct {
	Model     string
	Effort    string
	MaxTokens int // of the reply; 0 leaves it to the server
	System    string
	Messages  []Message
	Tools     []tools.Spec
	Schema    json.RawMessage // of the answer; nil when none is wanted
	Closing   bool            // the model is to give its answer now, in the form that Quirks.Rung names
	Quirks    Quirks
}

// Side is whose turn a message is.
type Side int

// The sides of a conversation.
const (
	User Side = iota
	Model
	Tools
)

// Message is one turn. Calls are the model's, Results the tools'.
type Message struct {
	From    Side
	Text    string
	Calls   []Call
	Results []Result
	Kept    []json.RawMessage // blocks that the server wants back word for word, in front of the text
}

// Call is a tool call. Args is what the model wrote, JSON or not.
type Call struct {
	ID   string
	Name string
	Args string
}

// Result answers the call of the same ID.
type Result struct {
	ID     string
	Name   string
	Text   string
	Failed bool
}

// Stop says why a reply ended.
type Stop int

// The ends of a reply. An end that is not known is StopDone: what counts is that
// the stream says it is complete.
const (
	StopDone Stop = iota
	StopLength
	StopRefused
)

// Reply is one whole turn of the model.
type Reply struct {
	Message Message
	Model   string
	Usage   *agents.Usage // of this request; nil when the server did not say
	Stop    Stop
}

// AnswerTool is the tool that takes the answer where a server has no other way to
// hold a model to a schema.
const AnswerTool = "give_answer"

// Rung is a way to hold a model to a schema, the strictest first.
type Rung int

// The ladder of an answer.
const (
	RungSchema Rung = iota
	RungObject
	RungTool
	RungPrompt
)

// Quirks are what a server was found not to take.
type Quirks struct {
	Rung         Rung
	NoUsage      bool // stream_options
	OldMaxTokens bool // max_tokens in place of max_completion_tokens
	NoEffort     bool
	NoTools      bool
	MaxTokens    int // the most that the model may be asked for; 0 when not known
}

// limit is the number of tokens to ask for.
func (q Quirks) limit(asked int) int {
	if q.MaxTokens > 0 && asked > q.MaxTokens {
		return q.MaxTokens
	}
	return asked
}

// Limit is the number of tokens of a reply to ask for, 0 for the server's own.
func (r Request) Limit() int { return r.Quirks.limit(r.MaxTokens) }
