package codex

import (
	"flag"
	"testing"
	"time"

	"si/agents/stream"
	"si/agents/stream/streamtest"
)

// update makes the tests write the golden files anew.
var update = flag.Bool("update", false, "write the golden files anew")

func newDialect() stream.Dialect { return &dialect{now: streamtest.Now, zone: time.UTC} }

func TestRecordedStreams(t *testing.T) {
	for name, path := range streamtest.Recordings(t, "codex") {
		t.Run(name, func(t *testing.T) {
			streamtest.Golden(t, name+".golden", streamtest.Replay(t, newDialect(), path), *update)
		})
	}
}

func FuzzDialect(f *testing.F) { streamtest.Fuzz(f, "codex", newDialect) }

func BenchmarkDialect(b *testing.B) { streamtest.Benchmark(b, "codex", newDialect) }
