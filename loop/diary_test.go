package loop

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"si/agents"
	"si/track"
)

func readDiary(t *testing.T, path string) []track.Activity {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []track.Activity
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a track.Activity
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%v in %.200s", err, lines.Text())
		}
		out = append(out, a)
	}
	return out
}

func TestADiaryIsCleanAndBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.activity.jsonl")
	d, err := openDiary(path)
	if err != nil {
		t.Fatal(err)
	}
	d.note(agents.Event{Kind: agents.EventToolStart, Tool: "sh\x1b[2J", ToolID: "1", Text: "ls \x1b]0;title\x07\xff"})
	d.note(agents.Event{Kind: agents.EventText, Text: strings.Repeat("x", 100_000)})
	d.close()
	got := readDiary(t, path)
	if len(got) != 2 || strings.ContainsAny(got[0].Tool+got[0].Text, "\x1b\x07") || !utf8.ValidString(got[0].Text) || len(got[1].Text) > entryMax+10 {
		t.Errorf("%+.300v", got)
	}
}

func TestADiaryThatGrowsBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.activity.jsonl")
	d, err := openDiary(path)
	if err != nil {
		t.Fatal(err)
	}
	const n = 60_000
	for range n {
		d.note(agents.Event{Kind: agents.EventText, Text: strings.Repeat("x", 100)})
	}
	d.note(agents.Event{Kind: agents.EventNotice, Text: "the last"})
	d.close()
	if info, err := os.Stat(path); err != nil || info.Size() > diaryMax {
		t.Fatalf("%v, %v bytes", err, info.Size())
	}
	if held := cap(d.waiting) + cap(d.spare); held > 4*diaryWait {
		t.Errorf("%d bytes are held in memory", held)
	}
}

func TestADiaryFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	theirs, path := filepath.Join(dir, "theirs"), filepath.Join(dir, "a.activity.jsonl")
	if err := os.WriteFile(theirs, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(theirs, path); err != nil {
		t.Fatal(err)
	}
	d, err := openDiary(path)
	if err != nil {
		t.Fatal(err)
	}
	d.note(agents.Event{Kind: agents.EventNotice, Text: "mine"})
	d.close()
	if data, _ := os.ReadFile(theirs); string(data) != "keep" {
		t.Errorf("the link was followed: %q", data)
	}
}

func BenchmarkDiary(b *testing.B) {
	d, err := openDiary(filepath.Join(b.TempDir(), "a.activity.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer d.close()
	e := agents.Event{Kind: agents.EventText, Text: strings.Repeat("x", 100)}
	b.ReportAllocs()
	for b.Loop() {
		d.note(e)
	}
}
