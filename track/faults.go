package track

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxFaults bounds what is reported of one document: the rest is like it.
const maxFaults = 50

// maxProse bounds one text of an agent, in bytes.
const maxProse = 64 << 10

// faults collects what is wrong with a document, each beginning with the field.
type faults struct {
	list []string
	at   string // prefix of every field
	more int
}

func (f *faults) add(field, format string, args ...any) {
	if len(f.list) >= maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, f.at+field+": "+fmt.Sprintf(format, args...))
}

// all returns the faults, nil when there are none.
func (f *faults) all() []string {
	if f.more > 0 {
		return append(f.list, fmt.Sprintf("and %d more", f.more))
	}
	return f.list
}

// within runs check with field in front of every field that it names.
func (f *faults) within(field string, check func()) {
	was := f.at
	f.at += field + "."
	check()
	f.at = was
}

// text wants a text that is there, and no larger than a text has reason to be.
func (f *faults) text(field, value string) {
	if strings.TrimSpace(value) == "" {
		f.add(field, "missing")
		return
	}
	f.size(field, value)
}

func (f *faults) size(field, value string) {
	if len(value) > maxProse {
		f.add(field, "%d bytes are more than the %d that a text can have", len(value), maxProse)
	}
}

// name wants an id that can stand in file names and refs.
func (f *faults) name(field, value string) {
	switch {
	case value == "":
		f.add(field, "missing")
	case !isName(value):
		f.add(field, "%q is no id: want at most %d letters, digits, '.', '_' or '-'", clip(value, 60), maxName)
	}
}

// oneOf wants one of the allowed values.
func oneOf[T ~string](f *faults, field string, value T, allowed ...T) {
	if value == "" {
		f.add(field, "missing")
		return
	}
	if !slices.Contains(allowed, value) {
		words := make([]string, len(allowed))
		for i, a := range allowed {
			words[i] = string(a)
		}
		f.add(field, "%q is none of %s", clip(string(value), 60), strings.Join(words, ", "))
	}
}

// optional is oneOf for a field that may be empty.
func optional[T ~string](f *faults, field string, value T, allowed ...T) {
	if value != "" {
		oneOf(f, field, value, allowed...)
	}
}

func (f *faults) atLeast(field string, value, least int) {
	if value < least {
		f.add(field, "%d is less than %d", value, least)
	}
}

func (f *faults) atMost(field string, value, most int) {
	if value > most {
		f.add(field, "%d is more than %d", value, most)
	}
}

// number wants a finite number ≥ 0.
func (f *faults) number(field string, value float64) {
	if !finite(value) || value < 0 {
		f.add(field, "%v is not a finite number ≥ 0", value)
	}
}

func (f *faults) score(field string, value *float64) {
	if value != nil && !finite(*value) {
		f.add(field, "%v is not a finite number", *value)
	}
}

func (f *faults) subScores(scores SubScore) {
	for _, name := range sortedNames(scores) {
		if v := scores[name]; !finite(v) {
			f.add("sub_scores", "%s: %v is not a finite number", clip(name, 60), v)
		}
	}
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// path wants a path within the repository.
func (f *faults) path(field, value string) {
	if strings.TrimSpace(value) == "" {
		f.add(field, "missing")
		return
	}
	if fault := patternFault(value); fault != "" {
		f.add(field, "the path %q cannot be used: %s", clip(value, 60), fault)
	}
}

func (f *faults) utf8(field, value string) {
	if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		f.add(field, "it holds a zero byte or broken UTF-8")
	}
}

// joinFaults makes one line of the faults of a file.
func joinFaults(list []string) string { return strings.Join(list, "; ") }
