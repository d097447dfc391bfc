package agents

import "testing"

func TestSaidWhy(t *testing.T) {
	for text, want := range map[string]FailureKind{
		"unexpected status 401 Unauthorized: invalid api key, url: http://127.0.0.1/v1/responses": FailAuth,
		"API Error: 403 · forbidden":                               FailAuth,
		"Invalid API key · Please run /login":                      FailAuth,
		"401: {\"message\":\"who are you\"}":                       FailAuth,
		"exceeded retry limit, last status: 429 Too Many Requests": FailUsage,
		"API Error: Request rejected (429) · Rate limit reached":   FailUsage,
		"You’ve hit your usage limit. Upgrade to Pro":              FailUsage,
		"You've hit your limit · resets 3pm (Europe/Berlin)":       FailUsage,
		"Your credit balance is too low to access the API":         FailUsage,
		"Codex ran out of room in the model's context window.":     FailContext,
		"Prompt is too long":                                       FailContext,
		"status 429: the context window of your plan is used up":   FailUsage,
		"API Error: 529 overloaded_error":                          FailModel,
		"stream disconnected before completion":                    FailModel,
		"Stream ended without finish_reason":                       FailModel,
		"API Error: 400 model: bogus":                              FailModel,
		"request req_4290401 took 401 ms":                          "",
		"exit":                                                     "",
		"":                                                         "",
	} {
		if got := SaidWhy(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
