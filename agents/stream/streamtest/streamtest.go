// Package streamtest has what the tests of all dialects share: recorded streams
// replayed into lines that a golden file can hold, and hostile ones.
package streamtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"si/agents"
	"si/agents/stream"
	"si/internal/clean"
	"si/internal/proc"
)

// Now is the time of all replays.
func Now() time.Time { return time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC) }

// Replay feeds a recorded stream to a dialect and tells, a line each, its events
// and its verdict. A line that begins with > is what a client sent.
func Replay(t *testing.T, d stream.Dialect, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		for _, e := range d.Line([]byte(line)) {
			fmt.Fprintln(&out, Tell(e))
		}
	}
	fmt.Fprintf(&out, "done %v\n%s\n", d.Done(), verdict(d.End(stream.Exit{Outcome: proc.Exited})))
	return out.String()
}

// Tell is an event on one line.
func Tell(e agents.Event) string {
	parts := []string{string(e.Kind)}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	add("session", e.Session)
	add("model", e.Model)
	add("tool", e.Tool)
	add("id", e.ToolID)
	if e.Failed {
		parts = append(parts, "failed")
	}
	if u := e.Usage; u != nil {
		add("usage", fmt.Sprintf("%d+%d+%d>%d(%d)", u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning))
	}
	if e.CostUSD != nil {
		add("usd", fmt.Sprintf("%.6f", *e.CostUSD))
	}
	if !e.Until.IsZero() {
		add("until", e.Until.UTC().Format(time.RFC3339Nano))
	}
	if e.Text != "" {
		parts = append(parts, fmt.Sprintf("%q", clean.Line(e.Text, 200)))
	}
	return strings.Join(parts, " ")
}

func verdict(v stream.Verdict) string {
	if v.Kind == "" {
		return fmt.Sprintf("success %q json %s", v.Text, v.JSON)
	}
	out := fmt.Sprintf("failure %s: %s: %q", v.Kind, v.What, v.Said)
	if !v.Until.IsZero() {
		out += " until " + v.Until.UTC().Format(time.RFC3339)
	}
	return out
}

// Golden compares got with the file testdata/name, or writes it anew.
func Golden(t *testing.T, name, got string, update bool) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; 'go test -update' writes it anew\n got:\n%s\nwant:\n%s", path, got, want)
	}
}

// Recordings are the recorded streams of a program, by their names.
func Recordings(t *testing.T, program string) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "testdata", "streams", program+"*.jsonl"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no recorded streams of %s: %v", program, err)
	}
	out := map[string]string{}
	for _, path := range found {
		out[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = path
	}
	return out
}

// Fuzz feeds what a fuzzer made of recorded streams to a new dialect, and checks
// that it neither panics nor makes more of its lines than there was in them.
func Fuzz(f *testing.F, program string, newDialect func() stream.Dialect) {
	f.Helper()
	found, err := filepath.Glob(filepath.Join("..", "testdata", "streams", program+"*.jsonl"))
	if err != nil || len(found) == 0 {
		f.Fatalf("no recorded streams of %s: %v", program, err)
	}
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		for line := range strings.Lines(string(data)) {
			f.Add([]byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDialect()
		said := 0
		for line := range strings.Lines(string(data)) {
			for _, e := range d.Line([]byte(line)) {
				said += len(e.Text)
			}
			d.Long([]byte(line)[:min(len(line), 64)])
			d.Done()
		}
		if said > 4*len(data)+1024 {
			t.Errorf("%d bytes became events of %d", len(data), said)
		}
		for _, code := range []int{0, 1, 143} {
			v := d.End(stream.Exit{Outcome: proc.Exited, Code: code})
			if v.Kind == "" && v.What != "" || v.Kind != "" && v.What == "" {
				t.Errorf("verdict %+v", v)
			}
		}
	})
}

// Orders are the tasks by which the flags of a program are pinned, in their order.
func Orders() []struct {
	Name string
	Open bool
	Root bool
	Task agents.Task
} {
	box := &proc.Containment{}
	full := agents.Task{
		Role: agents.Planner, Prompt: "p", Model: "m-1", Effort: "high", Contain: box, Limits: agents.Limits{CostUSD: 1.5},
		Schema: []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`),
		MCP:    []agents.MCPServer{{Name: "si", Command: "/bin/si", Args: []string{"mcp", `a "b"`}, Env: []string{"K=v=w"}}},
		Env:    []string{"PATH=/bin", "CLAUDECODE=1", "ANTHROPIC_API_KEY=all", "OPENAI_API_KEY=all", "CHOSEN=1"},
	}
	return []struct {
		Name string
		Open bool
		Root bool
		Task agents.Task
	}{
		{"an executor in the sandbox, as root", false, true, agents.Task{Role: agents.Executor, Prompt: "p", Contain: box}},
		{"an executor in a sandbox that holds nothing", true, true, agents.Task{Role: agents.Executor, Prompt: "p", Contain: box}},
		{"an executor without a sandbox", false, false, agents.Task{Role: agents.Executor, Prompt: "p"}},
		{"a planner in the sandbox", false, true, agents.Task{Role: agents.Planner, Prompt: "p", Contain: box}},
		{"a planner without a sandbox", false, false, agents.Task{Role: agents.Planner, Prompt: "p"}},
		{"everything at once", false, false, full},
	}
}

// TellOrders gives each of Orders to a program, and tells what it makes of it.
func TellOrders(t *testing.T, make func(stream.Options) stream.Program) string {
	t.Helper()
	var out strings.Builder
	for _, c := range Orders() {
		o := stream.Options{Open: c.Open, Root: c.Root, Lookup: func(name string) (string, bool) {
			return "own", name == "ANTHROPIC_API_KEY" || name == "CODEX_API_KEY" || name == "OPENAI_API_KEY"
		}}
		order, err := make(o).Order(c.Task, "/run")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n", c.Name)
		for _, a := range order.Args {
			fmt.Fprintf(&out, "  %s\n", a)
		}
		fmt.Fprintf(&out, "  < %q\n", order.Stdin)
		for _, e := range order.Env {
			fmt.Fprintf(&out, "  env %s\n", e)
		}
		for name, data := range order.Files {
			fmt.Fprintf(&out, "  file %s: %s\n", name, data)
		}
		for _, n := range order.Notes {
			fmt.Fprintf(&out, "  note: %s\n", n)
		}
	}
	return out.String()
}

// Benchmark measures what a run of 50 MB, made of recorded streams again and again,
// costs a dialect.
func Benchmark(b *testing.B, program string, newDialect func() stream.Dialect) {
	b.Helper()
	found, err := filepath.Glob(filepath.Join("..", "testdata", "streams", program+"*.jsonl"))
	if err != nil || len(found) == 0 {
		b.Fatalf("no recorded streams of %s: %v", program, err)
	}
	var lines [][]byte
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			lines = append(lines, []byte(line))
		}
	}
	Measure(b, func(sample func()) {
		d, size := newDialect(), 0
		for i := 0; size < Size; i++ {
			line := lines[i%len(lines)]
			d.Line(line)
			size += len(line)
			sample()
		}
	})
}

// Size is how long a stream is that adapters are measured with, in bytes.
const Size = 50 << 20

// Measure reports how many lines a second feed takes of a stream of Size, and by how
// much the heap has grown meanwhile at most: feed calls sample after each line.
func Measure(b *testing.B, feed func(sample func())) {
	b.Helper()
	b.SetBytes(Size)
	lines, peak := 0, uint64(0)
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	runtime.GC()
	before := inUse()
	for b.Loop() {
		feed(func() {
			if lines++; lines%5000 == 0 {
				peak = max(peak, inUse())
			}
		})
	}
	b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
	b.ReportMetric(float64(max(peak, before)-before)/(1<<20), "MB-heap")
}
