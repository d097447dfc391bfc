package track

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"si/internal/durable"
)

// maxDocument is the largest document that is read, in bytes. Documents are
// small; anything larger was not written by this program.
const maxDocument = 64 << 20

// File is one JSON document of a track: its value, and what stood in the file
// that this program does not model, which Save keeps.
type File[T any] struct {
	Path   string
	Value  T
	Exists bool // false when the file was absent and Value holds the defaults
	raw    json.RawMessage
}

// FileError says what is wrong with a file of a track and what to do.
type FileError struct {
	Path string
	Line int    // 1-based, 0 when unknown
	What string // what is wrong
	Hint string // what to do
	Err  error
}

func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": " + e.What)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

func (e *FileError) Unwrap() error { return e.Err }

// Validator lists everything that is wrong with a document, one text a fault.
type Validator interface{ Faults() []string }

// Load reads the document at path over the defaults in def. An absent file
// gives the defaults. Wrong JSON, a wrong type, a number that is not finite and
// whatever the document's Faults report give a *FileError with the line.
func Load[T any](path string, def T) (File[T], error) {
	f := File[T]{Path: path, Value: def}
	data, err := readDocument(path)
	if errors.Is(err, os.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return f, &FileError{Path: path, Line: 1, What: "the document is null", Hint: hintAnew}
	}
	f.Exists, f.raw = true, data
	if err := Decode(path, data, &f.Value); err != nil {
		return f, err
	}
	if v, ok := any(&f.Value).(Validator); ok {
		if faults := v.Faults(); len(faults) > 0 {
			return f, &FileError{Path: path, Line: faultLine(data, faults[0]), What: joinFaults(faults), Hint: hintCorrect}
		}
	}
	return f, nil
}

func readDocument(path string) ([]byte, error) { return readBounded(path, maxDocument) }

// hintCorrect is what to do about a document with a wrong value in it.
const hintCorrect = "correct the file"

// hintAnew is what to do about a document that is no document.
const hintAnew = "correct the file, or move it away to start it anew"

// Decode reads one JSON document from data into v as strictly as Load does:
// finite numbers, no key twice, nothing behind it. Errors are *FileErrors that
// name path, which may be any name for where data came from.
func Decode(path string, data []byte, v any) error {
	fe := &FileError{Path: path, Hint: hintAnew}
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		fe.What = "the file is empty"
		return fe
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		fe.Line, fe.What, fe.Hint = 1, "it begins with a byte order mark", "save it as UTF-8 without one"
		return fe
	case !utf8.Valid(data):
		fe.Line, fe.What = lineAt(data, int64(invalidAt(data))), "not valid UTF-8"
		return fe
	}
	if json.Valid(data) {
		if fault := scan(data); fault != nil {
			fe.Line, fe.What, fe.Hint = lineAt(data, fault.offset), fault.what, hintCorrect
			return fe
		}
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fe.explain(data, err)
	}
	if fault := foldedKey(data, reflect.TypeOf(v)); fault != "" {
		fe.Line, fe.What, fe.Hint = faultLine(data, fault), fault, hintCorrect
		return fe
	}
	return nil
}

func invalidAt(data []byte) int {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return len(data)
}

// explain turns a decoder's error into words and a line.
func (e *FileError) explain(data []byte, err error) *FileError {
	e.What, e.Err = err.Error(), err
	var syn *json.SyntaxError
	var typ *json.UnmarshalTypeError
	var clock *time.ParseError
	switch {
	case errors.As(err, &syn):
		e.Line = lineAt(data, syn.Offset)
		e.What = "not valid JSON: " + err.Error()
		if tok := tokenBefore(data, syn.Offset); tok != "" {
			e.What = fmt.Sprintf("%s is not a JSON number: numbers here are finite", tok)
		}
	case errors.As(err, &typ):
		e.Line = lineAt(data, typ.Offset)
		field := typ.Field
		if field == "" {
			field = "the document"
		}
		e.What = fmt.Sprintf("%s: want %s, found %s", field, jsonType(typ.Type), clip(typ.Value, 60))
	case errors.As(err, &clock):
		value := strings.Trim(clock.Value, `"`)
		e.What = fmt.Sprintf("%q is not a time such as 2026-01-02T15:04:05Z", clip(value, 60))
		if at := bytes.Index(data, []byte(`"`+value+`"`)); at >= 0 {
			e.Line = lineAt(data, int64(at))
		}
	default:
		e.Line = faultLine(data, e.What)
	}
	return e
}

// tokenBefore returns the NaN or Infinity that the decoder stumbled over at
// offset; other tools write them.
func tokenBefore(data []byte, offset int64) string {
	at := min(int(max(offset-1, 0)), len(data))
	rest := string(data[at:])
	for _, tok := range []string{"NaN", "Infinity"} {
		if strings.HasPrefix(rest, tok) {
			return tok
		}
	}
	if at > 0 && strings.HasPrefix(string(data[at-1:]), "-Infinity") {
		return "-Infinity"
	}
	return ""
}

func jsonType(t reflect.Type) string {
	names := map[reflect.Kind]string{
		reflect.Bool: "true or false", reflect.String: "a text",
		reflect.Slice: "a list", reflect.Array: "a list",
		reflect.Map: "an object", reflect.Struct: "an object",
		reflect.Int: "a whole number", reflect.Int64: "a whole number", reflect.Uint64: "a whole number",
	}
	if name, ok := names[t.Kind()]; ok {
		return name
	}
	return "a number"
}

func lineAt(data []byte, offset int64) int {
	end := min(int(offset), len(data))
	return 1 + bytes.Count(data[:end], []byte("\n"))
}

// faultLine finds the line of the key that a fault begins with, 0 if none. Of a
// path such as steps[2].file each key is looked for behind the one before it.
func faultLine(data []byte, fault string) int {
	field, _, ok := strings.Cut(fault, ":")
	if !ok {
		return 0
	}
	at, found := 0, 0
	for key := range strings.SplitSeq(field, ".") {
		key, index, _ := strings.Cut(key, "[")
		nth, _ := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if key != "" {
			i := keyAt(data[at:], key)
			if i < 0 {
				break // the key is missing: name the line of what should hold it
			}
			at += i
			found = lineAt(data, int64(at))
			at += len(key) + 2
		}
		if index != "" {
			at += elementAt(data[at:], nth)
			found = lineAt(data, int64(at))
		}
	}
	return found
}

// keyAt finds "key" followed by a colon.
func keyAt(data []byte, key string) int {
	quoted := []byte(`"` + key + `"`)
	for from := 0; ; {
		i := bytes.Index(data[from:], quoted)
		if i < 0 {
			return -1
		}
		from += i
		rest := bytes.TrimLeft(data[from+len(quoted):], " \t\r\n")
		if bytes.HasPrefix(rest, []byte(":")) {
			return from
		}
		from += len(quoted)
	}
}

// elementAt is the offset of the nth element of the list that begins in data, 0
// when there is none.
func elementAt(data []byte, nth int) int {
	open := bytes.IndexByte(data, '[')
	if open < 0 {
		return 0
	}
	dec := json.NewDecoder(bytes.NewReader(data[open:]))
	if _, err := dec.Token(); err != nil {
		return 0
	}
	var skip json.RawMessage
	for i := 0; i < nth && dec.More(); i++ {
		if err := dec.Decode(&skip); err != nil {
			return 0
		}
	}
	if !dec.More() {
		return open
	}
	at := open + int(dec.InputOffset())
	rest := data[at:]
	return at + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,"))
}

// Save writes the document back. Keys that this program does not model stay as
// they were, in their order.
func (f *File[T]) Save(s *durable.Store) error {
	raw, err := overlay(f.raw, reflect.ValueOf(&f.Value))
	if err != nil {
		return fmt.Errorf("encode %s: %w", f.Path, err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return fmt.Errorf("encode %s: %w", f.Path, err)
	}
	b.WriteByte('\n')
	if f.Exists && bytes.Equal(b.Bytes(), f.raw) {
		return nil // nothing changed: no write, no fsync
	}
	if err := s.Replace(f.Path, b.Bytes(), 0o644); err != nil {
		return err
	}
	f.Exists, f.raw = true, b.Bytes()
	return nil
}

func sortedKeys(m reflect.Value) []string {
	keys := make([]string, 0, m.Len())
	for _, k := range m.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	return keys
}
