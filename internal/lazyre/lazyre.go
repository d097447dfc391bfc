// Package lazyre holds regular expressions that are compiled when they are first used.
// si starts itself anew for each run of a benchmark and of an agent, and compiling
// what such a start never looks at was a fifth of its time.
package lazyre

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled at its first use. Its methods are
// those of [regexp.Regexp]; one that is wrong panics there, so each has to be used by
// a test. It may be used by several goroutines at once.
type Regexp struct{ compiled func() *regexp.Regexp }

// New names an expression without compiling it.
func New(expr string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// String is the method of [regexp.Regexp].
func (r *Regexp) String() string { return r.compiled().String() }

// MatchString is the method of [regexp.Regexp].
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindString is the method of [regexp.Regexp].
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringIndex is the method of [regexp.Regexp].
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindStringSubmatch is the method of [regexp.Regexp].
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex is the method of [regexp.Regexp].
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindAllString is the method of [regexp.Regexp].
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// FindAllStringSubmatch is the method of [regexp.Regexp].
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// ReplaceAllString is the method of [regexp.Regexp].
func (r *Regexp) ReplaceAllString(s, by string) string { return r.compiled().ReplaceAllString(s, by) }

// Split is the method of [regexp.Regexp].
func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }

// SubexpIndex is the method of [regexp.Regexp].
func (r *Regexp) SubexpIndex(name string) int { return r.compiled().SubexpIndex(name) }
