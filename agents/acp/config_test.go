package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"si/agents"
	"si/internal/proc"
)

func TestModesModelsAndEffort(t *testing.T) {
	const gem = `"modes":{"currentModeId":"default","availableModes":[{"id":"default"},{"id":"autoEdit"},{"id":"yolo"},{"id":"plan"}]}`
	const codex = `"configOptions":[{"id":"mode","category":"mode","type":"select","currentValue":"read-only","options":[{"value":"read-only"},{"value":"auto"},{"value":"full-access"}]}]`
	const copilot = `"modes":{"currentModeId":"https://x/session-modes#agent","availableModes":[{"id":"https://x/session-modes#agent"},{"id":"https://x/session-modes#plan"},{"id":"https://x/session-modes#autopilot"}]}`
	const goose = `"modes":{"currentModeId":"auto","availableModes":[{"id":"auto"},{"id":"approve"},{"id":"smart_approve"},{"id":"chat"}]}`
	const open = `"configOptions":[{"id":"model","category":"model","currentValue":"fake/a","options":[{"group":"g","options":[{"value":"fake/a","name":"Fake/A"},{"value":"fake/b","name":"Fake/B"}]}]},{"id":"think","category":"thought_level","currentValue":"low","options":[{"value":"low"},{"value":"high"}]},{"id":"mode","currentValue":"build","options":[{"value":"build"},{"value":"plan"}]},{"id":"on","type":"boolean","currentValue":true}]`
	const models = `"models":{"currentModelId":"m1","availableModels":[{"modelId":"m1","name":"One"},{"modelId":"m2","name":"Two"}]}`
	for _, tc := range []struct {
		name, session string
		role          agents.Role
		contained     bool
		model, effort string
		want          string // what is set
		used          string
	}{
		{"nothing offered", "", agents.Planner, true, "", "", "", ""},
		{"gemini reads", gem, agents.Planner, true, "", "", "set_mode plan", ""},
		{"gemini edits", gem, agents.Executor, true, "", "", "set_mode yolo", ""},
		{"gemini edits without a containment", gem, agents.Executor, false, "", "", "set_mode autoEdit", ""},
		{"codex reads already", codex, agents.Critic, true, "", "", "", ""},
		{"codex edits", codex, agents.Executor, true, "", "", "set mode full-access", ""},
		{"codex edits without a containment", codex, agents.Builder, false, "", "", "set mode auto", ""},
		{"options win over modes", codex + "," + gem, agents.Executor, true, "", "", "set mode full-access", ""},
		{"modes that are addresses", copilot, agents.Planner, true, "", "", "set_mode https://x/session-modes#plan", ""},
		{"goose reads", goose, agents.Planner, true, "", "", "set_mode approve", ""},
		{"goose edits", goose, agents.Executor, true, "", "", "", ""},
		{"goose edits without a containment", goose, agents.Executor, false, "", "", "set_mode smart_approve", ""},
		{"a model and its effort", open, agents.Executor, true, "fake/b", "high", "set model fake/b, set think high", "fake/b"},
		{"a model by its name", open, agents.Planner, true, "fake/B", "low", "set model fake/b, set mode plan", "fake/b"},
		{"a model without its provider", open, agents.Executor, true, "b", "", "set model fake/b", "fake/b"},
		{"the model that is there", open, agents.Executor, true, "fake/a", "", "", "fake/a"},
		{"a model of the older kind", models, agents.Executor, true, "two", "", "set_model m2", "m2"},
		{"no effort offered", models, agents.Executor, true, "", "high", "", "m1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.task.Role, s.task.Model, s.task.Effort = tc.role, tc.model, tc.effort
			if tc.contained {
				s.task.Contain = &proc.Containment{}
			}
			answer, r, err := s.play(t, func(a *agent) { a.withSession(tc.session, "") })
			if err != nil || answer.Spent.Model != tc.used {
				t.Fatalf("model %q, %v", answer.Spent.Model, err)
			}
			if got := settings(r.agent.got); got != tc.want {
				t.Errorf("set %q, want %q", got, tc.want)
			}
			if r.command.Contain != s.task.Contain {
				t.Error("the containment is lost")
			}
		})
	}
}

// withSession plays a program whose session has these fields; refuse is a value
// that it does not take.
func (a *agent) withSession(fields, refuse string) {
	m, more := a.until("session/new")
	if !more {
		return
	}
	a.result(m, `{"sessionId":"s1"`+strings.TrimSuffix(","+fields, ",")+`}`)
	for {
		m, more := a.read()
		if !more {
			return
		}
		params, _ := json.Marshal(m["params"])
		switch {
		case refuse != "" && strings.Contains(string(params), `"`+refuse+`"`):
			refusal(`{"code":-32602,"message":"Invalid params"}`)(a, m)
		case m["method"] == "session/prompt":
			a.text("a")
			a.done(m)
			return
		default:
			a.result(m, "null")
		}
	}
}

func settings(got []map[string]any) string {
	var out []string
	for _, m := range got {
		p, _ := m["params"].(map[string]any)
		switch m["method"] {
		case "session/set_mode":
			out = append(out, fmt.Sprint("set_mode ", p["modeId"]))
		case "session/set_model":
			out = append(out, fmt.Sprint("set_model ", p["modelId"]))
		case "session/set_config_option":
			out = append(out, fmt.Sprint("set ", p["configId"], " ", p["value"]))
		}
	}
	return strings.Join(out, ", ")
}

func TestAModeThatIsRefusedGivesPlaceToTheNext(t *testing.T) {
	s := newStage(t)
	s.task.Contain = &proc.Containment{}
	_, r, err := s.play(t, func(a *agent) {
		a.withSession(`"modes":{"currentModeId":"default","availableModes":[{"id":"bypassPermissions"},{"id":"acceptEdits"},{"id":"default"}]}`, "bypassPermissions")
	})
	if got := settings(r.agent.got); err != nil || got != "set_mode bypassPermissions, set_mode acceptEdits" {
		t.Errorf("set %q, %v", got, err)
	}
	if n := s.of(agents.EventNotice); len(n) != 1 || !strings.Contains(n[0].Text, "refuses to work in its mode bypassPermissions") {
		t.Errorf("notices %+v", n)
	}
}

func TestAnotherModelThanTheOneThatWasNamedNeverPlays(t *testing.T) {
	for _, tc := range []struct{ name, session, want string }{
		{"refused", `"models":{"currentModelId":"m1","availableModels":[{"modelId":"m1"},{"modelId":"m2"}]}`, `does not take the model "big"; it offers m1, m2`},
		{"no choice", ``, "lets nobody choose a model"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.o.Model = "big"
			_, _, err := s.play(t, func(a *agent) { a.withSession(tc.session, "big") })
			wantFailure(t, err, agents.FailStart, tc.want)
		})
	}
	s := newStage(t)
	s.task.Model, s.o.Profile.ModelFlag = "big", []string{"--model"}
	answer, r, err := s.play(t, func(a *agent) { a.withSession("", "") })
	if err != nil || answer.Spent.Model != "big" || !slices.Equal(r.command.Args, []string{"-c", "an agent", "--model", "big"}) {
		t.Errorf("args %q, model %q, %v", r.command.Args, answer.Spent.Model, err)
	}
}
