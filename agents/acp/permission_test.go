package acp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/agents"
)

const threeOptions = `[{"optionId":"always","kind":"allow_always"},{"optionId":"once","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]`

func TestPermissions(t *testing.T) {
	for _, tc := range []struct {
		name, call, options string
		executor, planner   string // the option that is chosen; "" is none
	}{
		{"an edit inside", `{"toolCallId":"c","kind":"edit","locations":[{"path":"DIR/a.go"}]}`, threeOptions, "once", "no"},
		{"an edit by a relative path", `{"toolCallId":"c","kind":"edit","rawInput":{"file_path":"sub/new.go"}}`, threeOptions, "once", "no"},
		{"an edit outside", `{"toolCallId":"c","kind":"edit","locations":[{"path":"/etc/hosts"}]}`, threeOptions, "no", "no"},
		{"an edit above", `{"toolCallId":"c","kind":"edit","rawInput":{"path":"../other/a.go"}}`, threeOptions, "no", "no"},
		{"an edit of the home", `{"toolCallId":"c","kind":"edit","rawInput":{"path":"~/.bashrc"}}`, threeOptions, "no", "no"},
		{"a diff outside", `{"toolCallId":"c","kind":"edit","content":[{"type":"diff","path":"/etc/hosts","newText":"x"}]}`, threeOptions, "no", "no"},
		{"through a link", `{"toolCallId":"c","kind":"edit","locations":[{"path":"DIR/link/a.go"}]}`, threeOptions, "no", "no"},
		{"a link that leads nowhere", `{"toolCallId":"c","kind":"edit","locations":[{"path":"DIR/dangling"}]}`, threeOptions, "no", "no"},
		{"by an address", `{"toolCallId":"c","kind":"edit","rawInput":{"uri":"file:///etc/hosts"}}`, threeOptions, "no", "no"},
		{"git's own files", `{"toolCallId":"c","kind":"edit","locations":[{"path":"DIR/.GIT/hooks/pre-commit"}]}`, threeOptions, "no", "no"},
		{"one of many is outside", `{"toolCallId":"c","kind":"edit","locations":[{"path":"DIR/a"},{"path":"/b"}]}`, threeOptions, "no", "no"},
		{"more paths than are looked at", `{"toolCallId":"c","kind":"edit","locations":[` + manyPlaces() + `]}`, threeOptions, "no", "no"},
		{"a command", `{"toolCallId":"c","kind":"execute","title":"make test"}`, threeOptions, "once", "no"},
		{"a command elsewhere", `{"toolCallId":"c","kind":"execute","rawInput":{"command":"ls","cwd":"/etc"}}`, threeOptions, "no", "no"},
		{"reading", `{"toolCallId":"c","kind":"read","locations":[{"path":"DIR/a.go"}]}`, threeOptions, "once", "once"},
		{"reading outside", `{"toolCallId":"c","kind":"read","locations":[{"path":"/etc/passwd"}]}`, threeOptions, "no", "no"},
		{"the end of planning", `{"toolCallId":"c","kind":"switch_mode","title":"Ready?"}`, threeOptions, "once", "no"},
		{"a tool of ours", `{"toolCallId":"c","kind":"other","title":"skill_view (si MCP Server)"}`, threeOptions, "once", "once"},
		{"a tool of somebody", `{"toolCallId":"c","kind":"other","title":"website (psi MCP Server)"}`, threeOptions, "once", "no"},
		{"of no kind", `{"toolCallId":"c"}`, threeOptions, "once", "no"},
		{"for ever only", `{"toolCallId":"c","kind":"edit"}`, `[{"optionId":"always","kind":"allow_always"},{"optionId":"never","kind":"reject_always"}]`, "always", "never"},
		{"options of no kind", `{"toolCallId":"c","kind":"edit"}`, `[{"optionId":"proceed_once"},{"optionId":"cancel"}]`, "proceed_once", "cancel"},
		{"no way to allow", `{"toolCallId":"c","kind":"edit"}`, `[{"optionId":"no","kind":"reject_once"}]`, "no", "no"},
		{"no options", `{"toolCallId":"c","kind":"edit"}`, `[]`, "", ""},
		{"options of another shape", `{"toolCallId":"c","kind":"edit"}`, `{"a":1}`, "", ""},
	} {
		for role, want := range map[agents.Role]string{agents.Executor: tc.executor, agents.Planner: tc.planner} {
			t.Run(tc.name+" "+string(role), func(t *testing.T) {
				s := newStage(t)
				s.task.Role, s.task.MCP = role, []agents.MCPServer{{Name: "si"}}
				for link, to := range map[string]string{"link": "/etc", "dangling": "/nowhere/at/all"} {
					if err := os.Symlink(to, filepath.Join(s.task.Dir, link)); err != nil {
						t.Fatal(err)
					}
				}
				var reply map[string]any
				_, _, err := s.play(t, func(a *agent) {
					m, _ := a.until("session/prompt")
					call := strings.ReplaceAll(tc.call, "DIR", s.task.Dir)
					reply = a.ask("0", "session/request_permission", `{"sessionId":"s1","toolCall":`+call+`,"options":`+tc.options+`}`)
					a.text("a")
					a.done(m)
				})
				if err != nil {
					t.Fatal(err)
				}
				result, _ := json.Marshal(reply["result"])
				answer := fmt.Sprintf(`{"outcome":{"optionId":%q,"outcome":"selected"}}`, want)
				if want == "" {
					answer = `{"outcome":{"outcome":"cancelled"}}`
				}
				granted := strings.HasPrefix(want, "once") || want == "always" || want == "proceed_once"
				asked := s.of(agents.EventPermission)
				if string(result) != answer || len(asked) != 1 || asked[0].Failed == granted {
					t.Errorf("reply %s, want %s; events %+v", result, answer, asked)
				}
				if len(s.of(agents.EventToolStart)) != 1 {
					t.Error("a call that was asked for is not counted")
				}
			})
		}
	}
}

func manyPlaces() string {
	var out []string
	for i := range maxPlaces + 1 {
		out = append(out, fmt.Sprintf(`{"path":"DIR/%d"}`, i))
	}
	return strings.Join(out, ",")
}

func TestNothingIsAllowedOnceALimitIsPassed(t *testing.T) {
	s := newStage(t)
	s.task.Limits.Steps = 1
	var replies []string
	_, _, err := s.play(t, func(a *agent) {
		a.until("session/prompt")
		for i := range 2 {
			m := a.ask("0", "session/request_permission", fmt.Sprintf(`{"toolCall":{"toolCallId":"c%d","kind":"edit"},"options":%s}`, i, threeOptions))
			result, _ := json.Marshal(m["result"])
			replies = append(replies, string(result))
		}
		a.until("session/cancel")
	})
	wantFailure(t, err, agents.FailLimit, "more than 1 tool calls")
	if len(replies) != 2 || !strings.Contains(replies[0], `"once"`) || !strings.Contains(replies[1], `"no"`) {
		t.Errorf("replies %v", replies)
	}
}

func TestWhatIsAskedWhileTheTurnIsCancelledIsCancelled(t *testing.T) {
	s := newStage(t)
	s.task.Idle = 0
	s.on = func(e agents.Event) {
		if e.Kind == agents.EventText {
			s.clock.pass(s.task.Wall)
		}
	}
	var reply map[string]any
	_, _, err := s.play(t, func(a *agent) {
		m, _ := a.until("session/prompt")
		a.text("working")
		a.until("session/cancel")
		reply = a.ask("5", "session/request_permission", `{"toolCall":{"toolCallId":"c","kind":"edit"},"options":`+threeOptions+`}`)
		a.result(m, `{"stopReason":"cancelled"}`)
	})
	wantFailure(t, err, agents.FailTimeout)
	if result, _ := json.Marshal(reply["result"]); string(result) != `{"outcome":{"outcome":"cancelled"}}` {
		t.Errorf("reply %s", result)
	}
}
