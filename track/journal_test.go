package track

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"si/internal/durable"
)

func testTime() time.Time { return time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC) }

func testEvent(round int) Event {
	return Event{TS: testTime(), Ev: EvWarning, Run: "r1", Round: round, Actor: "si", Data: json.RawMessage(`{"text":"a <b> & c"}`)}
}

func readAll(path string) (events []Event, err error) {
	for e, rerr := range ReadJournal(path) {
		if rerr != nil {
			return events, rerr
		}
		events = append(events, e)
	}
	return events, nil
}

func openJournal(t *testing.T, path string) (*Journal, int) {
	t.Helper()
	j, torn, err := OpenJournal(&durable.Store{}, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j, torn
}

func TestJournalParallelWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "journal.jsonl")
	j, _ := openJournal(t, path)
	const writers, each = 20, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range each {
				if err := j.Append(testEvent(w)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	events, err := readAll(path)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[int]int)
	for _, e := range events {
		count[e.Round]++
	}
	for w := range writers {
		if count[w] != each {
			t.Errorf("writer %d has %d events, want %d", w, count[w], each)
		}
	}
}

func TestJournalTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, _ := openJournal(t, path)
	for i := range 3 {
		if err := j.Append(testEvent(i)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"ts":"2026-`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if events, err := readAll(path); err != nil || len(events) != 3 {
		t.Errorf("read %d events, %v; want 3", len(events), err)
	}
	_, torn := openJournal(t, path)
	if torn != 12 {
		t.Errorf("torn %d, want 12", torn)
	}
}

func TestJournalReaderFollows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	line, err := encodeEvent(testEvent(1))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(line[:20]))
	r, err := OpenJournalReader(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() // opened for reading only
	if _, err := r.Next(); !errors.Is(err, io.EOF) || r.Torn() != 20 {
		t.Fatalf("got %v and torn %d, want EOF and 20", err, r.Torn())
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(append(line[20:], '\n')); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	e, err := r.Next()
	if err != nil || e.Round != 1 || r.Torn() != 0 || r.Offset() != int64(len(line)+1) {
		t.Errorf("got %+v, %v, torn %d, offset %d", e, err, r.Torn(), r.Offset())
	}
}

func TestJournalDamage(t *testing.T) {
	good := `{"ts":"2026-03-14T15:09:26Z","ev":"warning","run":"r","round":1,"actor":"si"}` + "\n"
	cases := []struct{ name, line string }{
		{"half a line", `{"ts":"2026-`},
		{"no kind", `{"ts":"2026-03-14T15:09:26Z"}`},
		{"no time", `{"ev":"warning"}`},
		{"a list", `[]`},
		{"zero bytes", "\x00\x00\x00"},
		{"a number too large", `{"ts":"2026-03-14T15:09:26Z","ev":"x","round":1e999}`},
		{"a long line", `{"ts":"` + strings.Repeat("x", maxEventLine) + `"}`},
		{"trailing text", strings.TrimSpace(good) + " x"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.jsonl")
			write(t, path, good+"\n"+c.line+"\n"+good)
			events, err := readAll(path)
			var fe *FileError
			if !errors.As(err, &fe) || fe.Line != 3 || fe.Path != path {
				t.Errorf("got %v, want a FileError at line 3", err)
			}
			if len(events) != 1 {
				t.Errorf("%d events before the damage, want 1", len(events))
			}
		})
	}
}

func TestJournalKeepsUnknownKinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	write(t, path, `{"ts":"2026-03-14T15:09:26Z","ev":"of_tomorrow","run":"r","round":1,"actor":"si","data":{"x":1},"more":2}`+"\n")
	events, err := readAll(path)
	if err != nil || len(events) != 1 || events[0].Ev != "of_tomorrow" || string(events[0].Data) != `{"x":1}` {
		t.Errorf("got %+v, %v", events, err)
	}
}

func TestJournalRefusesToWrite(t *testing.T) {
	j, _ := openJournal(t, filepath.Join(t.TempDir(), "journal.jsonl"))
	unknown, undated, broken, large := testEvent(1), testEvent(1), testEvent(1), testEvent(1)
	unknown.Ev, undated.TS, broken.Data = "of_tomorrow", time.Time{}, json.RawMessage(`{`)
	large.Data = json.RawMessage(`"` + strings.Repeat("x", maxEventLine) + `"`)
	for name, e := range map[string]Event{"unknown kind": unknown, "no time": undated, "broken data": broken, "too large": large} {
		if err := j.Append(e); err == nil {
			t.Errorf("%s: was written", name)
		}
	}
}

func TestJournalRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	write(t, victim, "half a line")
	path := filepath.Join(dir, "journal.jsonl")
	if err := os.Symlink(victim, path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenJournal(&durable.Store{}, path); err == nil {
		t.Error("a link was opened for writing")
	}
	if data, _ := os.ReadFile(victim); string(data) != "half a line" {
		t.Errorf("the file behind the link is now %q", data)
	}
}

func TestReadJournalAbsent(t *testing.T) {
	if events, err := readAll(filepath.Join(t.TempDir(), "none")); err != nil || len(events) > 0 {
		t.Errorf("got %v, %v", events, err)
	}
}

func BenchmarkReadJournal(b *testing.B) {
	var buf bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&buf, `{"ts":"2026-03-14T15:09:26.123456Z","ev":"measured","run":"r1","round":%d,"actor":"executor_a","data":{"key":"k","purpose":"duel","score":1.5,"wall_s":0.25}}`+"\n", i)
	}
	path := filepath.Join(b.TempDir(), "journal.jsonl")
	if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		events := 0
		for _, err := range ReadJournal(path) {
			if err != nil {
				b.Fatal(err)
			}
			events++
		}
		if events != 100_000 {
			b.Fatalf("%d events", events)
		}
	}
}

func FuzzReadJournal(f *testing.F) {
	f.Add([]byte(`{"ts":"2026-03-14T15:09:26Z","ev":"warning"}` + "\n" + `{"ts`))
	f.Add([]byte("\n\n\x00\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		events, err := readAll(path)
		if lines := bytes.Count(data, []byte("\n")); len(events) > lines {
			t.Errorf("%d events in %d lines", len(events), lines)
		}
		var fe *FileError
		if err != nil && (!errors.As(err, &fe) || fe.Line < 1) {
			t.Errorf("got %v, want a FileError with its line", err)
		}
	})
}

func TestParseEventLine(t *testing.T) {
	own, err := encodeEvent(testEvent(7))
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := parseEventLine(own); !ok || e.Round != 7 || e.Ev != EvWarning || e.Actor != "si" || len(e.Data) == 0 {
		t.Errorf("our own line is not read: %+v", e)
	}
	for _, other := range []string{
		``, `{}`, `{"ts":"x","ev":"a","run":"","round":1,"actor":"s"}`,
		`{"ts":"2026-03-14T15:09:26Z","ev":"a","run":"","round":01,"actor":"s"}`,
		`{"ts":"2026-03-14T15:09:26Z","ev":"a","run":"","round":1.5,"actor":"s"}`,
		`{"ts":"2026-03-14T15:09:26Z","ev":"a","run":"","round":1,"actor":"s\\n"}`,
		`{"ts":"2026-03-14T15:09:26Z","ev":"a","run":"","round":1,"actor":"s","data":{}`,
		`{"ts":"2026-03-14T15:09:26Z","ev":"a","run":"","round":1,"actor":"s","data":1,"ev":"b"}`,
		`{"ts":"2026-03-14T15:09:26Z","ev":"a","run":"","round":1,"actor":"s"} x`,
		`{"ts":"2026-03-14T15:09:26Z","ev":"a","run":"","round":1,"actor":"s"`,
		`{"ts":"2026-03-14T15:09:26Z","ev":"a","run":"","round":1,"actor":"s","data":0 }`,
	} {
		if e, ok := parseEventLine([]byte(other)); ok {
			t.Errorf("%s is read as %+v", other, e)
		}
	}
}

// FuzzParseEventLine wants both ways of reading a line to agree.
func FuzzParseEventLine(f *testing.F) {
	own, err := encodeEvent(testEvent(7))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add([]byte(`{"ts":"2026-03-14T15:09:26+01:00","ev":"","run":"r","round":-0,"actor":"s","data":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		fast, ok := parseEventLine(line)
		if !ok {
			return
		}
		var slow Event
		if err := json.Unmarshal(line, &slow); err != nil {
			t.Fatalf("%q is no JSON: %v", line, err)
		}
		if !fast.TS.Equal(slow.TS) || fast.Ev != slow.Ev || fast.Run != slow.Run || fast.Round != slow.Round || fast.Actor != slow.Actor || !bytes.Equal(fast.Data, slow.Data) {
			t.Errorf("%q: got %+v, encoding/json %+v", line, fast, slow)
		}
	})
}
