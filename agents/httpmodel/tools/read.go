package tools

import (
	"context"
	"fmt"
	"strings"
)

const (
	maxLines = 2000     // of a file in one result
	maxText  = 64 << 10 // bytes of one result
)

func readTool() tool {
	return tool{Spec: Spec{
		Name:  "read",
		About: fmt.Sprintf("Read a text file, at most %d lines or %d bytes at once.", maxLines, maxText),
		Schema: params([]string{"path"},
			[3]string{"path", "string", "the file, relative to the working folder"},
			[3]string{"from", "integer", "the first line, counted from 1; default 1"},
			[3]string{"lines", "integer", "how many lines; default as many as fit"}),
	}, call: (*Box).read}
}

func (b *Box) read(_ context.Context, args []byte) (string, error) {
	var a struct {
		Path  string `json:"path"`
		From  int    `json:"from"`
		Lines int    `json:"lines"`
	}
	if err := decode(args, &a); err != nil {
		return "", err
	}
	name, err := b.local(a.Path)
	if err != nil {
		return "", err
	}
	text, err := b.text(name)
	if err != nil {
		return "", err
	}
	if text == "" {
		return "(the file is empty)", nil
	}
	return part(text, max(a.From, 1), a.Lines)
}

// part gives lines of a text as they are, and says what was left out.
func part(text string, from, count int) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if from > len(lines) {
		return "", fmt.Errorf("there is no line %d: the file has %d", from, len(lines))
	}
	if count <= 0 || count > maxLines {
		count = maxLines
	}
	var out strings.Builder
	end := from - 1
	for end < len(lines) && end-from+1 < count && out.Len()+len(lines[end]) <= maxText {
		out.WriteString(lines[end])
		end++
	}
	if end < from { // the first line alone is too long
		return cutTo(lines[from-1], maxText) + "\n[the rest of the line is left out]", nil
	}
	if from > 1 || end < len(lines) {
		fmt.Fprintf(&out, "\n[lines %d to %d of %d]", from, end, len(lines))
	}
	return out.String(), nil
}
