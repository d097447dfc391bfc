package agents

import (
	"path/filepath"
	"strings"

	"si/internal/clean"
)

const (
	maxLastLines = 10
	maxLastBytes = 64 << 10
)

// ErrorLog names the file beside a task's log that receives a program's stderr:
// mixed into stdout it could break an answer. "" gives "".
func ErrorLog(log string) string {
	if log == "" {
		return ""
	}
	ext := filepath.Ext(log)
	return strings.TrimSuffix(log, ext) + ".stderr" + ext
}

// LastLines are the last lines of what a program printed, cleaned, for a message.
func LastLines(b []byte) string {
	text := strings.TrimSpace(clean.Text(b[max(0, len(b)-maxLastBytes):]))
	all := strings.Split(text, "\n")
	last := all[max(0, len(all)-maxLastLines):]
	for i := range last {
		last[i] = clean.Line(last[i], 300)
	}
	return strings.Join(last, "\n")
}
