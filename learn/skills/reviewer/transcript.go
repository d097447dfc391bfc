package reviewer

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"si/internal/clean"
)

const (
	maxResult = 500  // characters of a tool's result
	maxCall   = 500  // characters of what a tool was asked
	maxSaid   = 4000 // bytes of one uninterrupted text of the agent
	headSize  = 16 << 10
	tailSize  = 48 << 10
)

// Transcript collects what an agent did, in bounded memory: of a long task the begin
// and the end. The zero value is ready to use, also by several goroutines.
type Transcript struct {
	mu       sync.Mutex
	head     []string
	tail     []string
	headed   int // bytes in head
	tailed   int
	left     int // entries that were dropped between them
	calls    int
	saying   strings.Builder
	overflow bool
}

// Say adds a part of what the agent says; parts in a row are one text.
func (t *Transcript) Say(part string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	room := maxSaid - t.saying.Len()
	if len(part) > room {
		part, t.overflow = part[:max(0, room)], true
	}
	t.saying.WriteString(part)
}

// Call adds a tool call.
func (t *Transcript) Call(tool, asked string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	t.said()
	t.add(fmt.Sprintf("> %s %s", clean.Line(tool, 60), clean.Line(asked, maxCall)))
}

// Result adds what a tool gave back.
func (t *Transcript) Result(text string, failed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said()
	word := "< "
	if failed {
		word = "< failed: "
	}
	t.add(word + cut(text, maxResult))
}

// Calls is how many tools were called.
func (t *Transcript) Calls() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls
}

// String is the transcript as text, harmless for a terminal.
func (t *Transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said()
	var b strings.Builder
	for _, e := range t.head {
		b.WriteString(e + "\n")
	}
	if t.left > 0 {
		fmt.Fprintf(&b, "[%d entries are left out here]\n", t.left)
	}
	for _, e := range t.tail {
		b.WriteString(e + "\n")
	}
	return b.String()
}

// said ends the text that the agent was saying.
func (t *Transcript) said() {
	text := strings.TrimSpace(clean.Text([]byte(t.saying.String())))
	if t.overflow {
		text += "…"
	}
	t.saying.Reset()
	t.overflow = false
	if text != "" {
		t.add("# " + text)
	}
}

func (t *Transcript) add(entry string) {
	if len(t.tail) == 0 && t.headed+len(entry) <= headSize {
		t.head, t.headed = append(t.head, entry), t.headed+len(entry)
		return
	}
	t.tail, t.tailed = append(t.tail, entry), t.tailed+len(entry)
	for t.tailed > tailSize && len(t.tail) > 1 {
		t.tailed -= len(t.tail[0])
		t.tail = t.tail[1:]
		t.left++
	}
}

// cut cleans a text of several lines and shortens it.
func cut(text string, limit int) string {
	more := len(text) > 16*limit
	text = strings.TrimSpace(clean.Text([]byte(text[:min(len(text), 16*limit)])))
	if utf8.RuneCountInString(text) > limit {
		text, more = string([]rune(text)[:limit]), true
	}
	if more {
		text += "…"
	}
	return text
}
