package acp

import (
	"encoding/json"
	"strings"

	"si/agents"
	"si/internal/clean"
)

// The protocol's own code for a session without a login.
const codeLogin = -32000

// rpcError is an error that the program gave as an answer.
type rpcError struct {
	method  string
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *rpcError) Error() string { return e.method + " is refused: " + e.said() }

// said is the message with what the data adds to it, cleaned.
func (e *rpcError) said() string {
	var text string
	var data struct {
		Message   string `json:"message"`
		Details   string `json:"details"`
		ErrorName string `json:"errorName"`
	}
	if json.Unmarshal(e.Data, &text) != nil {
		_ = json.Unmarshal(e.Data, &data) // another shape adds nothing
		text = strings.TrimSpace(data.ErrorName + " " + firstText(data.Message, data.Details))
	}
	said := e.Message
	if text != "" && !strings.Contains(said, text) {
		said += ": " + text
	}
	return clean.Line(firstText(said, "no reason is given"), 500)
}

// kind names the failure that the error is. Programs have no common codes: some
// give the status of HTTP, some their own, most say it in words only.
func (e *rpcError) kind() agents.FailureKind {
	said := e.said()
	why := agents.SaidWhy(said)
	switch {
	case e.Code == 401 || e.Code == 403 || why == agents.FailAuth || agents.HasAny(strings.ToLower(said), loginWords()...):
		return agents.FailAuth
	case e.Code == codeLogin && (e.method == "session/new" || e.method == "authenticate"):
		return agents.FailAuth
	case e.Code == 402 || e.Code == 429 || why == agents.FailUsage:
		return agents.FailUsage
	case e.Code == 413 || why == agents.FailContext:
		return agents.FailContext
	case e.method != "session/prompt" || e.Code == codeNoMethod:
		return agents.FailStart
	}
	return agents.FailModel
}

// loginWords are the ways in which programs of this protocol ask for a login,
// beside those that model servers have.
func loginWords() []string {
	return []string{
		"authentication required", "auth_required", "authrequired", "not authenticated", "unauthorized", "please log in", "please login", "sign in",
		"provider.auth", "providerautherror", "authentication failed", "invalid auth", "api key not valid", "api key is missing",
	}
}

// refused makes a failure of an error of the program.
func (s *session) refused(e *rpcError) *agents.Failure {
	kind := e.kind()
	what := map[agents.FailureKind]string{
		agents.FailAuth:    "it is not logged in, or its key is wrong",
		agents.FailUsage:   "its usage limit is reached",
		agents.FailContext: "the task is too long for its model",
		agents.FailStart:   "it cannot take the task",
		agents.FailModel:   "its model's server refused, or broke off",
	}[kind]
	if kind == agents.FailAuth && s.p.LoginHint != "" {
		what += ": " + s.p.LoginHint
	}
	f := s.fail(kind, what, e)
	if kind == agents.FailUsage {
		f.Until = s.o.Until(e.said(), s.o.Clock.Now())
		s.emit(agents.Event{Kind: agents.EventLimit, Text: e.said(), Until: f.Until, Failed: true})
	}
	return f
}
