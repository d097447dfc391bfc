// Package tools are the hands of a model: it reads, lists, searches, edits and
// writes files of one folder, and runs shell commands. It promises that no file
// tool reaches out of the folder, whatever links lie in it, that results are
// bounded, and that whatever a model writes as arguments gives a result that it
// can read, never a panic. What a shell command reaches is for its containment.
package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"si/internal/clean"
	"si/internal/proc"
)

// maxArgs bounds the arguments of a call, in bytes.
const maxArgs = 4 << 20

// Spec is what a model is told of a tool. Schema is a JSON schema.
type Spec struct {
	Name   string
	About  string
	Schema json.RawMessage
}

// Result is what a call gave. Malformed says that the tool or its arguments could
// not be understood; such a result is Failed too.
type Result struct {
	Text      string
	Failed    bool
	Malformed bool
}

// Shell says how commands are run.
type Shell struct {
	Run     proc.Runner
	Env     []string
	Contain *proc.Containment
	Wall    time.Duration // of a command that asks for no time of its own
}

// Box are the tools of one task. It is not safe for concurrent use.
type Box struct {
	root  *os.Root
	dir   string
	edits bool
	shell Shell
}

// Open makes the tools of the folder dir; only those that read when edits is
// false.
func Open(dir string, edits bool, shell Shell) (*Box, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Box{root: root, dir: dir, edits: edits, shell: shell}, nil
}

// Close lets go of the folder.
func (b *Box) Close() error { return b.root.Close() }

// tool is one of the tools: what it is called, and what runs it.
type tool struct {
	Spec
	edits bool
	call  func(b *Box, ctx context.Context, args []byte) (string, error)
}

func all() []tool {
	return []tool{readTool(), listTool(), searchTool(), editTool(), writeTool(), shellTool()}
}

// Specs are the tools that the model may call.
func (b *Box) Specs() []Spec {
	var out []Spec
	for _, t := range all() {
		if b.edits || !t.edits {
			out = append(out, t.Spec)
		}
	}
	return out
}

// malformed says that a call cannot be understood, in words for the model.
type malformed struct{ what string }

func (m *malformed) Error() string { return m.what }

// Call runs the tool of that name. Args is what the model wrote.
func (b *Box) Call(ctx context.Context, name, args string) Result {
	for _, t := range all() {
		if t.Name == name && (b.edits || !t.edits) {
			text, err := t.call(b, ctx, []byte(args))
			var bad *malformed
			switch {
			case errors.As(err, &bad):
				return Result{Text: name + ": " + bad.what, Failed: true, Malformed: true}
			case err != nil:
				return Result{Text: name + ": " + err.Error(), Failed: true}
			}
			return Result{Text: text}
		}
	}
	text := fmt.Sprintf("there is no tool %q; the tools are:", clean.Line(name, 60))
	for _, s := range b.Specs() {
		text += " " + s.Name
	}
	return Result{Text: text, Failed: true, Malformed: true}
}

// decode reads arguments strictly: a model that misspells a parameter is told so,
// instead of being surprised by a default.
func decode(args []byte, into any) error {
	if len(args) > maxArgs {
		return &malformed{fmt.Sprintf("the arguments have %d bytes, more than %d", len(args), maxArgs)}
	}
	if len(bytes.TrimSpace(args)) == 0 {
		args = []byte("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return &malformed{"the arguments cannot be read: " + clean.Line(err.Error(), 300)}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return &malformed{"the arguments are more than one JSON object"}
	}
	return nil
}

// params writes the schema of a tool's arguments. Each parameter is its name, its
// type, and what it is for; those in required must be given.
func params(required []string, fields ...[3]string) json.RawMessage {
	type field struct {
		Type  string `json:"type"`
		About string `json:"description"`
	}
	properties := map[string]field{}
	for _, f := range fields {
		properties[f[0]] = field{f[1], f[2]}
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	if err != nil {
		return json.RawMessage(`{"type":"object"}`) // texts in maps can always be written
	}
	return schema
}
