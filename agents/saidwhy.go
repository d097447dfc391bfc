package agents

import (
	"regexp"
	"strings"
)

// SaidWhy reads out of an error's text in which way an agent failed: FailAuth,
// FailUsage, FailContext or FailModel, "" when it does not say. The words are
// those of the model servers and agent programs of 2026.
func SaidWhy(text string) FailureKind {
	low := strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	status := statusIn(low)
	switch {
	case HasAny(low, UsageWords()...), status == "402":
		return FailUsage
	case HasAny(low, AuthWords()...), status == "401", status == "403":
		return FailAuth
	case status == "413", status != "429" && HasAny(low, ContextWords()...):
		return FailContext
	case status == "429", HasAny(low, "rate_limit", "rate limit", "too many requests"):
		return FailUsage
	case status != "", HasAny(low, modelWords()...):
		return FailModel
	}
	return ""
}

// statusIn finds the status of HTTP that a text gives as the reason.
func statusIn(low string) string {
	m := regexp.MustCompile(`(?:^|status:? |status code:? |error:? |http |\()(400|40[1-49]|413|429|5\d\d)\b`).FindStringSubmatch(low)
	if m == nil {
		return ""
	}
	return m[1]
}

// UsageWords tell a limit of a plan, that waiting a little does not lift.
func UsageWords() []string {
	return []string{
		"insufficient_quota", "usage_limit_reached", "usage limit", "exceeded your current quota", "credit balance is too low", "billing_error",
		"daily quota", "spending limit", "limit will reset at", "out of credits", "insufficient credits", "insufficient balance",
		"hit your limit", "session limit", "weekly limit", "5-hour limit", "out of extra usage", "quota exceeded",
	}
}

// AuthWords tell that nobody is logged in, or that a key is wrong.
func AuthWords() []string {
	return []string{
		"authentication_error", "permission_error", "invalid_api_key", "invalid api key", "invalid x-api-key", "incorrect api key", "not logged in",
		"please run /login", "authentication_failed", "oauth token has expired", "no api key", "401 unauthorized", "missing bearer",
		"could not be refreshed", "refresh token", "no models available",
	}
}

// ContextWords tell that a task is too long for the model.
func ContextWords() []string {
	return []string{
		"context_length_exceeded", "maximum context length", "prompt is too long", "prompt_too_long", "context window", "exceeds the available context size",
		"input length and `max_tokens` exceed", "exceed_context_size", "context size has been exceeded", "request_too_large",
		"input is too long", "maximum number of tokens allowed", "longer than the model's context length",
	}
}

func modelWords() []string {
	return []string{
		"overloaded", "api_error", "server_error", "internal server error", "bad gateway", "service unavailable", "stream disconnected",
		"connection error", "connection refused", "econnrefused", "econnreset", "etimedout", "enotfound", "fetch failed", "network error",
		"finish_reason", "error sending request", "exceeded retry limit", "model_not_found", "model not found",
	}
}

// HasAny reports whether text holds one of words.
func HasAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
