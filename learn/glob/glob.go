// Package glob tells whether two patterns for paths can mean the same file. The
// syntax is that of doublestar: / separates segments, ** stands for any number of
// them, * and ? stay within one, [a-z] is a class, {a,b} are alternatives and a
// backslash takes the next character as it is. It looks at no file.
package glob

import (
	"fmt"
	"path"
	"strings"
)

// Limits of a pattern, so that a hostile one costs little.
const (
	maxPattern      = 1024 // bytes
	maxAlternatives = 256  // after expanding braces
)

// Pattern is a parsed glob, or a path taken literally. The zero Pattern means no
// path.
type Pattern struct {
	text string
	alts []alternative
}

// alternative is a pattern without braces.
type alternative struct {
	segments []segment
	prefix   string // what every path begins with
	suffix   string // what every path ends in
	literal  bool   // prefix is the only path
}

// Parse reads a glob. A leading ./ and repeated slashes mean nothing; a trailing
// slash means everything below.
func Parse(text string) (Pattern, error) {
	if err := check(text); err != nil {
		return Pattern{}, fmt.Errorf("read the glob %.80q: %w", text, err)
	}
	forms, err := expand(text)
	if err != nil {
		return Pattern{}, fmt.Errorf("read the glob %.80q: %w", text, err)
	}
	p := Pattern{text: text}
	for _, form := range forms {
		a, err := parseAlternative(form)
		if err != nil {
			return Pattern{}, fmt.Errorf("read the glob %.80q: %w", text, err)
		}
		p.alts = append(p.alts, a)
	}
	return p, nil
}

func check(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("it is empty; use ** for everything")
	case len(text) > maxPattern:
		return fmt.Errorf("it has %d bytes, the most are %d", len(text), maxPattern)
	case strings.HasPrefix(text, "/"):
		return fmt.Errorf("it begins with a slash; globs are relative to the top of the repository")
	}
	return nil
}

// Literal is the pattern that means one path and nothing else.
func Literal(name string) Pattern {
	clean := path.Clean(strings.TrimPrefix(name, "./"))
	a := alternative{prefix: clean, suffix: clean[strings.LastIndexByte(clean, '/')+1:], literal: true}
	for _, s := range strings.Split(clean, "/") {
		a.segments = append(a.segments, literalSegment(s))
	}
	return Pattern{text: name, alts: []alternative{a}}
}

// String is the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Match reports whether the pattern means the path.
func (p Pattern) Match(name string) bool { return Intersects(p, Literal(name)) }

// Intersects reports whether some path is meant by both patterns.
func Intersects(a, b Pattern) bool {
	for i := range a.alts {
		for j := range b.alts {
			if a.alts[i].meets(&b.alts[j]) {
				return true
			}
		}
	}
	return false
}

// meets looks at the literal ends first, since most pairs differ there.
func (a *alternative) meets(b *alternative) bool {
	if n := min(len(a.prefix), len(b.prefix)); a.prefix[:n] != b.prefix[:n] {
		return false
	}
	if n := min(len(a.suffix), len(b.suffix)); a.suffix[len(a.suffix)-n:] != b.suffix[len(b.suffix)-n:] {
		return false
	}
	if a.literal && b.literal {
		return a.prefix == b.prefix
	}
	return segmentsMeet(a.segments, b.segments)
}

// segmentsMeet walks both lists at once; ok[j] says that the segments of a up to
// now and the first j of b can name the same folders.
func segmentsMeet(a, b []segment) bool {
	var space [64]bool
	ok, next := space[:0:32], space[32:32:64]
	if len(b) >= 32 {
		ok, next = make([]bool, 0, len(b)+1), make([]bool, 0, len(b)+1)
	}
	ok, next = ok[:len(b)+1], next[:len(b)+1]
	ok[0] = true
	for j := range b {
		ok[j+1] = ok[j] && b[j].deep
	}
	for i := range a {
		next[0] = ok[0] && a[i].deep
		for j := range b {
			if a[i].deep || b[j].deep { // it stands for no segment, or takes the other's too
				next[j+1] = next[j] || ok[j+1]
			} else {
				next[j+1] = ok[j] && tokensMeet(&a[i], &b[j])
			}
		}
		ok, next = next, ok
	}
	return ok[len(b)]
}
