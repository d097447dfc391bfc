// Package strictyaml reads small YAML files that people write, and refuses what it
// does not know: an unknown key is most often a misspelt one, and passing over it
// would silently undo what its author meant. Faults name file, line and key. Anchors,
// aliases, tags and several documents in a file are refused.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds how deep values lie in one another.
const maxDepth = 20

// Error is what is wrong in a file, and where.
type Error struct {
	File string
	Line int // 1-based; 0 for the whole file
	What string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.What
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
}

// Value is one value of a file.
type Value struct {
	file string
	name string // how to call it in a fault
	node *yaml.Node
}

// Parse reads a file with one document. An empty one, or one of comments alone,
// gives ok false.
func Parse(file string, data []byte) (v Value, ok bool, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return v, false, nil
	} else if err != nil {
		return v, false, syntax(file, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return v, false, &Error{file, 0, "it holds more than one document; keep the first and remove the rest"}
	}
	if len(doc.Content) != 1 || doc.Content[0].ShortTag() == "!!null" {
		return v, false, nil
	}
	v = Value{file, "the file", doc.Content[0]}
	return v, true, v.sane(v.node, 0)
}

// syntax makes a fault of the library's: "yaml: line 3: did not find…".
func syntax(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, found := strings.CutPrefix(text, "line "); found {
		number, what, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			return &Error{file, n, "this is no YAML: " + what}
		}
	}
	return &Error{file, 0, "this is no YAML: " + text}
}

func (v Value) sane(n *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return &Error{v.file, n.Line, "values lie too deep in one another"}
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return &Error{v.file, n.Line, "anchors and aliases are not read; write the value out"}
	case n.Style&yaml.TaggedStyle != 0:
		return &Error{v.file, n.Line, "the tag " + strconv.Quote(n.Tag) + " is not read; remove it"}
	}
	for _, c := range n.Content {
		if err := v.sane(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Faultf is a fault of the value.
func (v Value) Faultf(format string, args ...any) error {
	return &Error{v.file, v.node.Line, v.name + ": " + fmt.Sprintf(format, args...)}
}

// Line is the line on which the value begins.
func (v Value) Line() int { return v.node.Line }

// Column is the character of the line, from 1, at which the value begins.
func (v Value) Column() int { return v.node.Column }

// Flow reports whether the value is written in brackets.
func (v Value) Flow() bool { return v.node.Style&yaml.FlowStyle != 0 }

// Quoted reports whether the value is a text in quotes or a block of text.
func (v Value) Quoted() bool {
	return v.node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

// Raw is the value as the library read it.
func (v Value) Raw() string { return v.node.Value }

// Named returns the value under another name for faults.
func (v Value) Named(name string) Value { return Value{v.file, name, v.node} }

// Null reports whether there is no value.
func (v Value) Null() bool { return v.node.ShortTag() == "!!null" }

// Fields returns the values of a mapping by key, and refuses keys other than the
// known ones and keys that stand twice.
func (v Value) Fields(known ...string) (map[string]Value, error) {
	if v.node.Kind != yaml.MappingNode {
		return nil, v.Faultf("want a mapping of %s, found %s", strings.Join(known, ", "), v.kind())
	}
	fields := make(map[string]Value, len(known))
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key := v.node.Content[i]
		if !slices.Contains(known, key.Value) {
			what := fmt.Sprintf("%s: the key %.60q is not known; the keys are %s", v.name, key.Value, strings.Join(known, ", "))
			return nil, &Error{v.file, key.Line, what}
		}
		if _, twice := fields[key.Value]; twice {
			return nil, &Error{v.file, key.Line, v.name + ": the key " + key.Value + " stands twice"}
		}
		fields[key.Value] = Value{v.file, key.Value, v.node.Content[i+1]}
	}
	return fields, nil
}

// Peek is the text of a key of a mapping, before it is known whether the mapping is
// in order; "" for none.
func (v Value) Peek(key string) string {
	for i := 0; v.node.Kind == yaml.MappingNode && i+1 < len(v.node.Content); i += 2 {
		if v.node.Content[i].Value == key {
			return v.node.Content[i+1].Value
		}
	}
	return ""
}

// First is the first key of a mapping, as a value.
func (v Value) First() Value { return Value{v.file, v.name, v.node.Content[0]} }

// List returns the items of a list.
func (v Value) List() ([]Value, error) {
	if v.node.Kind != yaml.SequenceNode {
		return nil, v.Faultf("want a list, found %s", v.kind())
	}
	items := make([]Value, len(v.node.Content))
	for i, n := range v.node.Content {
		items[i] = Value{v.file, v.name, n}
	}
	return items, nil
}

// Text returns a text.
func (v Value) Text() (string, error) {
	if v.node.Kind != yaml.ScalarNode || v.node.ShortTag() != "!!str" {
		return "", v.Faultf("want a text, found %s; put it in quotes if it is meant as one", v.kind())
	}
	return v.node.Value, nil
}

// Texts returns a list of texts; a text alone is a list of one.
func (v Value) Texts() ([]string, error) {
	if v.node.Kind == yaml.ScalarNode {
		s, err := v.Text()
		return []string{s}, err
	}
	items, err := v.List()
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, item := range items {
		s, err := item.Text()
		if err != nil {
			return nil, err
		}
		texts = append(texts, s)
	}
	return texts, nil
}

// Count returns a whole number that is not negative.
func (v Value) Count() (int, error) {
	n, err := strconv.Atoi(v.node.Value)
	if v.node.Kind != yaml.ScalarNode || v.node.ShortTag() != "!!int" || err != nil || n < 0 || n > 1e9 {
		return 0, v.Faultf("want a whole number from 0, found %s", v.kind())
	}
	return n, nil
}

// Number returns a finite number.
func (v Value) Number() (float64, error) {
	tag := v.node.ShortTag()
	f, err := strconv.ParseFloat(v.node.Value, 64)
	if v.node.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, v.Faultf("want a number, found %s", v.kind())
	}
	return f, nil
}

func (v Value) kind() string {
	switch {
	case v.node.Kind == yaml.MappingNode:
		return "a mapping"
	case v.node.Kind == yaml.SequenceNode:
		return "a list"
	case v.node.ShortTag() == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%.60q", v.node.Value)
}
