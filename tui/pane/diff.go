package pane

import (
	"bytes"
	"strings"

	"si/internal/clean"
	"si/tui/look"
)

// CountPatch counts the lines that a patch adds and takes away.
func CountPatch(patch []byte) (added, removed int) {
	hunk := false
	for line := range bytes.Lines(patch) {
		switch {
		case bytes.HasPrefix(line, []byte("diff --git ")):
			hunk = false
		case bytes.HasPrefix(line, []byte("@@")):
			hunk = true
		case hunk && line[0] == '+':
			added++
		case hunk && line[0] == '-':
			removed++
		}
	}
	return added, removed
}

// PatchLines are the lines of a patch, without anything that acts on a terminal.
func PatchLines(patch []byte) []string {
	return strings.Split(strings.TrimRight(clean.Text(patch), "\n"), "\n")
}

// PatchPaint is how a line of a patch is painted.
func PatchPaint(l look.Look, line string) look.Paint {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return l.Strong
	case strings.HasPrefix(line, "+"):
		return l.Good
	case strings.HasPrefix(line, "-"):
		return l.Bad
	case strings.HasPrefix(line, "@@"):
		return l.Key
	}
	return l.Plain
}
