package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

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

// violations lists every value of the object that has a wrong type, in the order of
// their paths. It is a walk of our own because the library stops at the first.
func (f form) violations(object string) []violation {
	var doc any
	d := json.NewDecoder(strings.NewReader(object))
	d.UseNumber()
	if d.Decode(&doc) != nil {
		return nil // told by whoever decodes it
	}
	var out []violation
	walkTypes(f.shape, doc, nil, func(v violation) {
		if len(out) < maxFaults {
			out = append(out, v)
		}
	})
	slices.SortFunc(out, func(a, b violation) int { return comparePaths(a.path, b.path) })
	return out
}

// walkTypes hands on the values that have none of the types that their schema names.
func walkTypes(s *jsonschema.Schema, value any, path []string, found func(violation)) {
	if s == nil {
		return
	}
	if want, got := typesOf(s), typeOf(value); len(want) > 0 && !slices.Contains(want, got) &&
		(got != "integer" || !slices.Contains(want, "number")) {
		found(violation{slices.Clone(path), "want " + wantedTypes(want) + ", found " + strings.Replace(got, "integer", "number", 1)})
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			sub, known := s.Properties[name]
			if !known {
				sub = s.AdditionalProperties
			}
			walkTypes(sub, value[name], append(path, name), found)
		}
	case []any:
		for i, item := range value {
			walkTypes(s.Items, item, append(path, strconv.Itoa(i)), found)
		}
	}
}

func typesOf(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

// typeOf is the JSON Schema type of a decoded value. A number with no fraction is an
// integer, however it is written (JSON Schema 2020-12, 6.1.1).
func typeOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if f, err := value.Float64(); err == nil && f == math.Trunc(f) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
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
