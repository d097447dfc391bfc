package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// StrictSchema puts a schema into the form that servers with OpenAI's strict mode
// take: every property is required, those that were not may be null, no object has
// others, and keywords that are refused there are left out. A map of free keys
// cannot be said; it becomes an empty object.
func StrictSchema(schema json.RawMessage) (json.RawMessage, error) {
	var doc any
	if err := json.Unmarshal(schema, &doc); err != nil {
		return nil, fmt.Errorf("read a schema: %w", err)
	}
	strictify(doc)
	out, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("write a schema: %w", err)
	}
	return out, nil
}

// refusedKeywords are those that strict mode does not know.
func refusedKeywords() []string {
	return []string{"$schema", "$id", "default", "examples", "minLength", "maxLength", "uniqueItems", "patternProperties", "propertyNames", "minProperties", "maxProperties"}
}

func strictify(node any) {
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			strictify(item)
		}
	case map[string]any:
		for _, key := range refusedKeywords() {
			delete(n, key)
		}
		if isObject(n) {
			strictObject(n)
		}
		for _, key := range []string{"items", "anyOf"} {
			strictify(n[key])
		}
		for _, key := range []string{"$defs", "definitions"} {
			if all, ok := n[key].(map[string]any); ok {
				for _, s := range all {
					strictify(s)
				}
			}
		}
	}
}

func isObject(n map[string]any) bool {
	if _, ok := n["properties"].(map[string]any); ok {
		return true
	}
	types, many := n["type"].([]any)
	return n["type"] == "object" || many && slices.Contains(types, any("object"))
}

func strictObject(n map[string]any) {
	properties, _ := n["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	had, _ := n["required"].([]any)
	for name, p := range properties {
		strictify(p)
		if s, ok := p.(map[string]any); ok && !slices.Contains(had, any(name)) {
			orNull(s)
		}
	}
	required := []any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		required = append(required, name)
	}
	n["properties"], n["required"], n["additionalProperties"] = properties, required, false
}

// orNull lets a property be null.
func orNull(s map[string]any) {
	switch t := s["type"].(type) {
	case string:
		if t != "null" {
			s["type"] = []any{t, "null"}
		}
	case []any:
		if !slices.Contains(t, any("null")) {
			s["type"] = append(t, "null")
		}
	}
	if words, ok := s["enum"].([]any); ok && !slices.Contains(words, any(nil)) {
		s["enum"] = append(words, nil)
	}
}
