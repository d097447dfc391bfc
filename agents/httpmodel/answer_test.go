package httpmodel_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"si/agents"
	"si/internal/modelserver"
)

const schema = `{"type":"object","properties":{"verdict":{"type":"string","enum":["approve","reject"]}},"required":["verdict"],"additionalProperties":false}`

// critic is a player that is asked for an answer after schema.
func critic(t *testing.T, wire string, script modelserver.Script) *player {
	t.Helper()
	p := newPlayer(t, wire, script)
	p.task.Role, p.task.Schema = agents.Critic, json.RawMessage(schema)
	return p
}

func TestAnAnswerThatKeepsItsSchemaNeedsNoSecondQuestion(t *testing.T) {
	for _, text := range []string{`{"verdict":"approve"}`, "I think so.\n```json\n{\"verdict\":\"approve\"}\n```\n"} {
		eachWire(t, func(t *testing.T, wire string) {
			t.Helper()
			p := critic(t, wire, inTurn(said(text)))
			answer, err := p.play(t.Context())
			if err != nil || string(answer.JSON) != `{"verdict":"approve"}` || len(p.server.Requests()) != 1 {
				t.Errorf("answer %s, error %v, %d requests", answer.JSON, err, len(p.server.Requests()))
			}
			if form := p.server.Requests()[0].Form; form != "" {
				t.Errorf("a model that may need tools is held to %s", form)
			}
		})
	}
}

// forms tells how each request held the model to the schema.
func forms(requests []modelserver.Request) []string {
	var out []string
	for _, r := range requests {
		form := r.Form
		if r.Forced != "" {
			form = "tool " + r.Forced
		}
		out = append(out, form)
	}
	return out
}

func TestTheLadderOfAnAnswer(t *testing.T) {
	for _, tc := range []struct {
		name   string
		wire   string
		takes  func(r modelserver.Request) bool
		forms  []string
		second []string // of the next task: what was learned is not asked again
	}{
		{"schema", "openai", func(modelserver.Request) bool { return true }, []string{"", "json_schema"}, []string{"", "json_schema"}},
		{"object", "openai", func(r modelserver.Request) bool { return r.Form != "json_schema" }, []string{"", "json_schema", "json_object"}, []string{"", "json_object"}},
		{"tool", "openai", func(r modelserver.Request) bool { return r.Form == "" }, []string{"", "json_schema", "json_object", "tool give_answer"}, []string{"", "tool give_answer"}},
		{"prompt", "openai", func(r modelserver.Request) bool { return r.Form == "" && r.Forced == "" }, []string{"", "json_schema", "json_object", "tool give_answer", ""}, []string{"", ""}},
		{"tool", "anthropic", func(modelserver.Request) bool { return true }, []string{"", "tool give_answer"}, []string{"", "tool give_answer"}},
		{"prompt", "anthropic", func(r modelserver.Request) bool { return r.Forced == "" }, []string{"", "tool give_answer", ""}, []string{"", ""}},
	} {
		t.Run(tc.wire+" "+tc.name, func(t *testing.T) {
			p := critic(t, tc.wire, func(r modelserver.Request) modelserver.Reply {
				switch {
				case !tc.takes(r):
					return fault(modelserver.Fault{Status: 400, Code: "invalid_request_error", Said: "this form is not supported"})
				case r.Forced != "":
					return call(r.Forced, `{"verdict":"approve"}`)
				case strings.Contains(r.Text("user"), "Give your answer now"):
					return said(`{"verdict":"approve"}`)
				}
				return said(`Well: {"verdict":"perhaps"}`)
			})
			for i, want := range [][]string{tc.forms, tc.second} {
				before := len(p.server.Requests())
				answer, err := p.play(t.Context())
				if err != nil || string(answer.JSON) != `{"verdict":"approve"}` {
					t.Fatalf("task %d: answer %s, error %v", i, answer.JSON, err)
				}
				if got := forms(p.server.Requests()[before:]); !slices.Equal(got, want) {
					t.Errorf("task %d: forms %q, want %q", i, got, want)
				}
			}
		})
	}
}

func TestAnAnswerMayBeGivenByItsTool(t *testing.T) {
	p := critic(t, "anthropic", inTurn(call("list", "{}"), call("give_answer", `{"verdict":"reject"}`)))
	answer, err := p.play(t.Context())
	if err != nil || string(answer.JSON) != `{"verdict":"reject"}` || len(p.server.Requests()) != 2 {
		t.Errorf("answer %s, error %v", answer.JSON, err)
	}
}

func TestAnAnswerThatNeverKeepsItsSchemaIsHandedOnAsItIs(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		p := critic(t, wire, inTurn(said("I would approve.")))
		answer, err := p.play(t.Context())
		if err != nil || answer.JSON != nil || answer.Text != "I would approve." || len(p.server.Requests()) != 2 {
			t.Errorf("answer %+v, error %v", answer, err)
		}
	})
}

func TestFieldsThatAServerDoesNotTakeAreLeftOut(t *testing.T) {
	for _, tc := range []struct {
		name, wire, said string
		has              string // what the request may not have
	}{
		{"stream_options", "openai", "Unrecognized field: stream_options", `"stream_options"`},
		{"max_completion_tokens", "openai", "unknown parameter max_completion_tokens", `"max_completion_tokens"`},
		{"effort", "openai", "reasoning_effort is not supported by this model", `"reasoning_effort"`},
		{"tools", "openai", "m-1 does not support tools", `"tools"`},
		{"thinking", "anthropic", "thinking is not supported by this model", `"thinking":`},
		{"tools", "anthropic", "this model does not support tools", `"tools"`},
		{"max_tokens", "anthropic", "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m-1", `"max_tokens":32000`},
	} {
		t.Run(tc.wire+" "+tc.name, func(t *testing.T) {
			p := critic(t, tc.wire, func(r modelserver.Request) modelserver.Reply {
				if strings.Contains(string(r.Body), tc.has) {
					return fault(modelserver.Fault{Status: 400, Said: tc.said})
				}
				return said(`{"verdict":"approve"}`)
			})
			p.o.Effort, p.o.MaxTokens = "high", 32000
			for i, asked := range []int{2, 3} {
				if answer, err := p.play(t.Context()); err != nil || string(answer.JSON) != `{"verdict":"approve"}` || len(p.server.Requests()) != asked {
					t.Errorf("task %d: answer %s, error %v, %d requests", i, answer.JSON, err, len(p.server.Requests()))
				}
			}
		})
	}
}

func TestAnExecutorNeedsTools(t *testing.T) {
	p := newPlayer(t, "openai", func(r modelserver.Request) modelserver.Reply {
		if len(r.Tools) > 0 {
			return fault(modelserver.Fault{Status: 400, Said: "m-1 does not support tools"})
		}
		return said("Done.")
	})
	_, err := p.play(t.Context())
	if f := failure(t, err); f.Kind != agents.FailModel || !strings.Contains(f.Error(), "does not support tools") {
		t.Errorf("%s: %v", f.Kind, f)
	}
	p.task.Role = agents.Architect // which can do without, so that the backend learns of it
	if _, err := p.play(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.task.Role = agents.Executor
	asked := len(p.server.Requests())
	_, err = p.play(t.Context())
	if f := failure(t, err); f.Kind != agents.FailStart || len(p.server.Requests()) != asked {
		t.Errorf("%s: %v", f.Kind, f)
	}
}
