package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"si/agents"
	"si/agents/httpmodel"
	"si/agents/stream/streamtest"
)

func decode(in string) (httpmodel.Reply, string, error) {
	var heard strings.Builder
	r, err := Wire{}.Decode(httpmodel.NewStream(strings.NewReader(in)), func(kind agents.EventKind, text string) {
		fmt.Fprintf(&heard, "%s:%s;", kind, text)
	})
	return r, heard.String(), err
}

// stream makes a stream of events, each with its type as its name.
func stream(events ...string) string {
	var out strings.Builder
	for _, e := range events {
		fmt.Fprintf(&out, "data: %s\n\n", e)
	}
	return out.String()
}

const (
	begin = `{"type":"message_start","message":{"model":"m","usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":3,"output_tokens":1}}}`
	end   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`
	over  = `{"type":"message_stop"}`
)

func TestReplies(t *testing.T) {
	text := `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	tool := `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}`
	for _, tc := range []struct{ name, in, want, heard string }{
		{"text", stream(begin, text, `{"type":"ping"}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`, `{"type":"content_block_stop","index":0}`, end, over), "Hi []", "text:Hi;"},
		{"a call", stream(begin, tool, `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":":1}"}}`, end, over), ` [{t read {"a":1}}]`, ""},
		{"a call without arguments", stream(begin, tool, end, over), " [{t read {}}]", ""},
		{"a call that is whole at once", stream(begin, strings.Replace(tool, "{}", `{"a":2}`, 1), end, over), ` [{t read {"a":2}}]`, ""},
		{"blocks and deltas of later versions", stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"citation"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"cite","x":1}}`, `{"type":"novelty"}`, end, over), " []", ""},
		{"a thought", stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`, end, over), " []", "thought:hm;"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, heard, err := decode(tc.in)
			if got := fmt.Sprintf("%s %v", r.Message.Text, r.Message.Calls); err != nil || got != tc.want || heard != tc.heard {
				t.Fatalf("reply %q, heard %q, error %v; want %q, %q", got, heard, err, tc.want, tc.heard)
			}
			if want := (agents.Usage{Input: 10, CacheRead: 5, CacheWrite: 3, Output: 7}); r.Usage == nil || *r.Usage != want || r.Model != "m" {
				t.Errorf("usage %+v of %s", r.Usage, r.Model)
			}
		})
	}
}

func TestAStreamIsWholeOrAnError(t *testing.T) {
	whole := stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}`, end, over)
	for n := range len(whole) {
		_, _, err := decode(whole[:n])
		if n >= strings.Index(whole, over)+len(over) {
			if err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		} else if !errors.Is(err, httpmodel.ErrCut) {
			t.Errorf("%d bytes: error %v, want %v", n, err, httpmodel.ErrCut)
		}
	}
}

func TestWhatMakesNoSenseIsMalformed(t *testing.T) {
	for _, in := range []string{
		stream(begin, `{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"x"}}`),
		stream(`{"type":"content_block_start","index":0}`, `{"type":"content_block_start","index":0}`),
		stream("null of JSON"),
		stream("[]"),
	} {
		_, _, err := decode(in)
		var malformed *httpmodel.MalformedError
		if !errors.As(err, &malformed) {
			t.Errorf("%q: error %v", in, err)
		}
	}
}

func TestABrokenCallIsSentBackAsAnEmptyOne(t *testing.T) {
	for _, args := range []string{`{"a":`, `[]`, `null`, `"text"`, ``} {
		body, err := Wire{}.Encode(httpmodel.Request{Model: "m", Messages: []httpmodel.Message{{From: httpmodel.Model, Calls: []httpmodel.Call{{ID: "t", Name: "read", Args: args}}}}})
		if err != nil || !strings.Contains(string(body), `"input":{}`) || !json.Valid(body) {
			t.Errorf("%q: %s, %v", args, body, err)
		}
	}
}

func TestBase(t *testing.T) {
	for in, want := range map[string]string{
		"": "https://api.anthropic.com", "http://h/v1": "http://h", "http://h/v1/": "http://h", "http://h/": "http://h", "http://h/v1/messages": "http://h", "http://h/proxy": "http://h/proxy",
	} {
		if got := (Wire{}).Base(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}`, end, over)))
	f.Add([]byte(stream(begin, `{"type":"content_block_start","index":-1,"content_block":{"type":"tool_use"}}`, end, over)))
	f.Add([]byte(stream(`{"type":"error","error":{"type":"overloaded_error"}}`)))
	f.Fuzz(func(t *testing.T, in []byte) {
		_, err := Wire{}.Decode(httpmodel.NewStream(bytes.NewReader(in)), func(agents.EventKind, string) {})
		var malformed *httpmodel.MalformedError
		var refused *httpmodel.Refusal
		switch {
		case err == nil && !bytes.Contains(in, []byte("message")):
			t.Error("a reply that the server did not end is taken for whole")
		case err != nil && !errors.Is(err, httpmodel.ErrCut) && !errors.As(err, &malformed) && !errors.As(err, &refused):
			t.Errorf("error %v", err)
		}
	})
}

// BenchmarkDecode reads 50 MB of replies of 1 MB, word by word.
func BenchmarkDecode(b *testing.B) {
	const block = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	words := strings.Repeat(stream(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a word or two of an answer "}}`), 8_500)
	reply := stream(begin, block) + words + stream(`{"type":"content_block_stop","index":0}`, end, over)
	streamtest.Measure(b, func(sample func()) {
		for size := 0; size < streamtest.Size; size += len(reply) {
			_, err := Wire{}.Decode(httpmodel.NewStream(strings.NewReader(reply)), func(agents.EventKind, string) { sample() })
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
