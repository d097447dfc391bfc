package acp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"si/agents"
	"si/internal/secret"
)

func TestATurn(t *testing.T) {
	for _, tc := range []struct {
		name string
		role agents.Role
		play func(*agent, map[string]any)
		want string // the answer; with a kind, what the failure says
		kind agents.FailureKind
	}{
		{"text", agents.Planner, func(a *agent, m map[string]any) { a.text("a"); a.text("b"); a.done(m) }, "ab", ""},
		{"an id of another type", agents.Planner, func(a *agent, m map[string]any) {
			a.text("a")
			a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%v","result":{"stopReason":"end_turn"}}`, m["id"]))
		}, "a", ""},
		{"answers to nobody", agents.Planner, func(a *agent, m map[string]any) {
			a.say(`{"jsonrpc":"2.0","id":99,"result":{"stopReason":"refusal"}}`)
			a.say(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"late"}}`)
			a.say(`{"jsonrpc":"2.0","id":null,"result":{}}`)
			a.text("a")
			a.done(m)
		}, "a", ""},
		{"noise", agents.Planner, func(a *agent, m map[string]any) {
			a.say("Loaded cached credentials.")
			a.say("\x1b[2J{not json}")
			a.say(`["a", "batch"]`)
			a.say(`{"jsonrpc":"2.0","method":"session/update","params":[1,2]}`)
			a.say(`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"a_new_kind","content":7}}}`)
			a.say(`{"jsonrpc":"2.0","method":"_vendor/ping","params":{}}`)
			a.text("a")
			a.done(m)
		}, "a", ""},
		{"fields of other types", agents.Planner, func(a *agent, m map[string]any) {
			a.update(`{"sessionUpdate":"tool_call","toolCallId":7,"title":["x"],"status":{},"locations":"no","rawInput":[]}`)
			a.update(`{"sessionUpdate":"agent_message_chunk","messageId":4,"content":{"type":"text","text":"a"}}`)
			a.done(m)
		}, "a", ""},
		{"words after the end of the turn", agents.Planner, func(a *agent, m map[string]any) { a.text("a"); a.done(m); a.text("b") }, "ab", ""},
		{"words between tools", agents.Planner, func(a *agent, m map[string]any) {
			a.text("first")
			a.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"look","kind":"read","status":"completed"}`)
			a.text("second")
			a.done(m)
		}, "first\n\nsecond", ""},
		{"words of a helper's session", agents.Planner, func(a *agent, m map[string]any) {
			a.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{}"}}}}`)
			a.text("a")
			a.done(m)
		}, "a", ""},
		{"an image is no text", agents.Planner, func(a *agent, m map[string]any) {
			a.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","text":"b","data":"AAAA"}}`)
			a.text("a")
			a.done(m)
		}, "a", ""},
		{"a role that edits may be silent when it worked", agents.Executor, func(a *agent, m map[string]any) {
			a.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"edit","kind":"edit","status":"completed"}`)
			a.done(m)
		}, "", ""},
		{"silent without work", agents.Executor, func(a *agent, m map[string]any) { a.done(m) }, "without a word", agents.FailAnswer},
		{"silent planner", agents.Planner, func(a *agent, m map[string]any) {
			a.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"look","kind":"read","status":"completed"}`)
			a.text(" \n")
			a.done(m)
		}, "without a word", agents.FailAnswer},
		{"cut", agents.Planner, func(a *agent, m map[string]any) { a.text("a"); a.result(m, `{"stopReason":"max_tokens"}`) }, "limit of tokens", agents.FailTruncated},
		{"too many requests", agents.Planner, func(a *agent, m map[string]any) { a.text("a"); a.result(m, `{"stopReason":"max_turn_requests"}`) }, "as often as it may", agents.FailLimit},
		{"refusal", agents.Planner, func(a *agent, m map[string]any) { a.text("a"); a.result(m, `{"stopReason":"refusal"}`) }, "refused to answer", agents.FailModel},
		{"cancelled by itself", agents.Planner, func(a *agent, m map[string]any) { a.text("a"); a.result(m, `{"stopReason":"cancelled"}`) }, "by itself", agents.FailTruncated},
		{"no reason", agents.Planner, func(a *agent, m map[string]any) { a.text("a"); a.result(m, `{}`) }, "without saying", agents.FailTruncated},
		{"a reason of another kind", agents.Planner, func(a *agent, m map[string]any) { a.text("a"); a.result(m, `"end_turn"`) }, "without saying", agents.FailTruncated},
		{"status of HTTP", agents.Planner, refusal(`{"code":429,"message":"Resource has been exhausted"}`), "usage limit", agents.FailUsage},
		{"quota in words", agents.Planner, refusal(`{"code":-32603,"message":"Internal error","data":{"details":"You exceeded your current quota"}}`), "current quota", agents.FailUsage},
		{"key in words", agents.Planner, refusal(`{"code":-32603,"message":"Internal error","data":{"errorName":"ProviderAuthError"}}`), "not logged in", agents.FailAuth},
		{"status 401", agents.Planner, refusal(`{"code":401,"message":"no"}`), "not logged in", agents.FailAuth},
		{"too long", agents.Planner, refusal(`{"code":-32603,"message":"x","data":"the input exceeds the context window of 8192"}`), "too long for its model", agents.FailContext},
		{"server", agents.Planner, refusal(`{"code":-32603,"message":"upstream \u001b[31m500"}`), "upstream 500", agents.FailModel},
		{"an error of another shape", agents.Planner, refusal(`{"code":"E_FAIL","message":["no"]}`), "no reason is given", agents.FailModel},
		{"an error without an id", agents.Planner, func(a *agent, _ map[string]any) {
			a.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
		}, "Parse error", agents.FailModel},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.task.Role = tc.role
			answer, _, err := s.play(t, func(a *agent) {
				if m, more := a.until("session/prompt"); more {
					tc.play(a, m)
				}
			})
			if tc.kind != "" {
				wantFailure(t, err, tc.kind, tc.want)
				return
			}
			if err != nil || answer.Text != tc.want {
				t.Errorf("answer %q, %v; want %q\n%s", answer.Text, err, tc.want, s.logged(t))
			}
		})
	}
}

func refusal(e string) func(*agent, map[string]any) {
	return func(a *agent, m map[string]any) {
		a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"error":%s}`, m["id"], e))
	}
}

func TestWordsBeforeTheTurnAreNoAnswer(t *testing.T) {
	s := newStage(t)
	answer, _, err := s.play(t, func(a *agent) {
		m, _ := a.until("session/new")
		a.text("[MODE_UPDATE] {}")
		a.result(m, `{"sessionId":"s1"}`)
		m, _ = a.until("session/prompt")
		a.text("a")
		a.done(m)
	})
	if words := s.of(agents.EventText); err != nil || answer.Text != "a" || len(words) != 1 {
		t.Errorf("answer %q, %v, words %+v", answer.Text, err, words)
	}
}

func TestAUsageLimitSaysWhenItIsLifted(t *testing.T) {
	s := newStage(t)
	until := s.clock.now.Add(3 * time.Hour)
	s.o.Until = func(said string, now time.Time) time.Time {
		if said != "try again at 1 AM" || now != s.clock.now {
			t.Errorf("asked with %q at %v", said, now)
		}
		return until
	}
	_, _, err := s.play(t, func(a *agent) {
		m, _ := a.until("session/prompt")
		refusal(`{"code":429,"message":"try again at 1 AM"}`)(a, m)
	})
	f := wantFailure(t, err, agents.FailUsage)
	if limits := s.of(agents.EventLimit); f.Until != until || len(limits) != 1 || limits[0].Until != until || !limits[0].Failed {
		t.Errorf("until %v, events %v", f.Until, limits)
	}
}

func TestVersionsOfTheProtocol(t *testing.T) {
	for _, tc := range []struct {
		answer string
		kind   agents.FailureKind
		want   string
	}{
		{`{"protocolVersion":1}`, "", ""},
		{`{"protocolVersion":"1"}`, "", ""},
		{`{"protocolVersion":1.0}`, "", ""},
		{`{}`, "", ""},
		{`null`, "", ""},
		{`{"protocolVersion":2}`, agents.FailStart, "version 2"},
		{`{"protocolVersion":0}`, agents.FailStart, "version 0"},
		{`{"protocolVersion":"2027-01-01"}`, agents.FailStart, "version 2027-01-01"},
	} {
		t.Run(tc.answer, func(t *testing.T) {
			s := newStage(t)
			var greeted map[string]any
			_, _, err := s.play(t, func(a *agent) {
				m, _ := a.until("initialize")
				greeted = m
				a.result(m, tc.answer)
				if m, more := a.until("session/prompt"); more {
					a.text("a")
					a.done(m)
				}
			})
			params, _ := json.Marshal(greeted["params"])
			want := `{"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"si","title":"si","version":"dev"},"protocolVersion":1}`
			if string(params) != want {
				t.Errorf("greeted with %s", params)
			}
			if tc.kind != "" {
				wantFailure(t, err, tc.kind, tc.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAProgramThatDoesNotAnswer(t *testing.T) {
	for method, limit := range map[string]time.Duration{"initialize": initializeLimit, "session/new": sessionLimit} {
		t.Run(method, func(t *testing.T) {
			s := newStage(t)
			s.clock.quick[limit] = limit == initializeLimit
			s.clock.quick[closeGrace] = true
			_, _, err := s.play(t, func(a *agent) {
				a.until(method)
				if method == "session/new" {
					s.clock.passWhenSet(limit)
				}
				a.until("never")
			})
			wantFailure(t, err, agents.FailStart, "does not answer")
		})
	}
}

func TestStartsThatFail(t *testing.T) {
	for _, tc := range []struct {
		name string
		play func(*agent)
		code int
		kind agents.FailureKind
		want string
	}{
		{"at once", func(*agent) {}, 1, agents.FailStart, "exit code 1 before"},
		{"at once, content", func(*agent) {}, 0, agents.FailStart, "exit code 0 before"},
		{"no such method", func(a *agent) {
			m, _ := a.until("initialize")
			refusal(`{"code":-32601,"message":"Method not found"}`)(a, m)
		}, 0, agents.FailStart, "initialize is refused: Method not found"},
		{"a session without an id", func(a *agent) { m, _ := a.until("session/new"); a.result(m, `{"sessionId":""}`) }, 0, agents.FailStart, "without an id"},
		{"no session", func(a *agent) {
			m, _ := a.until("session/new")
			refusal(`{"code":-32603,"message":"cannot start MCP server"}`)(a, m)
		}, 0, agents.FailStart, "cannot start MCP server"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			r := &inProcess{play: tc.play, code: tc.code}
			_, err := New(r, s.o).Run(t.Context(), s.task)
			wantFailure(t, err, tc.kind, tc.want)
		})
	}
}

func TestLogins(t *testing.T) {
	const methods = `{"protocolVersion":1,"authMethods":[{"id":"oauth","name":"Log in with a browser"},{"id":"gemini-api-key","name":"Key"},{"id":"env","type":"env_var","vars":[{"name":"OTHER_KEY"}]}]}`
	gem, _ := Find("gemini")
	gem.Old = nil
	for _, tc := range []struct {
		name    string
		profile Profile
		env     string
		refuse  int // how many sessions
		asked   string
		want    string
	}{
		{"not needed", gem, "GEMINI_API_KEY=k", 0, "", ""},
		{"with a key", gem, "GEMINI_API_KEY=k", 1, "gemini-api-key", ""},
		{"with a variable that the program names", Command("x"), "OTHER_KEY=k", 1, "env", ""},
		{"without a key", gem, "NOTHING=k", 1, "", "start gemini once and log in, or set GEMINI_API_KEY"},
		{"an unknown program without a key", Command("x"), "NOTHING=k", 1, "", "it offers: Log in with a browser, Key, env"},
		{"with a wrong key", gem, "GEMINI_API_KEY=k", 2, "gemini-api-key", "start gemini once"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.o.Profile = tc.profile
			s.task.Env = append(s.task.Env, tc.env)
			asked := ""
			_, _, err := s.play(t, func(a *agent) {
				m, _ := a.until("initialize")
				a.result(m, methods)
				for range tc.refuse {
					if m, more := a.until("session/new"); more {
						refusal(`{"code":-32000,"message":"Authentication required"}`)(a, m)
					}
					if m, more := a.read(); more {
						asked = fmt.Sprint(m["params"].(map[string]any)["methodId"])
						a.result(m, "{}")
					}
				}
				if m, more := a.until("session/prompt"); more {
					a.text("a")
					a.done(m)
				}
			})
			if asked != tc.asked {
				t.Errorf("asked for %q, want %q", asked, tc.asked)
			}
			if tc.want == "" && err != nil {
				t.Error(err)
			}
			if tc.want != "" {
				wantFailure(t, err, agents.FailAuth, "not logged in", tc.want)
			}
		})
	}
}

func TestWhatIsNotOfferedIsRefusedAndTheTurnGoesOn(t *testing.T) {
	s := newStage(t)
	outside := filepath.Join(t.TempDir(), "written")
	var got []string
	answer, _, err := s.play(t, func(a *agent) {
		m, _ := a.until("session/prompt")
		for _, asked := range []struct{ id, method, params string }{
			{"1", "fs/read_text_file", `{"sessionId":"s1","path":"../../etc/passwd"}`},
			{`"two"`, "fs/write_text_file", `{"sessionId":"s1","path":"` + outside + `","content":"x"}`},
			{"0", "terminal/create", `{"sessionId":"s1","command":"touch","args":["` + outside + `"]}`},
			{"4", "_vendor/anything", `null`},
		} {
			reply, _ := json.Marshal(a.ask(asked.id, asked.method, asked.params))
			got = append(got, string(reply))
		}
		a.text("went on")
		a.done(m)
	})
	if err != nil || answer.Text != "went on" || len(got) != 4 {
		t.Fatalf("answer %q, %v, replies %v", answer.Text, err, got)
	}
	for i, id := range []string{"1", `"two"`, "0", "4"} {
		if !strings.Contains(got[i], `"code":-32601`) || !strings.Contains(got[i], `"id":`+id+`,`) || strings.Contains(got[i], "root") {
			t.Errorf("reply %s", got[i])
		}
	}
	if _, err := os.Stat(outside); !os.IsNotExist(err) {
		t.Errorf("something was done outside: %v", err)
	}
}

func TestATooLongRequestIsAnswered(t *testing.T) {
	s := newStage(t)
	var reply map[string]any
	answer, _, err := s.play(t, func(a *agent) {
		m, _ := a.until("session/prompt")
		reply = a.ask("8", "session/request_permission", `{"toolCall":{"toolCallId":"`+strings.Repeat("x", maxLine)+`"}}`)
		a.text("went on")
		a.done(m)
	})
	if e, _ := reply["error"].(map[string]any); err != nil || answer.Text != "went on" || e["code"] != float64(codeTooLong) {
		t.Errorf("answer %q, %v, reply %v", answer.Text, err, reply)
	}
}

func TestSecretsAreNotRepeated(t *testing.T) {
	s := newStage(t)
	s.task.MCP = []agents.MCPServer{{Name: "si", Env: []string{"MCP_TOKEN=token-of-the-server", "PATH=/usr/bin:/bin:/other"}}}
	answer, r, err := s.play(t, func(a *agent) {
		m, _ := a.until("session/prompt")
		a.text("my key is " + key[:7])
		a.text(key[7:] + ", and /usr/bin:/bin:/other, sk-")
		a.update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"` + key + `"}}`)
		a.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"echo token-of-the-server","kind":"execute","status":"in_progress"}`)
		a.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","content":[{"type":"content","content":{"type":"text","text":"` + key + `"}}]}`)
		a.update(`{"sessionUpdate":"plan","entries":[{"content":"` + key + `","status":"in_progress"}]}`)
		a.say("stray " + key)
		fmt.Fprintln(a.err, "env: "+key)
		a.done(m)
	})
	if err != nil || answer.Text != "my key is "+secret.Hidden+", and /usr/bin:/bin:/other, sk-" {
		t.Errorf("answer %q, %v", answer.Text, err)
	}
	var told strings.Builder
	for _, e := range s.events {
		told.WriteString(e.Text)
	}
	for _, secret := range []string{key, key[7:], "token-of-the-server"} {
		if strings.Contains(told.String()+s.logged(t), secret) {
			t.Errorf("%s is repeated: %s\n%s", secret, told.String(), s.logged(t))
		}
	}
	if !strings.HasSuffix(told.String(), "sk-") {
		t.Errorf("words were swallowed: %q", told.String())
	}
	if !slices.Contains(r.command.Env, "MODEL_KEY="+key) {
		t.Error("the program has not got its key")
	}
}

func TestALimitEndsTheTurnByTheProtocol(t *testing.T) {
	for _, tc := range []struct {
		name   string
		limits agents.Limits
		want   string
		tokens int64
	}{
		{"steps", agents.Limits{Steps: 2}, "more than 2 tool calls", 0},
		{"repeats", agents.Limits{Repeats: 2}, "same tool call 3 times", 0},
		{"cost", agents.Limits{CostUSD: 0.5}, "it cost $0.60", 0},
		{"tokens", agents.Limits{Tokens: 100}, "it used 150 tokens", 150},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.task.Limits = tc.limits
			cancelled := false
			_, _, err := s.play(t, func(a *agent) {
				m, _ := a.until("session/prompt")
				for i := range 3 {
					a.update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"look","kind":"read","status":"completed"}`, i))
				}
				a.update(`{"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":0.6,"currency":"USD"}}`)
				a.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"_meta":{"usage":{"inputTokens":100,"outputTokens":50,"totalTokens":150}}}`)
				_, cancelled = a.until("session/cancel")
				a.result(m, `{"stopReason":"cancelled","usage":{"inputTokens":100,"outputTokens":70,"totalTokens":170}}`)
			})
			f := wantFailure(t, err, agents.FailLimit, tc.want)
			if !cancelled || f.Spent.Usage == nil || f.Spent.Usage.Total() != 170 {
				t.Errorf("cancelled %v, spent %+v: what the cancelled turn cost is counted", cancelled, f.Spent.Usage)
			}
		})
	}
}

func TestWhatTheProgramIsAskedFor(t *testing.T) {
	s := newStage(t)
	s.task.MCP = []agents.MCPServer{{Name: "si", Command: "/bin/si", Args: []string{"mcp"}, Env: []string{"A=b=c"}}, {Name: "bare", Command: "x"}}
	_, r, err := s.play(t, func(a *agent) {
		m, _ := a.until("session/prompt")
		a.text("a")
		a.done(m)
	})
	if err != nil {
		t.Fatal(err)
	}
	var sent []string
	for _, m := range r.agent.got[1:] {
		params, _ := json.Marshal(m["params"])
		sent = append(sent, fmt.Sprint(m["method"], " ", string(params)))
	}
	want := []string{
		`session/new {"cwd":"` + s.task.Dir + `","mcpServers":[{"args":["mcp"],"command":"/bin/si","env":[{"name":"A","value":"b=c"}],"name":"si"},{"args":[],"command":"x","env":[],"name":"bare"}]}`,
		`session/prompt {"prompt":[{"text":"Make it faster.","type":"text"}],"sessionId":"s1"}`,
	}
	if !slices.Equal(sent, want) {
		t.Errorf("sent %q\nwant %q", sent, want)
	}
}

// gemini tries again for minutes when its server is at a limit, and says so on stderr
// only.
func TestALimitThatIsSaidOnStderrExplainsTheEnd(t *testing.T) {
	const attempt = `Attempt 3 failed with status 429. Retrying with backoff... _ApiError: {"error":{"code":429,"message":"You exceeded your current quota. Please retry in 2h5m."}}`
	for _, tc := range []struct {
		name string
		play func(*stage, *agent)
		kind agents.FailureKind
	}{
		{"silence after it", func(s *stage, a *agent) {
			s.on = func(e agents.Event) {
				if e.Kind == agents.EventRetry {
					s.clock.pass(15 * time.Minute)
				}
			}
			fmt.Fprintln(a.err, attempt)
			a.read()
		}, agents.FailUsage},
		{"the end after it", func(_ *stage, a *agent) { fmt.Fprintln(a.err, attempt) }, agents.FailUsage},
		{"a key that is refused", func(_ *stage, a *agent) { fmt.Fprintln(a.err, "Attempt 1 failed with status 401. API key not valid") }, agents.FailAuth},
		{"work after it", func(_ *stage, a *agent) {
			fmt.Fprintln(a.err, attempt)
			a.text("now it goes on")
		}, agents.FailTruncated},
		{"other chatter", func(_ *stage, a *agent) { fmt.Fprintln(a.err, "a test failed with 3 errors") }, agents.FailTruncated},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.clock.quick[cancelGrace], s.clock.quick[closeGrace] = true, true
			s.o.Until = func(said string, now time.Time) time.Time { return agents.LimitUntil(said, now, time.UTC) }
			_, _, err := s.play(t, func(a *agent) {
				if _, more := a.until("session/prompt"); more {
					tc.play(s, a)
				}
			})
			f := wantFailure(t, err, tc.kind)
			if want := s.clock.Now().Add(2*time.Hour + 5*time.Minute); tc.kind == agents.FailUsage && !f.Until.Equal(want) {
				t.Errorf("until %s, not %s", f.Until, want)
			}
			if tc.kind == agents.FailUsage && (len(s.of(agents.EventRetry)) != 1 || len(s.of(agents.EventLimit)) != 1) {
				t.Errorf("events %+v", s.events)
			}
		})
	}
}
