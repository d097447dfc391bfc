package track

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// foldedKey finds a key that names a field in other letters, such as Iteration.
// encoding/json would take its value and, on writing, the file would hold both.
func foldedKey(raw json.RawMessage, t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return ""
	}
	switch kind := t.Kind(); {
	case kind == reflect.Struct:
		return foldedField(raw, t)
	case kind == reflect.Map:
		o, _ := parseObject(raw) // null has no keys, and a wrong type was found before
		for _, m := range o {
			if found := foldedKey(m.value, t.Elem()); found != "" {
				return found
			}
		}
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // as above
		for _, item := range list {
			if found := foldedKey(item, t.Elem()); found != "" {
				return found
			}
		}
	}
	return ""
}

func foldedField(raw json.RawMessage, t reflect.Type) string {
	o, _ := parseObject(raw) // null has no keys, and a wrong type was found before
	for _, m := range o {
		for f := range structFields(t) {
			if m.key == f.name {
				if found := foldedKey(m.value, t.FieldByIndex(f.index).Type); found != "" {
					return found
				}
				break
			}
			if strings.EqualFold(m.key, f.name) {
				return fmt.Sprintf("%s: the key is written %s", clip(m.key, 60), f.name)
			}
		}
	}
	return ""
}
