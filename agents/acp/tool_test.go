package acp

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"si/agents"
)

// tooling plays updates in a turn and shows the events of tools.
func tooling(t *testing.T, updates ...string) []string {
	t.Helper()
	s := newStage(t)
	_, _, err := s.play(t, func(a *agent) {
		m, _ := a.until("session/prompt")
		for _, u := range updates {
			a.update(u)
		}
		a.text("a")
		a.done(m)
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range s.events {
		if e.Tool != "" || e.ToolID != "" {
			text := fmt.Sprintf("%s %s %s %s", e.Kind, e.ToolID, e.Tool, e.Text)
			if e.Failed {
				text += " failed"
			}
			out = append(out, text)
		}
	}
	return out
}

func TestToolCalls(t *testing.T) {
	for _, tc := range []struct {
		name    string
		updates []string
		want    []string
	}{
		{
			"told of once",
			[]string{`{"sessionUpdate":"tool_call","toolCallId":"1","title":"Read a.go","kind":"read","status":"completed"}`},
			[]string{"tool_start 1 read Read a.go", "tool_end 1 read "},
		},
		{"announced before it is known", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"bash","kind":"execute","status":"pending","rawInput":{"cwd":"/w"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","title":"make"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"failed","rawOutput":{"output":"no rule","exit":2}}`,
		}, []string{"tool_start 1 execute make", "tool_end 1 execute no rule failed"}},
		{"announced and no more", []string{`{"sessionUpdate":"tool_call","toolCallId":"1","title":"think"}`}, []string{"tool_start 1 think think"}},
		{
			"ended without a beginning",
			[]string{`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","title":"x"}`},
			[]string{"tool_start 1 x x", "tool_end 1 x "},
		},
		{"told of after its end", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"x","status":"completed"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`,
		}, []string{"tool_start 1 x x", "tool_end 1 x "}},
		{"an id that is used again", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"x","status":"completed"}`,
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"y","status":"completed"}`,
		}, []string{"tool_start 1 x x", "tool_end 1 x ", "tool_start 1 y y", "tool_end 1 y "}},
		{"output that grows", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"x","status":"in_progress"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"one\n"}}]}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"one\ntwo\n"}}]}`,
		}, []string{"tool_start 1 x x", "tool_output 1 x one\n", "tool_output 1 x two\n"}},
		{
			"control characters",
			[]string{`{"sessionUpdate":"tool_call","toolCallId":"1\u001b[2J","title":"\u001b[31mred\u0007\r","kind":"re\u001b[0mad","status":"failed"}`},
			[]string{"tool_start 1 read red", "tool_end 1 read  failed"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tooling(t, tc.updates...)
			if strings.Join(got, "|") != strings.Join(tc.want, "|") {
				t.Errorf("events %q\nwant   %q", got, tc.want)
			}
		})
	}
}

// The limit of repeated calls compares what is asked: calls that differ must, and
// calls that are the same must not.
func TestCallsThatDifferAreToldApart(t *testing.T) {
	long := strings.Repeat("x", 500)
	call := func(rest string) string {
		return `{"sessionUpdate":"tool_call","toolCallId":"` + fmt.Sprint(len(rest)) + `","status":"completed",` + rest + `}`
	}
	for _, tc := range []struct {
		name, a, b string
		same       bool
	}{
		{"titles", `"title":"a"`, `"title":"b"`, false},
		{"parameters", `"title":"Edit","rawInput":{"file":"f","old":"a"}`, `"title":"Edit","rawInput":{"file":"f","old":"b"}`, false},
		{"the end of a long parameter", `"title":"Write","rawInput":{"text":"` + long + `a"}`, `"title":"Write","rawInput":{"text":"` + long + `b"}`, false},
		{"diffs", `"title":"Edit","content":[{"type":"diff","path":"f","oldText":"a","newText":"b"}]`, `"title":"Edit","content":[{"type":"diff","path":"f","oldText":"a","newText":"c"}]`, false},
		{"the end of a long command", `"title":"sh","rawInput":{"command":"` + long + `a"}`, `"title":"sh","rawInput":{"command":"` + long + `b"}`, false},
		{"ids only", `"title":"sh","rawInput":{"command":["/bin/bash","-lc","ls"],"call_id":"1"}`, `"title":"sh","rawInput":{"command":["/bin/bash","-lc","ls"],"call_id":"2"}`, true},
		{"the order of parameters", `"title":"x","rawInput":{"a":1,"b":2}`, `"title":"x","rawInput":{"b":2,"a":1}`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := tooling(t, call(tc.a))[0], tooling(t, call(tc.b))[0]
			strip := func(text string) string { return strings.SplitN(text, " ", 3)[2] }
			if (strip(a) == strip(b)) != tc.same {
				t.Errorf("%q and %q", a, b)
			}
		})
	}
}

func TestCallsAreRememberedInBoundedMemory(t *testing.T) {
	s := newStage(t)
	s.task.Watch = func(agents.Event) {}
	var peak uint64
	big := strings.Repeat("z", 15<<10)
	_, _, err := s.play(t, func(a *agent) {
		m, _ := a.until("session/prompt")
		for i := range 400 {
			a.update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"%d%s","title":"%s","status":"in_progress","rawInput":{"path":"%d","text":"%s"},"locations":[{"path":"%s"}]}`,
				i, big[:1000], big, i, big, big))
			if i%100 == 99 {
				runtime.GC()
				var stats runtime.MemStats
				runtime.ReadMemStats(&stats)
				peak = max(peak, stats.HeapAlloc)
			}
		}
		a.text("a")
		a.done(m)
	})
	t.Logf("peak %d MB", peak>>20)
	if err != nil || peak > 8<<20 {
		t.Errorf("peak %d MB of 24, %v", peak>>20, err)
	}
}

func TestThePlanOfAnAgent(t *testing.T) {
	s := newStage(t)
	_, _, err := s.play(t, func(a *agent) {
		m, _ := a.until("session/prompt")
		a.update(`{"sessionUpdate":"plan","entries":[{"content":"look","status":"completed"},{"content":"edit","status":"in_progress"},{"content":"test\n","status":"pending"}]}`)
		a.text("a")
		a.done(m)
	})
	if plans := s.of(agents.EventPlan); err != nil || len(plans) != 1 || plans[0].Text != "[x] look\n[>] edit\n[ ] test" {
		t.Errorf("plans %+v, %v", plans, err)
	}
}
