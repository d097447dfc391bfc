package acp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"si/internal/clean"
	"si/internal/secret"
)

const (
	maxHeld   = 32       // tool calls that were announced and have not begun
	maxKnown  = 256      // tool calls that are remembered
	maxKept   = 16 << 10 // bytes of each thing that is remembered of one
	maxPlaces = 100      // paths of one
	maxPath   = 4096     // bytes
	maxAsked  = 300      // runes of what is asked of a tool, in an event
)

// tool is a tool call as far as it is known. Only bounded parts of it are kept.
type tool struct {
	id, kind, name string
	title          told
	input          told // its command, or its parameters
	diffs          told // never shown
	places         []string
	unclear        bool   // it names more paths, or longer ones, than are looked at
	output         string // the last that was told
	started, ended bool
}

// told is a text of any length, of which a part is kept.
type told struct {
	text string
	sum  string // of the whole, when it is longer
}

func tell(text string) told {
	if len(text) <= maxAsked {
		return told{text: text}
	}
	sum := sha256.Sum256([]byte(text))
	return told{cut(text, maxKept), hex.EncodeToString(sum[:3])}
}

// tools are the tool calls of a session, bounded whatever a program tells.
type tools struct {
	known map[string]*tool
	held  []*tool // announced, not begun, in their order
}

func newTools() tools { return tools{known: map[string]*tool{}} }

// find gives the call that an update is about. A call that has ended and is
// announced anew is another one.
func (l *tools) find(u update) *tool {
	id := tell(u.ToolCallID)
	key := cut(id.text, maxAsked) + id.sum
	c := l.known[key]
	if anew := c != nil && c.ended && u.Kind == "tool_call"; c != nil && key != "" && !anew {
		return c
	}
	l.forget()
	c = &tool{id: key}
	l.known[key] = c
	return c
}

// forget makes room: first of what has ended.
func (l *tools) forget() {
	for _, all := range []bool{false, true} {
		if len(l.known) < maxKnown {
			return
		}
		for id, c := range l.known {
			if all || c.ended {
				delete(l.known, id)
			}
		}
	}
}

// merge takes what an update says; what it leaves out stays as it was.
func (c *tool) merge(u update, list []piece) {
	c.kind = cut(firstText(u.ToolKind, c.kind), 40)
	c.name = cut(firstText(u.Meta.ClaudeCode.ToolName, c.name), 80)
	if u.Title != "" {
		c.title = tell(u.Title)
	}
	for _, l := range u.Locations {
		c.place(l.Path)
	}
	if hasValue(u.RawInput) {
		c.takeInput(u.RawInput)
	}
	var diffs strings.Builder
	for _, p := range list {
		if p.Type == "diff" {
			c.place(p.Path)
			diffs.WriteString(p.Path + "\x00" + p.OldText + "\x00" + p.NewText + "\x00")
		}
	}
	if diffs.Len() > 0 {
		sum := sha256.Sum256([]byte(diffs.String()))
		c.diffs.sum = hex.EncodeToString(sum[:3])
	}
}

// place remembers a path that the call names.
func (c *tool) place(path string) {
	switch {
	case path == "" || slices.Contains(c.places, path):
	case len(c.places) >= maxPlaces || len(path) > maxPath:
		c.unclear = true
	default:
		c.places = append(c.places, path)
	}
}

// takeInput keeps the command of an input, or its parameters, without those that
// are others in each call, such as its id.
func (c *tool) takeInput(raw json.RawMessage) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		c.input = tell(string(raw))
		return
	}
	for name, value := range object {
		var text string
		if namesPath(name) && json.Unmarshal(value, &text) == nil {
			c.place(text)
		}
	}
	if command := commandOf(object["command"]); command != "" {
		c.input = tell(command)
		return
	}
	for _, name := range []string{"call_id", "callId", "toolCallId", "process_id", "turn_id", "started_at_ms", "timestamp", "cwd"} {
		delete(object, name)
	}
	if text, err := json.Marshal(object); err == nil && len(object) > 0 { // in the order of its keys
		c.input = tell(string(text))
	}
}

// commandOf is a shell command: a text, or words, of which the last may be what
// a shell runs.
func commandOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var words []string
	_ = json.Unmarshal(raw, &words) // another shape is no command
	if len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") {
		return words[2]
	}
	return strings.Join(words, " ")
}

// hasValue says whether a raw value holds anything.
func hasValue(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && string(raw) != "null" && string(raw) != "{}"
}

// called is the name of the tool: its own, or its kind.
func (c *tool) called() string {
	switch {
	case c.name != "":
		return c.name
	case c.kind != "" && c.kind != "other":
		return c.kind
	}
	return clean.Line(firstText(c.title.text, c.kind, "tool"), 40)
}

// asked is what is asked of the tool, in one line. Two calls that differ have
// different lines: what is not shown is told by a digest.
func (c *tool) asked(hide secret.Set) string {
	text, sums := c.input.text, c.input.sum
	if !strings.Contains(c.title.text, text) {
		text = c.title.text + " " + text
		sums += c.title.sum
	} else {
		text = c.title.text
	}
	if sums += c.diffs.sum; sums != "" {
		sums = " #" + sums
	}
	return clean.Line(hide.Mask(text), maxAsked) + sums
}

// cut is the beginning of a text, without holding on to all of it.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.Clone(text[:limit])
}
