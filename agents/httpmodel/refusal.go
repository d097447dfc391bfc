package httpmodel

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"si/agents"
	"si/internal/clean"
)

// Refusal is an error that the server gave in words: with a status, or in the
// middle of a stream.
type Refusal struct {
	Status int           // of HTTP; 0 in a stream
	Code   string        // the server's own word, such as overloaded_error
	Said   string        // one line, cleaned
	After  time.Duration // that the server wants to be left alone for; 0 when it did not say
}

func (r *Refusal) Error() string {
	what := "the model's server refuses"
	if r.Status > 0 {
		what += " with " + strconv.Itoa(r.Status)
		if text := http.StatusText(r.Status); text != "" {
			what += " " + text
		}
	}
	if r.Said != "" {
		what += ": " + r.Said
	}
	return what
}

// class says what follows from a refusal.
type class int

const (
	classRequest class = iota // the request is wrong in this form
	classAuth
	classPlan // a limit that waiting a little does not lift
	classRate
	classBusy // it may pass when tried again
	classContext
)

func (r *Refusal) class() class {
	text := strings.ToLower(r.Code + " " + r.Said)
	switch {
	case r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden, agents.HasAny(text, "authentication_error", "permission_error", "invalid_api_key"):
		return classAuth
	case r.Status == http.StatusPaymentRequired, agents.HasAny(text, agents.UsageWords()...):
		return classPlan
	case r.Status == http.StatusRequestEntityTooLarge, r.Status != http.StatusTooManyRequests && agents.HasAny(text, agents.ContextWords()...):
		return classContext
	case r.Status == http.StatusTooManyRequests, agents.HasAny(text, "rate_limit"):
		return classRate
	case r.Status >= 500, r.Status == http.StatusRequestTimeout, r.Status == http.StatusConflict, r.Status == http.StatusTooEarly,
		agents.HasAny(text, "overloaded", "api_error", "server_error", "timeout_error"):
		return classBusy
	case r.Status == 0:
		return classBusy // in the middle of a stream that had begun well
	}
	return classRequest
}

// ReadRefusal makes a refusal of an error's body, which is JSON of the common
// shapes or any text.
func ReadRefusal(status int, body []byte) *Refusal {
	r := &Refusal{Status: status}
	var doc struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	said := string(body)
	if json.Unmarshal(body, &doc) == nil {
		code, message := errorObject(doc.Error)
		r.Code = code
		said = firstText(message, doc.Message, string(doc.Detail), said)
	}
	r.Said = clean.Line(said, 500)
	return r
}

// errorObject reads an error that is an object, or only its text.
func errorObject(raw json.RawMessage) (code, message string) {
	if json.Unmarshal(raw, &message) == nil {
		return "", message
	}
	var e struct {
		Type    string `json:"type"`
		Code    any    `json:"code"` // a word, or the status again
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return "", ""
	}
	if word, ok := e.Code.(string); ok {
		e.Type += " " + word
	}
	return clean.Line(e.Type, 100), e.Message
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" && t != "null" {
			return t
		}
	}
	return ""
}

// retryAfter reads how long the server wants to be left alone: retry-after-ms,
// or Retry-After in seconds or as a date (RFC 9110, 10.2.3). What cannot be read,
// or lies in the past, is 0.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d := number(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if d := number(text, time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// longestWait bounds what a server may ask for; a plan is renewed within a month.
const longestWait = 32 * 24 * time.Hour

func number(text string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	if n > float64(longestWait/unit) {
		return longestWait
	}
	return time.Duration(n * float64(unit))
}
