package openai

import (
	"bytes"
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

// chunks makes a stream of events.
func chunks(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
}

const (
	stop  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	calls = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
)

func delta(d string) string { return `{"model":"m","choices":[{"index":0,"delta":` + d + `}]}` }

func TestRepliesOfManyServers(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"text", chunks(delta(`{"content":"He"}`), delta(`{"content":"llo"}`), stop, "[DONE]"), "Hello []"},
		{"null content", chunks(delta(`{"content":null,"role":"assistant"}`), delta(`{"content":"x"}`), stop, "[DONE]"), "x []"},
		{
			"calls by their index", chunks(
				delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"pa"}},{"index":1,"id":"b","function":{"name":"list","arguments":""}}]}`),
				delta(`{"tool_calls":[{"index":1,"function":{"arguments":"{}"}},{"index":0,"function":{"arguments":"th\":1}"}}]}`), calls, "[DONE]"),
			` [{a read {"path":1}} {b list {}}]`,
		},
		{
			"calls without an index or an id", chunks(
				delta(`{"tool_calls":[{"function":{"name":"read","arguments":"{}"}}]}`), delta(`{"tool_calls":[{"function":{"name":"list","arguments":"{"}}]}`),
				delta(`{"tool_calls":[{"function":{"arguments":"}"}}]}`), calls, "[DONE]"),
			` [{call_0 read {}} {call_1 list {}}]`,
		},
		{"arguments as an object", chunks(delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":{"path":"x"}}}]}`), calls, "[DONE]"), ` [{a read {"path":"x"}}]`},
		{"a second choice", chunks(`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"}}]}`, stop, "[DONE]"), "yes []"},
		{"unknown fields", chunks(`{"x_new":{"a":[]},"choices":[{"index":0,"logprobs":null,"delta":{"content":"yes","x":1}}]}`, stop, "[DONE]"), "yes []"},
		{"comments between", ": PROCESSING\n\n" + chunks(delta(`{"content":"x"}`), stop, " [DONE]"), "x []"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, _, err := decode(tc.in)
			if got := fmt.Sprintf("%s %v", r.Message.Text, r.Message.Calls); err != nil || got != tc.want {
				t.Errorf("reply %q, error %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestThoughtsAreHeardAndNotAnswered(t *testing.T) {
	r, heard, err := decode(chunks(delta(`{"reasoning_content":"a"}`), delta(`{"reasoning":"b"}`), delta(`{"content":"c"}`), stop, "[DONE]"))
	if err != nil || r.Message.Text != "c" || heard != "thought:a;thought:b;text:c;" || r.Model != "m" {
		t.Errorf("reply %+v, heard %q, error %v", r, heard, err)
	}
}

func TestUsageIsNormalised(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want agents.Usage
	}{
		{`{"prompt_tokens":100,"completion_tokens":20}`, agents.Usage{Input: 100, Output: 20}},
		{`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":8}}`, agents.Usage{Input: 36, CacheRead: 64, Output: 20, Reasoning: 8}},
		{`{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":64}}`, agents.Usage{CacheRead: 10, Output: 1}},
		{`{"prompt_tokens":-5,"completion_tokens":-5,"prompt_tokens_details":null}`, agents.Usage{}},
	} {
		r, _, err := decode(chunks(delta(`{"content":"x"}`), stop, `{"choices":[],"usage":`+tc.in+`}`, "[DONE]"))
		if err != nil || r.Usage == nil || *r.Usage != tc.want {
			t.Errorf("%s: usage %+v, error %v", tc.in, r.Usage, err)
		}
	}
	if r, _, err := decode(chunks(delta(`{"content":"x"}`), stop, "[DONE]")); err != nil || r.Usage != nil {
		t.Errorf("usage that nobody told: %+v, %v", r.Usage, err)
	}
}

func TestAStreamIsWholeOrAnError(t *testing.T) {
	whole := chunks(delta(`{"content":"Hello"}`), stop, `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, "[DONE]")
	for n := range len(whole) {
		_, _, err := decode(whole[:n])
		if n >= strings.Index(whole, "[DONE]")+len("[DONE]") {
			if err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		} else if !errors.Is(err, httpmodel.ErrCut) {
			t.Errorf("%d bytes: error %v, want %v", n, err, httpmodel.ErrCut)
		}
	}
	if _, _, err := decode(chunks(delta(`{"content":"x"}`), "[DONE]")); !errors.Is(err, httpmodel.ErrCut) {
		t.Errorf("without a reason to finish: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(chunks(delta(`{"content":"x"}`), stop, "[DONE]")))
	f.Add([]byte(chunks(delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}`), calls, "[DONE]")))
	f.Add([]byte(chunks(`{"error":{"message":"no","code":3}}`)))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1}]}}],\"usage\":{}}\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		_, err := Wire{}.Decode(httpmodel.NewStream(bytes.NewReader(in)), func(agents.EventKind, string) {})
		var malformed *httpmodel.MalformedError
		var refused *httpmodel.Refusal
		switch {
		case err == nil && !bytes.Contains(in, []byte("[DONE]")):
			t.Error("a reply that the server did not end is taken for whole")
		case err != nil && !errors.Is(err, httpmodel.ErrCut) && !errors.As(err, &malformed) && !errors.As(err, &refused):
			t.Errorf("error %v", err)
		}
	})
}

// BenchmarkDecode reads 50 MB of replies of 1 MB, word by word.
func BenchmarkDecode(b *testing.B) {
	words := strings.Repeat("data: "+delta(`{"content":"a word or two of an answer "}`)+"\n\n", 12_000)
	reply := words + chunks(stop, "[DONE]")
	streamtest.Measure(b, func(sample func()) {
		for size := 0; size < streamtest.Size; size += len(reply) {
			_, err := Wire{}.Decode(httpmodel.NewStream(strings.NewReader(reply)), func(agents.EventKind, string) { sample() })
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
