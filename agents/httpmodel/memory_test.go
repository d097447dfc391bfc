package httpmodel_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"si/agents"
	"si/internal/modelserver"
)

// flood sends 200 MB of one kind and notes the largest heap on the way.
type flood struct {
	start, each string
	peak        atomic.Uint64
	sent        atomic.Int64 // the server may still be writing when its client has left
}

func (f *flood) write(w http.ResponseWriter, _ modelserver.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, f.start)
	for n := 0; n < 200<<20; n += len(f.each) {
		if _, err := fmt.Fprint(w, f.each); err != nil {
			return
		}
		if sent := f.sent.Add(int64(len(f.each))); sent%(4<<20) < int64(len(f.each)) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			f.peak.Store(max(f.peak.Load(), m.HeapAlloc))
		}
	}
}

func TestMemoryIsBoundedWhateverAServerSends(t *testing.T) {
	const limit = 96 << 20 // the server's own share included
	body := strings.Repeat("x", 8000)
	for _, tc := range []struct{ name, wire, start, each string }{
		{"one line", "openai", "data: ", body},
		{"comments", "openai", "", ": " + body + "\n\n"},
		{"text", "openai", "", `data: {"choices":[{"delta":{"content":"` + body + `"}}]}` + "\n\n"},
		{"arguments", "openai", "", `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"` + body + `"}}]}}]}` + "\n\n"},
		{"calls", "openai", "", `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"` + body + `"}}]}}]}` + "\n\n"},
		{"thoughts", "openai", "", `data: {"choices":[{"delta":{"reasoning":"` + body + `"}}]}` + "\n\n"},
		{
			"text", "anthropic", `data: {"type":"content_block_start","index":0,"content_block":{"type":"text"}}` + "\n\n",
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + body + `"}}` + "\n\n",
		},
		{
			"arguments", "anthropic", `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use"}}` + "\n\n",
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + body + `"}}` + "\n\n",
		},
		{"one line", "anthropic", "data: ", body},
	} {
		t.Run(tc.wire+" "+tc.name, func(t *testing.T) {
			f := &flood{start: tc.start, each: tc.each}
			p := newPlayer(t, tc.wire, inTurn(fault(modelserver.Fault{Raw: f.write}), fault(modelserver.Broken())))
			p.task.Watch, p.o.Retries = nil, 1
			_, err := p.play(t.Context())
			if agents.KindOf(err) != agents.FailModel {
				t.Errorf("error %v", err)
			}
			if peak, sent := f.peak.Load(), f.sent.Load(); peak > limit || sent > 100<<20 {
				t.Errorf("peak %d MB after %d MB", peak>>20, sent>>20)
			}
		})
	}
}
