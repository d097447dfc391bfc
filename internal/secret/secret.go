// Package secret takes keys and passwords out of what is written down or shown. It
// knows them by the names of the variables that hold them, and finds them where they
// stand as they are, or as JSON writes them. It does not find what somebody has
// disguised: containment is for that.
package secret

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Hidden stands where a secret stood.
const Hidden = "[key]"

// least is how many bytes a secret has: what is shorter is part of many words.
const least = 8

// Set are values that must not be repeated. The zero Set has none. It is safe for
// concurrent use.
type Set struct {
	all []string // the longest first; none has a line break
}

// Of are the secrets of environments, each a list of KEY=value: the values of variables
// whose names say so, and the passwords in addresses.
func Of(envs ...[]string) Set {
	var found []string
	for _, e := range slices.Concat(envs...) {
		name, value, _ := strings.Cut(e, "=")
		if holds(name, value) {
			found = append(found, parts(value)...)
		}
		found = append(found, password(value)...)
	}
	return Set{}.With(found...)
}

// With are the secrets of s, and values, whatever they look like.
func (s Set) With(values ...string) Set {
	all := slices.Clone(s.all)
	for _, v := range values {
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= least && !strings.HasPrefix(line, "-----") { // the frame of a key is none
				all = append(all, line)
				all = append(all, written(line)...)
			}
		}
	}
	slices.SortFunc(all, longestFirst)
	return Set{slices.Compact(all)}
}

func longestFirst(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }

// parts are a value and, where it is a list of headers, the values in it that are no
// ordinary words: those of headers that are named like secrets, and those with a digit.
func parts(value string) []string {
	out := []string{value}
	for _, field := range strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == ',' }) {
		at := strings.IndexAny(field, ":=")
		if at <= 0 {
			continue
		}
		for _, word := range strings.Fields(field[at+1:]) { // Bearer and the like are too short to count
			if Named(field[:at]) || strings.ContainsAny(word, digits) {
				out = append(out, word)
			}
		}
	}
	return out
}

// password is what an address holds before its @.
func password(value string) []string {
	if !strings.Contains(value, "://") || !strings.Contains(value, "@") {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return nil
	}
	plain, has := u.User.Password()
	if !has {
		return nil
	}
	return []string{u.User.String(), u.User.Username() + ":" + plain, plain}
}

// written are the forms in which JSON has value, where they differ from it.
func written(value string) []string {
	var out []string
	data, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	escaped := strings.Trim(string(data), `"`)
	var plain strings.Builder
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if e.Encode(value) == nil {
		out = append(out, strings.Trim(strings.TrimSpace(plain.String()), `"`))
	}
	out = append(out, escaped, strings.ReplaceAll(escaped, "/", `\/`))
	return slices.DeleteFunc(out, func(o string) bool { return o == value || strings.ContainsFunc(o, unicode.IsControl) })
}

// Empty tells that there is nothing to hide.
func (s Set) Empty() bool { return len(s.all) == 0 }

// Mask is the text without the secrets.
func (s Set) Mask(text string) string {
	for _, one := range s.all {
		text = strings.ReplaceAll(text, one, Hidden)
	}
	return text
}

// JSON is a document without the secrets. It is nil where one stood in it as something
// else than a text, or a part of one.
func (s Set) JSON(doc json.RawMessage) json.RawMessage {
	if s.Empty() || len(doc) == 0 {
		return doc
	}
	masked := s.Mask(string(doc))
	if masked != string(doc) && !json.Valid([]byte(masked)) {
		return nil
	}
	return json.RawMessage(masked)
}

// Holds tells whether one of the secrets stands in the text.
func (s Set) Holds(text string) bool {
	return slices.ContainsFunc(s.all, func(one string) bool { return strings.Contains(text, one) })
}

// Error is an error that says the same without the secrets. It is still told by
// errors.Is from others; errors.As does not reach into one that holds a secret.
func (s Set) Error(err error) error {
	if err == nil || !s.Holds(err.Error()) {
		return err
	}
	return &masked{s.Mask(err.Error()), err}
}

type masked struct {
	said string
	err  error
}

func (e *masked) Error() string { return e.said }

func (e *masked) Is(target error) bool { return errors.Is(e.err, target) }
