package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

func editTool() tool {
	return tool{edits: true, Spec: Spec{
		Name: "edit",
		About: "Replace a text in a file by another one. The old text has to stand in the file exactly once, blanks and line ends included: " +
			"give as many lines around it as that needs.",
		Schema: params([]string{"path", "old", "new"},
			[3]string{"path", "string", "the file, relative to the working folder"},
			[3]string{"old", "string", "the text as it stands in the file"},
			[3]string{"new", "string", "the text that takes its place"}),
	}, call: (*Box).edit}
}

func (b *Box) edit(_ context.Context, args []byte) (string, error) {
	var a struct {
		Path string `json:"path"`
		Old  string `json:"old"`
		New  string `json:"new"`
	}
	if err := decode(args, &a); err != nil {
		return "", err
	}
	switch a.Old {
	case "":
		return "", &malformed{"old is missing; use write for a new file"}
	case a.New:
		return "", &malformed{"old and new are the same"}
	}
	name, err := b.local(a.Path)
	if err != nil {
		return "", err
	}
	text, err := b.text(name)
	if err != nil {
		return "", err
	}
	start, err := unique(text, a.Old)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if err := b.put(name, text[:start]+a.New+text[start+len(a.Old):]); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is edited at line %d", name, 1+strings.Count(text[:start], "\n")), nil
}

// unique finds the one place of old. Places that overlap are several.
func unique(text, old string) (int, error) {
	start := strings.Index(text, old)
	if start < 0 {
		return 0, absent(text, old)
	}
	if strings.Contains(text[start+1:], old) {
		return 0, errors.New("the old text stands there more than once: give more of what is around it")
	}
	return start, nil
}

func absent(text, old string) error {
	switch {
	case strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), old):
		return errors.New("the old text does not stand there: the lines of the file end in CR LF")
	case strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(old), " ")):
		return errors.New("the old text does not stand there with these blanks: read the file, and copy it exactly")
	}
	return errors.New("the old text does not stand there: read the file, and copy it exactly")
}
