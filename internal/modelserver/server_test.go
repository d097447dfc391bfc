package modelserver

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, script Script) *Server {
	t.Helper()
	s, err := Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// post sends a request and gives the status and what came back.
func post(t *testing.T, s *Server, path, body string) (int, http.Header, string) {
	t.Helper()
	resp, err := http.Post(s.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		text = append(text, "\nerror: "+err.Error()...)
	}
	return resp.StatusCode, resp.Header, string(text)
}

// asked is one conversation in each format: a system text, a prompt, a call with
// its result, and a tool on offer.
func asked() map[Format][2]string {
	return map[Format][2]string{
		Chat: {"/v1/chat/completions", `{"model":"m","stream":STREAM,"messages":[{"role":"system","content":"sys"},{"role":"user","content":[{"type":"text","text":"hi"}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":1}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"found"}],
			"tools":[{"type":"function","function":{"name":"read","description":"d","parameters":{"type":"object"}}}],
			"tool_choice":{"type":"function","function":{"name":"read"}},"response_format":{"type":"json_object"}}`},
		Messages: {"/v1/messages?beta=true", `{"model":"m","max_tokens":9,"stream":STREAM,"system":[{"type":"text","text":"sys"}],"messages":[{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{"path":1}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"found"}]}]}],
			"tools":[{"name":"read","description":"d","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"read"}}`},
		Responses: {"/v1/responses", `{"model":"m","stream":STREAM,"instructions":"sys","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},
			{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":1}"},
			{"type":"function_call_output","call_id":"c1","output":"found"}],
			"tools":[{"type":"function","name":"read","description":"d","parameters":{"type":"object"}}]}`},
		Gemini: {"/v1beta/models/m:VERB", `{"systemInstruction":{"parts":[{"text":"sys"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]},
			{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":1}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"found"}}}]}],
			"tools":[{"functionDeclarations":[{"name":"read","description":"d","parameters":{"type":"object"}}]}]}`},
	}
}

// ask sends the conversation of a format.
func ask(t *testing.T, s *Server, f Format, stream bool) (int, http.Header, string) {
	t.Helper()
	verb, word := "generateContent", "false"
	if stream {
		verb, word = "streamGenerateContent?alt=sse", "true"
	}
	a := asked()[f]
	return post(t, s, strings.ReplaceAll(a[0], "VERB", verb), strings.ReplaceAll(a[1], "STREAM", word))
}

func TestEveryFormatIsReadIntoOneShape(t *testing.T) {
	for f := range asked() {
		for _, stream := range []bool{false, true} {
			t.Run(string(f), func(t *testing.T) {
				s := start(t, func(Request) Reply { return Reply{Text: "ok"} })
				if status, _, body := ask(t, s, f, stream); status != http.StatusOK {
					t.Fatalf("status %d: %s", status, body)
				}
				r := s.Requests()[0]
				if r.N != 1 || r.Format != f || r.Model != "m" || r.Stream != stream || r.System != "sys" || r.Text("user") != "hi" {
					t.Errorf("request %+v", r)
				}
				var calls []Call
				for _, turn := range r.Turns {
					calls = append(calls, turn.Calls...)
				}
				if len(calls) != 1 || calls[0].Name != "read" || calls[0].Args != `{"path":1}` {
					t.Errorf("calls %+v", calls)
				}
				if got := r.Results(); len(got) != 1 || got[0].ID != calls[0].ID || !strings.Contains(got[0].Text, "found") {
					t.Errorf("results %+v", got)
				}
				if tool, found := r.Tool("read"); !found || tool.About != "d" || string(tool.Schema) != `{"type":"object"}` {
					t.Errorf("tools %+v", r.Tools)
				}
			})
		}
	}
}

func TestEveryFormatAnswersInWholeAndInParts(t *testing.T) {
	reply := Reply{
		Text: "Good day to you.", Thought: "hm", Calls: []Call{{Name: "read", Args: `{"path":"x"}`}, {ID: "own", Name: "list", Args: `{}`}},
		Usage: Usage{Input: 10, CacheRead: 5, Output: 7, Reasoning: 2},
	}
	ends := map[Format]string{Chat: "data: [DONE]", Messages: `"type":"message_stop"`, Responses: `"type":"response.completed"`, Gemini: `"finishReason":"STOP"`}
	for f := range asked() {
		t.Run(string(f), func(t *testing.T) {
			s := start(t, func(Request) Reply { return reply })
			_, h, whole := ask(t, s, f, false)
			if h.Get("Content-Type") != "application/json" || !json.Valid([]byte(whole)) {
				t.Errorf("%v: %s", h, whole)
			}
			_, h, stream := ask(t, s, f, true)
			if h.Get("Content-Type") != "text/event-stream" || !strings.Contains(stream, ends[f]) {
				t.Errorf("%v: %s", h, stream)
			}
			for _, want := range []string{"Good day to you.", `"read"`, `"list"`, "own"} {
				if !strings.Contains(whole, want) {
					t.Errorf("%q is not in %s", want, whole)
				}
			}
			for _, want := range []string{`"Good d`, `"read"`, `"list"`, "own"} {
				if !strings.Contains(stream, want) {
					t.Errorf("%q is not in %s", want, stream)
				}
			}
			checkEvents(t, stream)
		})
	}
}

// checkEvents looks whether each line of data is JSON.
func checkEvents(t *testing.T, stream string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(stream))
	var n int
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if is && data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Errorf("not JSON: %s", data)
		}
		if is {
			n++
		}
	}
	if n < 3 {
		t.Errorf("%d events", n)
	}
}

func TestFaults(t *testing.T) {
	for f := range asked() {
		t.Run(string(f), func(t *testing.T) {
			var fault Fault
			s := start(t, func(Request) Reply { return Reply{Text: "a text of some length", Fault: fault} })
			for _, tc := range []struct {
				name   string
				fault  Fault
				status int
				has    string
			}{
				{"unauthorized", Unauthorized(), 401, "invalid x-api-key"},
				{"rate", RateLimit("7"), 429, "slow down"},
				{"plan", PlanLimit("come back at 3am"), 429, "come back at 3am"},
				{"broken", Broken(), 500, "Internal server error"},
				{"malformed", Fault{Malformed: true}, 200, `{"this is": not JSON`},
				{"in the stream", Fault{InStream: true, Code: "overloaded_error", Said: "busy"}, 200, "overloaded_error"},
				{"dropped", Fault{Drop: true}, 200, "unexpected EOF"},
			} {
				fault = tc.fault
				status, h, body := ask(t, s, f, true)
				if status != tc.status || !strings.Contains(body, tc.has) || h.Get("Retry-After") != tc.fault.RetryAfter {
					t.Errorf("%s: %d, %v: %s", tc.name, status, h, body)
				}
			}
			fault = Fault{}
			_, _, whole := ask(t, s, f, true)
			fault = Fault{Cut: true}
			if _, _, cut := ask(t, s, f, true); len(cut) >= len(whole)*3/4 || cut == "" {
				t.Errorf("cut: %d of %d bytes", len(cut), len(whole))
			}
		})
	}
}

func TestAGateHoldsAStream(t *testing.T) {
	gate := make(chan struct{})
	s := start(t, func(Request) Reply { return Reply{Text: "abcdef", Parts: 6, Gate: gate} })
	resp, err := http.Post(s.URL()+"/v1/chat/completions", "application/json", strings.NewReader(`{"stream":true,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for range 3 { // a piece comes for each token, and none without one
		gate <- struct{}{}
		if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "data: ") {
			t.Fatalf("%q, %v", line, err)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if n := lines.Buffered(); n > 0 {
		t.Errorf("%d bytes came without a token", n)
	}
}

func TestConversationsThatMakeNoSenseAreRefused(t *testing.T) {
	s := start(t, func(Request) Reply { return Reply{Text: "ok"} })
	for _, tc := range []struct{ path, body, want string }{
		{"/v1/chat/completions", `{`, "unexpected end"},
		{"/v1/chat/completions", `{"messages":[{"role":"tool","tool_call_id":"x","content":"y"}]}`, "which was not made"},
		{"/v1/chat/completions", `{"messages":[{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"a"}}]},{"role":"user","content":"and?"}]}`, "has no result"},
		{"/v1/chat/completions", `{"messages":[{"role":"assistant","content":""}]}`, "is empty"},
		{"/v1/messages", `{"messages":[]}`, "max_tokens: field required"},
	} {
		if status, _, body := post(t, s, tc.path, tc.body); status != http.StatusBadRequest || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %d: %s", tc.body, status, body)
		}
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests were put to the script", n)
	}
	for path, want := range map[string]int{"/v1/models": 404, "/v1/messages/count_tokens": 200, "/v1beta/models/m:countTokens": 200, "/elsewhere": 404} {
		if status, _, _ := post(t, s, path, "{}"); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}
