package track

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// member is one key of a JSON object with its value as written.
type member struct {
	key   string
	value json.RawMessage
}

// object is a JSON object that remembers the order of its keys and every
// value that this program does not model.
type object []member

func parseObject(data []byte) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	open, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if open != json.Delim('{') {
		return nil, fmt.Errorf("want a JSON object")
	}
	var o object
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		o = append(o, member{key.(string), value})
	}
	return o, nil
}

func (o object) get(key string) (json.RawMessage, bool) {
	for _, m := range o {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

func (o object) encode() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encodeTo(&b, m.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encodeTo writes v as compact JSON without escaping <, > and &.
func encodeTo(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline that Encode adds
	return nil
}

// overlay encodes v over the JSON in before: keys that v does not model stay
// where they are, at every depth; keys that it models take its values.
func overlay(before json.RawMessage, v reflect.Value) (json.RawMessage, error) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct && !isMarshaler(v) {
		if o, err := parseObject(before); err == nil {
			return overlayStruct(o, v)
		}
		return overlayStruct(nil, v)
	}
	if v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String && !v.IsNil() {
		if unchanged(before, v) {
			return before, nil // also what a forgiving type read from another spelling
		}
		return overlayMap(before, v)
	}
	if v.Kind() == reflect.Slice && !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct {
		return overlaySlice(before, v)
	}
	if unchanged(before, v) {
		return before, nil
	}
	var b bytes.Buffer
	err := encodeTo(&b, v.Interface())
	return b.Bytes(), err
}

// unchanged reports whether before already says v. Then its text stays: 1.0,
// an escaped letter, null for an empty list.
func unchanged(before json.RawMessage, v reflect.Value) bool {
	if len(before) == 0 || !v.IsValid() {
		return false
	}
	was := reflect.New(v.Type())
	if err := json.Unmarshal(before, was.Interface()); err != nil {
		return false
	}
	if t, ok := v.Interface().(time.Time); ok {
		return t.Equal(was.Elem().Interface().(time.Time))
	}
	return reflect.DeepEqual(was.Elem().Interface(), v.Interface())
}

func isMarshaler(v reflect.Value) bool {
	_, ok := v.Interface().(json.Marshaler)
	return ok
}

func overlayStruct(before object, v reflect.Value) (json.RawMessage, error) {
	out := append(object(nil), before...)
	for f := range structFields(v.Type()) {
		fv := v.FieldByIndex(f.index)
		old, had := out.get(f.name)
		if f.omitEmpty && fv.IsZero() && (!had || fv.Kind() != reflect.Struct) && string(old) != "null" {
			out = out.without(f.name)
			continue
		}
		value, err := overlay(old, fv)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if f.omitEmpty && fv.IsZero() && string(value) == "{}" {
			out = out.without(f.name) // all that was in it is unset, and nothing of others was
			continue
		}
		if had {
			out.set(f.name, value)
		} else {
			out = append(out, member{f.name, value})
		}
	}
	return out.encode()
}

func (o object) set(key string, value json.RawMessage) {
	for i := range o {
		if o[i].key == key {
			o[i].value = value
		}
	}
}

func (o object) without(key string) object {
	out := o[:0:0]
	for _, m := range o {
		if m.key != key {
			out = append(out, m)
		}
	}
	return out
}

// overlayMap keeps the order of the keys that were there, drops those that are
// gone and appends new ones sorted.
func overlayMap(before json.RawMessage, v reflect.Value) (json.RawMessage, error) {
	old, _ := parseObject(before)
	var out object
	for _, m := range old {
		item := v.MapIndex(reflect.ValueOf(m.key).Convert(v.Type().Key()))
		if !item.IsValid() {
			continue
		}
		value, err := overlay(m.value, item)
		if err != nil {
			return nil, err
		}
		out = append(out, member{m.key, value})
	}
	for _, key := range sortedKeys(v) {
		if _, had := old.get(key); had {
			continue
		}
		value, err := overlay(nil, v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key())))
		if err != nil {
			return nil, err
		}
		out = append(out, member{key, value})
	}
	return out.encode()
}

// overlaySlice matches an element with the first one before it was changed that
// has the same first field, which is what tells the records of these lists apart:
// what is kept of a record must not stick to another one.
func overlaySlice(before json.RawMessage, v reflect.Value) (json.RawMessage, error) {
	var old []json.RawMessage
	_ = json.Unmarshal(before, &old) // anything but a list has no keys to keep
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		var was json.RawMessage
		if at := sameRecord(old, v.Index(i)); at >= 0 {
			was, old = old[at], append(old[:at:at], old[at+1:]...)
		}
		value, err := overlay(was, v.Index(i))
		if err != nil {
			return nil, err
		}
		b.Write(value)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// sameRecord finds the record in old whose first field is v's.
func sameRecord(old []json.RawMessage, v reflect.Value) int {
	for f := range structFields(v.Type()) {
		for i, raw := range old {
			o, err := parseObject(raw)
			if err != nil {
				continue
			}
			if was, had := o.get(f.name); had && unchanged(was, v.FieldByIndex(f.index)) {
				return i
			}
		}
		break
	}
	return -1
}

type structField struct {
	name      string
	index     []int
	omitEmpty bool
}

// structFields yields the JSON fields of t in order, embedded structs
// flattened.
func structFields(t reflect.Type) func(yield func(structField) bool) {
	return func(yield func(structField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous || !f.IsExported() {
				continue
			}
			tag := f.Tag.Get("json")
			name, opts, _ := strings.Cut(tag, ",")
			if name == "-" {
				continue
			}
			if name == "" {
				name = f.Name
			}
			if !yield(structField{name, f.Index, strings.Contains(opts, "omitempty")}) {
				return
			}
		}
	}
}
