package agents

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// form is the shape of an answer, generated from its Go type. Wanted is what a
// model is held to, with what must be there and the words that are allowed. Shape
// has the types alone: what is missing or wrong otherwise is told by a contract's
// check, in words that a model can act on, and a judge is forgiving.
type form struct {
	wanted json.RawMessage
	shape  *jsonschema.Schema
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
	shape := s.CloneSchemas()
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
