package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"si/internal/clean"
)

// maxSummary is how many runes tell what is asked of a tool.
const maxSummary = 160

// Summary says in one line what a call asks for. Calls that differ have summaries
// that differ: repeats are found by them.
func Summary(name, args string) string {
	var fields map[string]any
	if len(args) > maxArgs || json.Unmarshal([]byte(args), &fields) != nil {
		return clean.Line(args, maxSummary) + mark(args)
	}
	key := "path"
	switch name {
	case "shell":
		key = "command"
	case "search":
		key = "pattern"
	}
	what, _ := fields[key].(string)
	line := clean.Line(what, maxSummary)
	if len(fields) == 1 && line == what {
		return line
	}
	return strings.TrimSpace(line + mark(args))
}

// mark is a short name of arguments that are not shown as a whole.
func mark(args string) string {
	sum := sha256.Sum256([]byte(args))
	return " #" + hex.EncodeToString(sum[:3])
}
