package track

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"si/internal/durable"
)

// Keyed is a record of a list, told from the others by its key.
type Keyed interface{ Key() string }

// List is a document that is a JSON array of records. Records that were in the
// file, and what this program does not model in them, stay as they were.
type List[T Keyed] struct {
	Path  string
	Items []T
	raw   []json.RawMessage // of Items, in their order
}

// LoadList reads the list at path; an absent file is an empty list. Damage is a
// *FileError, as in Load.
func LoadList[T Keyed](path string) (List[T], error) {
	l := List[T]{Path: path}
	data, err := readDocument(path)
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	if err := Decode(path, data, &l.Items); err != nil {
		return l, err
	}
	if err := json.Unmarshal(data, &l.raw); err != nil {
		return l, fmt.Errorf("read %s: %w", path, err)
	}
	for i := range l.Items {
		v, ok := any(&l.Items[i]).(Validator)
		if !ok {
			continue
		}
		if faults := v.Faults(); len(faults) > 0 {
			at := fmt.Sprintf("[%d].", i)
			return l, &FileError{Path: path, Line: faultLine(data, at+faults[0]), What: at + faults[0], Hint: hintCorrect}
		}
	}
	return l, nil
}

// Put appends records. One whose key is in the list already takes that place,
// so that a step that is done again after a crash records nothing twice.
func (l *List[T]) Put(items ...T) error {
	for _, item := range items {
		at := l.index(item.Key())
		var before json.RawMessage
		if at >= 0 {
			before = l.raw[at]
		}
		raw, err := overlay(before, reflect.ValueOf(&item))
		if err != nil {
			return fmt.Errorf("encode a record of %s: %w", l.Path, err)
		}
		if at >= 0 {
			l.Items[at], l.raw[at] = item, raw
			continue
		}
		l.Items, l.raw = append(l.Items, item), append(l.raw, raw)
	}
	return nil
}

func (l *List[T]) index(key string) int {
	for i, item := range l.Items {
		if item.Key() == key {
			return i
		}
	}
	return -1
}

// Save writes the list back.
func (l *List[T]) Save(s *durable.Store) error {
	var compact, b bytes.Buffer
	compact.WriteByte('[')
	for i, raw := range l.raw {
		if i > 0 {
			compact.WriteByte(',')
		}
		compact.Write(raw)
	}
	compact.WriteByte(']')
	if err := json.Indent(&b, compact.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("encode %s: %w", l.Path, err)
	}
	b.WriteByte('\n')
	return s.Replace(l.Path, b.Bytes(), 0o644)
}

// AppendList loads the list at path, puts items into it and saves it.
func AppendList[T Keyed](s *durable.Store, path string, items ...T) error {
	l, err := LoadList[T](path)
	if err != nil {
		return err
	}
	if err := l.Put(items...); err != nil {
		return err
	}
	return l.Save(s)
}

// Key tells a candidate's record: its round and plan.
func (r RawRecord) Key() string { return fmt.Sprintf("%d %s", r.Iteration, r.PlanID) }

// Key tells a change: when it was made, and to what.
func (e ChangeEvent) Key() string {
	return fmt.Sprintf("%d %s %d %s", e.Timestamp.UnixNano(), e.EventType, e.Iteration, e.Details.Field)
}
