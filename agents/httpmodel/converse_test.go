package httpmodel_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"si/agents"
	"si/agents/httpmodel"
	"si/internal/modelserver"
	"si/internal/proc"
)

func TestATaskIsDoneWithTools(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		usage := modelserver.Usage{Input: 100, CacheRead: 40, Output: 10, Reasoning: 4}
		p := newPlayer(t, wire, inTurn(
			modelserver.Reply{Text: "I look.\nThen ", Thought: "hm", Usage: usage, Calls: []modelserver.Call{
				{Name: "read", Args: `{"path":"a.go"}`}, {Name: "search", Args: `{"pattern":"size"}`},
			}},
			modelserver.Reply{Usage: usage, Calls: []modelserver.Call{{Name: "edit", Args: `{"path":"a.go","old":"size = 3","new":"size = 9"}`}}},
			modelserver.Reply{Text: "Done.", Usage: usage},
		))
		p.o.Price = func(model string, u agents.Usage) *float64 {
			cost := float64(u.Total()) / 1000
			if model != "m-1" {
				return nil
			}
			return &cost
		}
		write(t, p.task.Dir, "a.go", "package a\n\nconst size = 3\n")
		answer, err := p.play(t.Context())
		if err != nil || answer.Text != "Done." {
			t.Fatalf("answer %q, error %v", answer.Text, err)
		}
		text, err := os.ReadFile(filepath.Join(p.task.Dir, "a.go"))
		if err != nil || string(text) != "package a\n\nconst size = 9\n" {
			t.Errorf("file %q, %v", text, err)
		}
		last := p.server.Requests()[2]
		results := last.Results()
		if len(results) != 3 || results[0].Text != "package a\n\nconst size = 3\n" || results[1].Text != "a.go:3:const size = 3\n" || results[2].Text != "a.go is edited at line 3" {
			t.Errorf("results %q", results)
		}
		want := agents.Usage{Input: 300, CacheRead: 120, Output: 30, Reasoning: 12}
		if wire == "anthropic" { // which does not tell reasoning apart
			want.Reasoning = 0
		}
		if got := answer.Spent; got.Usage == nil || *got.Usage != want || got.CostUSD == nil || *got.CostUSD != 0.45 || got.Tools != 3 || got.Model != "m-1" {
			t.Errorf("spent %+v, usage %+v", got, got.Usage)
		}
		p.checkEvents(t)
	})
}

func (p *player) checkEvents(t *testing.T) {
	t.Helper()
	var kinds []agents.EventKind
	for _, e := range p.events {
		if e.At.IsZero() {
			t.Errorf("event %s has no time", e.Kind)
		}
		kinds = append(kinds, e.Kind)
	}
	want := []agents.EventKind{
		agents.EventStarted, agents.EventThought, agents.EventText, agents.EventText, agents.EventUsage,
		agents.EventToolStart, agents.EventToolEnd, agents.EventToolStart, agents.EventToolEnd, agents.EventUsage,
		agents.EventToolStart, agents.EventToolEnd, agents.EventText, agents.EventUsage,
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("events %v\nwant   %v", kinds, want)
	}
	first := p.kinds(agents.EventToolStart)[0]
	if first.Tool != "read" || first.Text != "a.go" || first.ToolID == "" {
		t.Errorf("tool start %+v", first)
	}
	contains(t, "log", p.log(t), "tool_end: edit a.go is edited at line 3")
}

func TestWhoReadsOnlyIsOfferedNothingElse(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		p := newPlayer(t, wire, inTurn(call("write", `{"path":"a.go","content":"x"}`), call("shell", `{"command":"touch b"}`), said("{}")))
		p.task.Role = agents.Planner
		if _, err := p.play(t.Context()); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range p.server.Requests()[0].Tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != "read list search" {
			t.Errorf("tools %s", got)
		}
		for _, r := range p.server.Requests()[2].Results() {
			contains(t, "result", r.Text, "there is no tool")
		}
		if left, err := os.ReadDir(p.task.Dir); err != nil || len(left) > 0 {
			t.Errorf("the folder has %v, %v", left, err)
		}
	})
}

// seenRunner remembers what it ran.
type seenRunner struct{ commands []proc.Command }

func (s *seenRunner) Run(_ context.Context, c proc.Command) (proc.Result, error) {
	s.commands = append(s.commands, c)
	return proc.Result{Outcome: proc.Exited, Code: 1, Stdout: proc.Captured{Head: []byte("no such test " + key), Total: 33}}, nil
}

func TestTheShellIsContainedAndKnowsNoKey(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		p := newPlayer(t, wire, inTurn(call("shell", `{"command":"go test","seconds":30}`), said("Done.")))
		runner := &seenRunner{}
		p.run = runner
		p.task.Env = append(p.task.Env, "OTHER="+key)
		p.task.Contain = &proc.Containment{Network: true}
		if _, err := p.play(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(runner.commands) != 1 {
			t.Fatalf("%d commands", len(runner.commands))
		}
		c := runner.commands[0]
		if c.Contain != p.task.Contain || c.Dir != p.task.Dir || c.Wall != 30*time.Second || !c.Supervised || !slices.Equal(c.Env, []string{"PATH=/usr/bin:/bin"}) {
			t.Errorf("command %+v", c)
		}
		result := p.server.Requests()[1].Results()[0].Text
		if !strings.Contains(result, "exit code 1\nno such test [key]") {
			t.Errorf("result %q", result)
		}
	})
}

func TestLimitsEndATask(t *testing.T) {
	for _, tc := range []struct {
		name   string
		limits agents.Limits
		script modelserver.Script
		want   string
		asked  int
	}{
		{"steps", agents.Limits{Steps: 2}, func(r modelserver.Request) modelserver.Reply {
			return call("list", `{"depth":%d}`, r.N)
		}, "more than 2 tool calls", 3},
		{"the same call", agents.Limits{Repeats: 3}, inTurn(call("list", `{}`)), "the same tool call 4 times in a row", 4},
		{"tokens", agents.Limits{Tokens: 1000}, inTurn(modelserver.Reply{
			Calls: []modelserver.Call{{Name: "list", Args: "{}"}}, Usage: modelserver.Usage{Input: 600},
		}), "it used 1200 tokens", 2},
		{"cost", agents.Limits{CostUSD: 0.10}, inTurn(modelserver.Reply{
			Calls: []modelserver.Call{{Name: "list", Args: "{}"}}, Usage: modelserver.Usage{Input: 600},
		}), "it cost $0.12", 2},
		{"arguments that are no JSON", agents.Limits{}, func(r modelserver.Request) modelserver.Reply {
			return call("read", `{"path": oops %d`, r.N)
		}, "8 tool calls in a row that cannot be understood", 8},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eachWire(t, func(t *testing.T, wire string) {
				t.Helper()
				p := newPlayer(t, wire, tc.script)
				p.task.Limits = tc.limits
				p.o.Price = func(_ string, u agents.Usage) *float64 {
					cost := float64(u.Total()) / 10_000
					return &cost
				}
				_, err := p.play(t.Context())
				f := failure(t, err)
				if f.Kind != agents.FailLimit || !strings.Contains(f.Error(), tc.want) || len(p.server.Requests()) != tc.asked {
					t.Errorf("%s: %v after %d requests", f.Kind, f, len(p.server.Requests()))
				}
				if f.Spent.Model != "m-1" || f.Spent.Tools != len(p.kinds(agents.EventToolStart)) {
					t.Errorf("spent %+v", f.Spent)
				}
			})
		})
	}
}

func TestBadArgumentsAreToldToTheModel(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		p := newPlayer(t, wire, inTurn(call("read", `{"path": `), call("read", `{"file":"a"}`), call("read", `{"path":"absent"}`), said("Done.")))
		if _, err := p.play(t.Context()); err != nil {
			t.Fatal(err)
		}
		results := p.server.Requests()[3].Results()
		for i, want := range []string{"the arguments cannot be read", `unknown field "file"`, "absent does not exist"} {
			contains(t, "result", results[i].Text, want)
		}
		for _, e := range p.kinds(agents.EventToolEnd) {
			if !e.Failed {
				t.Errorf("event %+v", e)
			}
		}
	})
}

func TestALongConversationIsShortened(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		p := newPlayer(t, wire, func(r modelserver.Request) modelserver.Reply {
			if r.N > 8 {
				return said("Done.")
			}
			return modelserver.Reply{Calls: []modelserver.Call{{Name: "read", Args: `{"path":"long"}`}}, Usage: modelserver.Usage{Input: len(r.Body) / 4}}
		})
		p.o.Window = 3000
		text := strings.Repeat("a line of text\n", 120)
		write(t, p.task.Dir, "long", text)
		if _, err := p.play(t.Context()); err != nil {
			t.Fatal(err)
		}
		results := p.server.Requests()[8].Results()
		if got := results[0].Text; len(got) > 600 || !strings.Contains(got, "call the tool again to see them") {
			t.Errorf("the oldest result is %q", got)
		}
		for _, r := range results[len(results)-4:] {
			if r.Text != text {
				t.Errorf("a new result is %q", r.Text)
			}
		}
		if len(p.kinds(agents.EventNotice)) == 0 {
			t.Error("nobody was told")
		}
	})
}

func TestARefusedConversationIsShortenedOnce(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		tooLong := modelserver.Fault{Status: 400, Code: "invalid_request_error", Said: "prompt is too long: 210000 tokens > 200000 maximum"}
		read := call("read", `{"path":"long"}`)
		p := newPlayer(t, wire, inTurn(read, read, fault(tooLong), said("Done.")))
		write(t, p.task.Dir, "long", strings.Repeat("a line of text\n", 120))
		if answer, err := p.play(t.Context()); err != nil || answer.Text != "Done." {
			t.Fatalf("answer %q, error %v", answer.Text, err)
		}
		p = newPlayer(t, wire, inTurn(read, read, fault(tooLong)))
		write(t, p.task.Dir, "long", strings.Repeat("a line of text\n", 120))
		_, err := p.play(t.Context())
		if f := failure(t, err); f.Kind != agents.FailContext || len(p.server.Requests()) != 4 {
			t.Errorf("%v after %d requests", f, len(p.server.Requests()))
		}
	})
}

func TestTheModelOfTheTaskWins(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		p := newPlayer(t, wire, inTurn(said("Done.")))
		p.task.Model, p.task.Effort = "m-2", "high"
		answer, err := p.play(t.Context())
		if err != nil || answer.Spent.Model != "m-2" || p.server.Requests()[0].Model != "m-2" {
			t.Errorf("spent %+v, error %v", answer.Spent, err)
		}
		want := map[string]string{"openai": `"reasoning_effort":"high"`, "anthropic": `"budget_tokens":16384`}[wire]
		contains(t, "request", string(p.server.Requests()[0].Body), want)
		if answer.Spent.Usage != nil || answer.Spent.CostUSD != nil {
			t.Errorf("the server said nothing of its usage, and yet it is %+v", answer.Spent)
		}
	})
}

func TestWhatIsMissingIsNamedBeforeAnythingIsSent(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*player)
		kind   agents.FailureKind
		want   string
	}{
		{"model", func(p *player) { p.o.Model = "" }, agents.FailStart, "no model is named"},
		{"key", func(p *player) { p.task.Env = nil }, agents.FailAuth, "MODEL_KEY"},
		{"address", func(p *player) { p.o.BaseURL = "localhost:11434" }, agents.FailStart, "no address of a server"},
		{"password", func(p *player) { p.o.BaseURL = "http://me:pass@127.0.0.1/v1" }, agents.FailStart, "has a password in it"},
		{"folder", func(p *player) { p.task.Dir += "/absent" }, agents.FailStart, "its folder cannot be opened"},
		{"log", func(p *player) { p.task.Log = "/proc/absent/log" }, agents.FailStart, "its log cannot be made"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlayer(t, "openai", inTurn(said("Done.")))
			tc.change(p)
			_, err := p.play(t.Context())
			f := failure(t, err)
			if f.Kind != tc.kind || !strings.Contains(f.Error(), tc.want) || strings.Contains(f.Error(), "pass@") || len(p.server.Requests()) > 0 {
				t.Errorf("%s: %v", f.Kind, f)
			}
		})
	}
}

func TestThoughtsGoBackAsTheyCame(t *testing.T) {
	reply := call("list", "{}")
	reply.Thought = "I think\nso"
	p := newPlayer(t, "anthropic", inTurn(reply, said("Done.")))
	p.task.Effort = "low"
	if _, err := p.play(t.Context()); err != nil {
		t.Fatal(err)
	}
	body := string(p.server.Requests()[1].Body)
	contains(t, "request", body, `{"signature":"signed","thinking":"I think\nso","type":"thinking"},{"type":"tool_use"`)
	contains(t, "request", body, `"cache_control":{"type":"ephemeral"}`)
}

func TestAServerWithoutKeysGetsNone(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		p := newPlayer(t, wire, inTurn(said("Done.")))
		p.o.KeyEnv, p.task.Env = "", nil
		if _, err := p.play(t.Context()); err != nil {
			t.Fatal(err)
		}
		h := p.server.Requests()[0].Header
		if h.Get("Authorization") != "" || h.Get("X-Api-Key") != "" {
			t.Errorf("header %v", h)
		}
	})
}

func TestOneBackendPlaysSeveralAtOnce(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		p := newPlayer(t, wire, func(r modelserver.Request) modelserver.Reply {
			if len(r.Results()) == 0 {
				return call("read", `{"path":"a"}`)
			}
			return said(r.Results()[0].Text)
		})
		b := httpmodel.New(noRunner{}, p.wire, p.o)
		done := make(chan string)
		for _, text := range []string{"one", "two", "three", "four"} {
			task := p.task
			task.Dir, task.Log, task.Watch = t.TempDir(), "", nil
			write(t, task.Dir, "a", text)
			go func() {
				answer, err := b.Run(t.Context(), task)
				if err != nil {
					answer.Text = err.Error()
				}
				done <- answer.Text
			}()
		}
		got := []string{<-done, <-done, <-done, <-done}
		slices.Sort(got)
		if want := []string{"four", "one", "three", "two"}; !slices.Equal(got, want) {
			t.Errorf("answers %v", got)
		}
	})
}
