package answer_test

import (
	"strings"
	"testing"
	"time"

	"si/learn/skills/answer"
)

func TestFind(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain", `{"a":1}`, `{"a":1}`},
		{"fenced, with prose", "Here {you} go:\n```json\n{\"a\": [1]}\n```\nDone {it}.", `{"a": [1]}`},
		{"the last one", `{"a":1} no, {"a":2}`, `{"a":2}`},
		{"inside another", `{"result": {"b": {"a": 1}}}`, `{"a": 1}`},
		{"behind a broken draft", `{"a": [1, 2} {"a": 3}`, `{"a": 3}`},
		{"braces in a text", `{"a": "} {"}`, `{"a": "} {"}`},
		{"another object", `{"x":1}`, ``},
		{"null", `{"a":null}`, ``},
		{"nothing", `nothing`, ``},
		{"torn", `{"a": [1, 2`, ``},
		{"a key in a list", `[{"a":1}]`, `{"a":1}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(answer.Find(tc.in, "a", "z")); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestFindIsBounded(t *testing.T) {
	for name, in := range map[string]string{
		"braces":         strings.Repeat("{", 1<<20),
		"open objects":   strings.Repeat(`{"x":`, 1<<18),
		"open text":      strings.Repeat(`{"`, 1<<19),
		"objects":        strings.Repeat(`{"x":{}}`, 1<<17),
		"one long value": `{"x":"` + strings.Repeat("{", 1<<20),
		"a flood":        strings.Repeat("x", 64<<20) + `{"a":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			got := answer.Find(in, "a")
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			if (name == "a flood") != (got != nil) {
				t.Errorf("got %q", got)
			}
		})
	}
}
