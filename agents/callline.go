package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"si/internal/clean"
)

const (
	maxCallLine = 160     // runes that tell what is asked of a tool
	maxCallArgs = 1 << 20 // bytes of arguments that are looked into
)

// CallLine says in one line what a tool call asks for: the first of keys that
// args, a JSON object, has as a text. Calls that differ have lines that differ:
// repeats are found by them.
func CallLine(args string, keys ...string) string {
	var fields map[string]any
	if len(args) > maxCallArgs || json.Unmarshal([]byte(args), &fields) != nil {
		return clean.Line(args, maxCallLine) + callMark(args)
	}
	what := ""
	for _, key := range keys {
		if text, ok := fields[key].(string); ok && text != "" {
			what = text
			break
		}
	}
	line := clean.Line(what, maxCallLine)
	if len(fields) == 1 && line == what {
		return line
	}
	return strings.TrimSpace(line + callMark(args))
}

// CallKeys are the arguments that tell most of the calls of agent programs' tools.
func CallKeys() []string {
	return []string{"command", "cmd", "file_path", "path", "notebook_path", "pattern", "query", "url", "skill", "name", "description", "prompt"}
}

// callMark is a short name of arguments that are not shown as a whole.
func callMark(args string) string {
	sum := sha256.Sum256([]byte(args))
	return " #" + hex.EncodeToString(sum[:3])
}
