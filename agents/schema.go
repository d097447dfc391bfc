package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// form is the shape of an answer, generated from its Go type. Wanted is what a
// model is held to, with what must be there and the words that are allowed. Shape
// has the types alone: what is missing or wrong otherwise is told by a contract's
// check, in words that a model can act on, and a judge is forgiving.
type form struct {
	wanted json.RawMessage
	shape  *validator.Schema
}

// formOf generates the form of a document without the keys that si sets. tune adds
// what a Go type cannot say; it may be nil.
func formOf[T any](own []string, tune func(*jsonschema.Schema)) (form, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return form{}, fmt.Errorf("generate the schema of an answer: %w", err)
	}
	for _, key := range own {
		delete(s.Properties, key)
		s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool { return name == key })
	}
	loosen(s)
	shape, err := compile(s)
	if err != nil {
		return form{}, err
	}
	if tune != nil {
		tune(s)
	}
	wanted, err := json.Marshal(s)
	if err != nil {
		return form{}, fmt.Errorf("write the schema of an answer: %w", err)
	}
	return form{wanted, shape}, nil
}

// loosen lets every property be absent or null, and objects have others too.
func loosen(s *jsonschema.Schema) {
	s.Required = nil
	for _, p := range s.Properties {
		loosen(p)
		nullable(p)
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	} else if s.AdditionalProperties != nil { // a map: whatever is in it is read
		s.AdditionalProperties = &jsonschema.Schema{}
	}
	if s.Items != nil {
		loosen(s.Items)
	}
}

func nullable(s *jsonschema.Schema) {
	switch {
	case s.Type != "":
		s.Types, s.Type = []string{s.Type, "null"}, ""
	case len(s.Types) > 0 && !slices.Contains(s.Types, "null"):
		s.Types = append(s.Types, "null")
	}
}

// require says which properties of an object must be there, and not be null.
func require(s *jsonschema.Schema, names ...string) {
	s.Required = names
	for _, name := range names {
		p := s.Properties[name]
		if p == nil {
			continue
		}
		p.Types = slices.DeleteFunc(slices.Clone(p.Types), func(t string) bool { return t == "null" })
		if len(p.Types) == 1 {
			p.Type, p.Types = p.Types[0], nil
		}
	}
}

// oneWord allows only some words, any when there are none. A property that may be
// null stays so.
func oneWord(s *jsonschema.Schema, words ...string) {
	if s.Enum = nil; len(words) == 0 {
		return
	}
	for _, w := range words {
		s.Enum = append(s.Enum, w)
	}
	if slices.Contains(s.Types, "null") {
		s.Enum = append(s.Enum, nil)
	}
}

func compile(s *jsonschema.Schema) (*validator.Schema, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the schema of an answer: %w", err)
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the schema of an answer: %w", err)
	}
	const name = "answer.json"
	c := validator.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("read the schema of an answer: %w", err)
	}
	out, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compile the schema of an answer: %w", err)
	}
	return out, nil
}

// violation is one value that has another type than it should.
type violation struct {
	path []string
	what string
}

// field is the value's name, up to the first place in a list.
func (v violation) field() string {
	for i, p := range v.path {
		if _, err := strconv.Atoi(p); err == nil {
			return strings.Join(v.path[:i], ".")
		}
	}
	return strings.Join(v.path, ".")
}

// fault says it as the faults of a contract do, its field first, with the JSON
// pointer (RFC 6901) of the value.
func (v violation) fault() string {
	return fmt.Sprintf("%s: %s, at %s", v.field(), v.what, pointer(v.path))
}

func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}

// violations lists every value of the object that has a wrong type.
func (f form) violations(object string) []violation {
	doc, err := validator.UnmarshalJSON(strings.NewReader(object))
	if err != nil {
		return nil // told by whoever decodes it
	}
	var wrong *validator.ValidationError
	if !errors.As(f.shape.Validate(doc), &wrong) {
		return nil
	}
	var out []violation
	var walk func(*validator.ValidationError)
	walk = func(e *validator.ValidationError) {
		if t, ok := e.ErrorKind.(*kind.Type); ok && len(out) < maxFaults {
			out = append(out, violation{slices.Clone(e.InstanceLocation), "want " + wantedTypes(t.Want) + ", found " + t.Got})
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(wrong)
	slices.SortFunc(out, func(a, b violation) int { return comparePaths(a.path, b.path) })
	return out
}

// comparePaths orders by names, and the places of a list by their numbers.
func comparePaths(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		x, errX := strconv.Atoi(a[i])
		y, errY := strconv.Atoi(b[i])
		if errX == nil && errY == nil {
			return x - y
		}
		return strings.Compare(a[i], b[i])
	}
	return len(a) - len(b)
}

func wantedTypes(types []string) string {
	names := map[string]string{"string": "a text", "array": "a list", "object": "an object", "boolean": "true or false", "number": "a number", "integer": "a whole number"}
	var out []string
	for _, t := range types {
		if name, ok := names[t]; ok {
			out = append(out, name)
		}
	}
	return strings.Join(out, " or ")
}
