package acp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/agents"
	"si/agents/stream/streamtest"
	"si/internal/secret"
)

func TestRead(t *testing.T) {
	big := strings.Repeat("x", maxLine)
	for _, tc := range []struct {
		name, in string
		sort     sort
		id       string
		long     bool
	}{
		{"request", `{"id":1,"method":"m"}`, request, "1", false},
		{"request with a text as id", `{"id":"a","method":"m"}`, request, "a", false},
		{"request with 0", `{"id":0,"method":"m"}`, request, "0", false},
		{"notification", `{"method":"m"}`, notification, "", false},
		{"notification with null", `{"id":null,"method":"m"}`, notification, "", false},
		{"reply", ` {"id":3,"result":null} ` + "\r", reply, "3", false},
		{"reply with 3.0", `{"id":3.0,"result":{}}`, reply, "3", false},
		{"error", `{"id":3,"error":{"code":1}}`, reply, "3", false},
		{"error without an id", `{"error":{"code":1}}`, reply, "", false},
		{"a number as method", `{"id":3,"method":4}`, reply, "3", false},
		{"an object as id", `{"id":{},"method":"m"}`, notification, "", false},
		{"a giant id", `{"id":"` + big[:1000] + `","method":"m"}`, notification, "", false},
		{"nothing", ``, stray, "", false},
		{"text", `Ready.`, stray, "", false},
		{"a list", `[{"id":1}]`, stray, "", false},
		{"broken", `{"id":1,`, stray, "", false},
		{"empty", `{}`, stray, "", false},
		{"too long, a request", `{"jsonrpc":"2.0","id":5,"method":"m","params":"` + big, request, "5", true},
		{"too long, a reply", `{"jsonrpc":"2.0","id":5,"result":"` + big, reply, "5", true},
		{"too long, an update", `{"method":"session/update","params":"` + big, notification, "", true},
		{"too long, nothing", `{"` + big, stray, "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := read([]byte(tc.in))
			if m.sort != tc.sort || idKey(m.ID) != tc.id || m.long != tc.long {
				t.Errorf("%d %q %v; want %d %q %v", m.sort, m.ID, m.long, tc.sort, tc.id, tc.long)
			}
		})
	}
}

// What gemini, opencode, qwen and copilot print with their own streams of JSON is
// nothing that si reads: they come by this protocol.
func TestOtherStreamsAreNoMessages(t *testing.T) {
	for _, line := range []string{
		`{"type":"init","session_id":"a","model":"m"}`,
		`{"type":"message","role":"assistant","content":"a","delta":true}`,
		`{"type":"step_finish","sessionID":"a","part":{"reason":"stop"}}`,
		`{"type":"result","subtype":"success","is_error":false,"session_id":"a"}`,
		`{"type":"assistant.message_delta","data":{"deltaContent":"a"}}`,
	} {
		if m := read([]byte(line)); m.sort != stray {
			t.Errorf("%s is taken for a message", line)
		}
	}
	for _, name := range []string{"gemini", "opencode", "qwen", "copilot"} {
		if _, found := Find(name); !found {
			t.Errorf("%s has no profile", name)
		}
	}
}

func TestTheOutboxIsBoundedAndDoesNotBlock(t *testing.T) {
	o := newOutbox()
	part := strings.Repeat("x", 1<<20)
	var err error
	for n := 0; err == nil && n < 100; n++ {
		err = o.send(part)
	}
	if !errors.Is(err, errQueue) || len(o.queue) > maxQueue+2<<20 {
		t.Errorf("%v with %d bytes", err, len(o.queue))
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(o)
	if err != nil || !bytes.HasSuffix(got, []byte("x\"\n")) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := o.send("late"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("sent after the end: %v", err)
	}
}

func TestAProgramThatAsksAndDoesNotReadIsGivenUp(t *testing.T) {
	s := newStage(t)
	s.clock.quick[closeGrace], s.clock.quick[cancelGrace] = true, true
	_, _, err := s.play(t, func(a *agent) {
		a.until("session/prompt")
		id := strings.Repeat("i", maxID-2)
		for range 60_000 {
			a.say(`{"jsonrpc":"2.0","id":"` + id + `","method":"x"}`)
		}
	})
	wantFailure(t, err, agents.FailModel, "does not read")
}

// session in the middle of a turn, whose program is nobody.
func bare(tb testing.TB) *session {
	tb.Helper()
	o := Options{Profile: Command("x"), Clock: newClock()}.withDefaults()
	return &session{
		o: o, p: o.Profile, id: "s1", asked: true, log: &transcript{}, meter: agents.NewMeter(agents.Limits{}), tools: newTools(),
		held: map[agents.EventKind]*secret.Stream{}, fence: fence{dir: "/w"},
		c: &child{out: newOutbox(), lines: make(chan line)}, secrets: secret.Of([]string{"A_KEY=secretsecret"}),
	}
}

func FuzzMessages(f *testing.F) {
	recordings, err := filepath.Glob("../testdata/acp/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range recordings {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for l := range bytes.Lines(text) {
			f.Add(bytes.TrimPrefix(l, []byte(">")))
		}
	}
	f.Add([]byte(`{"id":1,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"x","rawInput":{"path":"../.."}},"options":[{}]}}`))
	f.Add([]byte(`{"id":[],"error":7,"result":{},"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[0]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := bare(t)
		s.o.Clock = newClock()
		s.t.Watch = func(e agents.Event) {
			if strings.Contains(e.Text+e.Tool, "\x1b") || strings.Contains(e.Text+e.Tool, "secretsecret") {
				t.Errorf("event %+v", e)
			}
		}
		for range 2 {
			if m, is := s.take(line{text: text}); is {
				_ = s.handle(m)
				s.answers(m)
				s.account(m.Result)
				if m.Error != nil {
					_ = m.Error.kind()
				}
			}
		}
		s.flushTools()
		s.release()
		if len(s.tools.known) > maxKnown || len(s.text.text) > 2*maxAnswer+len(text) {
			t.Errorf("%d calls, %d bytes", len(s.tools.known), len(s.text.text))
		}
	})
}

func BenchmarkMessages(b *testing.B) {
	chunk := func(n int) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` +
			strings.Repeat("word ", n/5) + `"}}}}`
	}
	for name, text := range map[string]string{
		"chunk of 20 B":  chunk(20),
		"chunk of 60 kB": chunk(60_000),
		"tool call": `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","kind":"execute","title":"make",` +
			`"rawInput":{"command":"make","cwd":"/w"},"content":[{"type":"content","content":{"type":"text","text":"ok\n"}}]}}}`,
	} {
		b.Run(name, func(b *testing.B) {
			streamtest.Measure(b, func(sample func()) {
				s := bare(b)
				for size := 0; size < streamtest.Size; size += len(text) {
					m, _ := s.take(line{text: []byte(text)})
					if err := s.handle(m); err != nil {
						b.Fatal(err)
					}
					sample()
				}
			})
		})
	}
}

func ExampleFind() {
	p, found := Find("acp:kimi acp")
	fmt.Println(p.Name, p.Program, p.Args, found)
	// Output: acp:kimi acp /bin/sh [-c kimi acp] true
}
