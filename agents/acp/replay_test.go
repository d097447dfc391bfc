package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/agents"
)

var updateGoldens = flag.Bool("update", false, "write the golden files anew")

// replay plays the program's side of a recording. What si sends is matched by its
// method; what it asks beyond the recording is agreed to.
func replay(t *testing.T, recording []byte) func(*agent) {
	t.Helper()
	return func(a *agent) {
		ids := map[string]any{} // of the recording → of this conversation
		lines := bufio.NewScanner(bytes.NewReader(recording))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var m map[string]any
			text, sent := strings.CutPrefix(lines.Text(), ">")
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Errorf("recording: %v", err)
				return
			}
			if !sent {
				if m["method"] == nil {
					m["id"] = ids[fmt.Sprint(m["id"])]
				}
				out, _ := json.Marshal(m)
				a.say(string(out))
				continue
			}
			method, _ := m["method"].(string)
			got := map[string]any{}
			for more := true; more; {
				if got, more = a.read(); got["method"] == nil && method == "" || got["method"] == method {
					break
				}
				if got["id"] != nil {
					a.result(got, "{}")
				}
			}
			ids[fmt.Sprint(m["id"])] = got["id"]
		}
		for {
			if _, more := a.read(); !more {
				return
			}
		}
	}
}

// show writes an event as one line.
func show(e agents.Event) string {
	text := fmt.Sprintf("%s tool=%q id=%q text=%q", e.Kind, e.Tool, e.ToolID, e.Text)
	if e.Failed {
		text += " failed"
	}
	if e.Session+e.Model != "" {
		text += fmt.Sprintf(" session=%q model=%q", e.Session, e.Model)
	}
	if e.Usage != nil {
		text += fmt.Sprintf(" usage=%+v", *e.Usage)
	}
	if e.CostUSD != nil {
		text += fmt.Sprintf(" cost=%.6f", *e.CostUSD)
	}
	return text
}

func TestRecordedSessions(t *testing.T) {
	recordings, err := filepath.Glob("../testdata/acp/*.jsonl")
	if err != nil || len(recordings) != 4 {
		t.Fatalf("recordings %v, %v", recordings, err)
	}
	for _, path := range recordings {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(name, func(t *testing.T) {
			recording, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := newStage(t)
			s.task.Dir = t.TempDir()
			if p, known := Find(name); known {
				s.o.Profile = p
				s.o.Profile.Old = nil // no version is asked of a recording
			}
			answer, _, err := s.play(t, replay(t, recording))
			var out strings.Builder
			for _, e := range s.events {
				fmt.Fprintln(&out, show(e))
			}
			spent, _ := json.Marshal(answer.Spent)
			fmt.Fprintf(&out, "error: %v\nanswer: %q\nspent: %s\n", err, answer.Text, spent)
			golden := filepath.Join("testdata", name+".golden")
			if *updateGoldens {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || out.String() != string(want) {
				t.Errorf("events:\n%s\nwant:\n%s\n%v", out.String(), want, err)
			}
		})
	}
}
