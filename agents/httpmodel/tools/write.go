package tools

import (
	"context"
	"fmt"
)

func writeTool() tool {
	return tool{edits: true, Spec: Spec{
		Name:  "write",
		About: "Write a whole text file; it is made, with its folders, or replaced.",
		Schema: params([]string{"path", "content"},
			[3]string{"path", "string", "the file, relative to the working folder"},
			[3]string{"content", "string", "the whole text"}),
	}, call: (*Box).write}
}

func (b *Box) write(_ context.Context, args []byte) (string, error) {
	var a struct {
		Path    string  `json:"path"`
		Content *string `json:"content"`
	}
	if err := decode(args, &a); err != nil {
		return "", err
	}
	if a.Content == nil {
		return "", &malformed{"content is missing"}
	}
	name, err := b.local(a.Path)
	if err != nil {
		return "", err
	}
	if err := b.put(name, *a.Content); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is written, %d bytes", name, len(*a.Content)), nil
}
