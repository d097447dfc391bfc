package modelserver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// order is what a plan says of a change, and what an executor reads out of it.
func (c Change) order() string {
	return fmt.Sprintf("Set the constant %s in %s to the value %s.", c.Name, c.File, c.Value)
}

func ordered(prompt string) (Change, bool) {
	m := regexp.MustCompile(`Set the constant (\w+) in ([\w./-]+) to the value ([^"\n]+?)\.["\n]`).FindStringSubmatch(prompt)
	if m == nil {
		return Change{}, false
	}
	return Change{File: m[2], Name: m[1], Value: m[3]}, true
}

// execute carries out the plan of the prompt with the tools of the client,
// whatever they are called.
func (p Player) execute(part part, r Request) Reply {
	c, found := ordered(part.prompt)
	if !found {
		return Reply{Text: "The plan cannot be done: I do not understand it. Nothing is changed."}
	}
	if p.Edit {
		if reply, can := c.byEdit(r); can {
			return reply
		}
	}
	if len(r.Results()) > 0 {
		return Reply{Text: fmt.Sprintf("I set %s to %s. Nothing is left.", c.Name, c.Value)}
	}
	line := fmt.Sprintf(`sed 's|^\([[:space:]]*%s *= *\).*|\1%s|' %s > .player-new && cat .player-new > %s && rm .player-new && grep -n %s %s`,
		c.Name, c.Value, c.File, c.File, c.Name, c.File)
	if call, can := ShellCall(r, line); can {
		return Reply{Text: "I make the change.", Calls: []Call{call}}
	}
	if reply, can := c.byEdit(r); can {
		return reply
	}
	return Reply{Text: "I have no tool that could make the change."}
}

// schema is what is read of a tool's schema.
type schema struct {
	Properties map[string]struct {
		Type any   `json:"type"`
		Enum []any `json:"enum"`
	} `json:"properties"`
	Required []string `json:"required"`
}

func (t Tool) schema() schema {
	var s schema
	if json.Unmarshal(t.Schema, &s) != nil {
		return schema{}
	}
	return s
}

// property finds the first of names that the tool has.
func (s schema) property(names ...string) string {
	for _, n := range names {
		if _, has := s.Properties[n]; has {
			return n
		}
	}
	return ""
}

// call makes a call with args, and with something for each other argument that is
// required.
func (t Tool) call(args map[string]any) Call {
	s := t.schema()
	for _, name := range s.Required {
		if _, given := args[name]; given {
			continue
		}
		switch p := s.Properties[name]; {
		case len(p.Enum) > 0:
			args[name] = p.Enum[0]
		case p.Type == "boolean" || p.Type == "BOOLEAN":
			args[name] = false
		case p.Type == "number" || p.Type == "integer" || p.Type == "NUMBER" || p.Type == "INTEGER":
			args[name] = 1
		default:
			args[name] = "make the change"
		}
	}
	text, err := json.Marshal(args)
	if err != nil {
		return Call{Name: t.Name, Args: "{}"} // texts in maps can always be written
	}
	return Call{Name: t.Name, Args: string(text)}
}

// ShellCall runs a command line by the client's tool for it, if it offers one.
func ShellCall(r Request, line string) (Call, bool) {
	for _, word := range []string{"bash", "shell", "exec", "terminal", "command"} {
		for _, t := range r.Tools {
			s := t.schema()
			name := s.property("command", "cmd", "script")
			if name == "" || !strings.Contains(strings.ToLower(t.Name), word) {
				continue
			}
			var arg any = line
			if kind := s.Properties[name].Type; kind == "array" || kind == "ARRAY" {
				arg = []string{"/bin/sh", "-c", line}
			}
			return t.call(map[string]any{name: arg}), true
		}
	}
	return Call{}, false
}

// byEdit reads the file, edits the line that it found, and reports, a step a turn.
func (c Change) byEdit(r Request) (Reply, bool) {
	reader, canRead := tool(r, "read", "path", "file_path", "absolute_path", "filePath")
	editor, canEdit := tool(r, "edit", "path", "file_path", "filePath")
	s := editor.schema()
	before, after := s.property("old", "old_string", "oldText", "oldString"), s.property("new", "new_string", "newText", "newString")
	if !canRead || !canEdit || before == "" || after == "" {
		return Reply{}, false
	}
	results := r.Results()
	switch len(results) {
	case 0:
		return Reply{Calls: []Call{reader.call(map[string]any{reader.path(): c.File})}}, true
	case 1:
		line := regexp.MustCompile(`\b` + c.Name + ` *= *[^\n"\\]+`).FindString(results[0].Text)
		if line == "" {
			return Reply{Text: "The constant is not there. Nothing is changed."}, true
		}
		return Reply{Calls: []Call{editor.call(map[string]any{
			editor.path(): c.File, before: line, after: c.Name + " = " + c.Value,
		})}}, true
	}
	return Reply{Text: fmt.Sprintf("I set %s to %s. The tool said: %s", c.Name, c.Value, results[1].Text)}, true
}

func (t Tool) path() string {
	return t.schema().property("path", "file_path", "absolute_path", "filePath")
}

// tool finds a tool by a word of its name and one of its properties.
func tool(r Request, word string, properties ...string) (Tool, bool) {
	i := slices.IndexFunc(r.Tools, func(t Tool) bool {
		return strings.Contains(strings.ToLower(t.Name), word) && t.schema().property(properties...) != ""
	})
	if i < 0 {
		return Tool{}, false
	}
	return r.Tools[i], true
}
