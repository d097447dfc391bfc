package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// contract says how one kind of document is read and judged.
type contract[T any] struct {
	keys  []string                 // what tells the document from other objects
	own   []string                 // keys that si sets: what a model writes there is passed over
	check func(*T) []string        // completes and cleans the document, and lists its faults
	tune  func(*jsonschema.Schema) // adds to the schema what the Go type does not say
}

// form is the schema of the document.
func (c contract[T]) form() (form, error) { return formOf[T](c.own, c.tune) }

// read reads the document where the backend has a way of its own to give it, and
// otherwise, or when that is broken, out of the answer's text.
func (c contract[T]) read(a Answer) (T, finding) {
	if len(a.JSON) == 0 {
		return c.parse(a.Text)
	}
	doc, f := c.parse(string(a.JSON))
	if len(f.faults) == 0 || strings.TrimSpace(a.Text) == "" {
		return doc, f
	}
	other, g := c.parse(a.Text)
	if len(g.faults) == 0 || f.object == "" {
		return other, g
	}
	return doc, f
}

// parse reads the document out of an answer. Every fault is listed, the types
// of all values included, since there is one repair only.
func (c contract[T]) parse(text string) (T, finding) {
	var doc T
	f := extract(text, c.keys)
	if len(f.faults) > 0 {
		return doc, f
	}
	f.faults = duplicates(f.object)
	wrong := c.violations(f.object)
	for _, v := range wrong {
		f.faults = append(f.faults, v.fault())
	}
	for _, fault := range decodeFields(f.object, &doc, c.own) {
		root := rootField(fieldOf(fault))
		if !slices.ContainsFunc(wrong, func(v violation) bool { return len(v.path) > 0 && v.path[0] == root }) {
			f.faults = append(f.faults, fault)
			wrong = append(wrong, violation{path: []string{root}})
		}
	}
	for _, fault := range c.check(&doc) {
		if !slices.ContainsFunc(wrong, func(v violation) bool { return covers(v.path, fieldOf(fault)) }) { // it is wrong already, not missing
			f.faults = append(f.faults, fault)
		}
	}
	return doc, f
}

// violations are the values of a wrong type. A document without a schema has none:
// its fields are judged as they are decoded.
func (c contract[T]) violations(object string) []violation {
	form, err := c.form()
	if err != nil {
		return nil
	}
	return form.violations(object)
}

func fieldOf(fault string) string {
	field, _, _ := strings.Cut(fault, ":")
	return field
}

func rootField(field string) string {
	if i := strings.IndexAny(field, ".["); i >= 0 {
		return field[:i]
	}
	return field
}

// covers reports whether a fault's field, such as steps[0].file, lies in the value
// at path, or the value in it.
func covers(path []string, field string) bool {
	parts := strings.FieldsFunc(field, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	n := min(len(parts), len(path))
	return n > 0 && slices.Equal(parts[:n], path[:n])
}

// decodeFields decodes each field of the document by itself, because
// encoding/json reports only the first wrong type of a whole.
func decodeFields(object string, doc any, own []string) []string {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &raw); err != nil {
		return []string{"the JSON object cannot be read: " + err.Error()}
	}
	var faults []string
	v := reflect.ValueOf(doc).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		value, ok := raw[name]
		if !ok || slices.Contains(own, name) {
			continue
		}
		if err := json.Unmarshal(value, v.Field(i).Addr().Interface()); err != nil {
			faults = append(faults, typeFault(name, err))
		}
	}
	return faults
}

func typeFault(name string, err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return fmt.Sprintf("%s: %v", name, err)
	}
	if wrong.Field != "" {
		name += "." + wrong.Field
	}
	return fmt.Sprintf("%s: want %s, found %s", name, wantedType(wrong.Type), wrong.Value)
}

func wantedType(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // the other kinds are numbers
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "a number"
}

// duplicates names the keys that stand twice in one object: readers disagree on
// which of the two counts.
func duplicates(object string) []string {
	var faults []string
	var open []*level
	dec := json.NewDecoder(bytes.NewReader([]byte(object)))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return faults // the end: the object was scanned before
		}
		switch token {
		case json.Delim('{'):
			open = append(open, &level{keys: map[string]bool{}})
			continue
		case json.Delim('['):
			open = append(open, &level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if key, again := top(open).see(token); again && len(faults) < maxFaults {
				faults = append(faults, key+": stands twice in one object")
			}
			continue
		}
		top(open).valueDone()
	}
}

// maxFaults bounds the faults of one kind that are told.
const maxFaults = 20

// level is one open object or list; keys is nil in a list.
type level struct {
	keys  map[string]bool
	value bool // the next token is a value
}

func top(open []*level) *level {
	if len(open) == 0 {
		return &level{}
	}
	return open[len(open)-1]
}

// see takes a scalar or a key, and reports a key that stands there again.
func (l *level) see(token json.Token) (key string, again bool) {
	if l.keys == nil {
		return "", false
	}
	if l.value {
		l.value = false
		return "", false
	}
	key, _ = token.(string)
	again = l.keys[key]
	l.keys[key], l.value = true, true
	return key, again
}

func (l *level) valueDone() { l.value = false }
