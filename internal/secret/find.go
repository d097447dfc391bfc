package secret

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
)

// long is how many bytes a secret without a digit has at least: shorter ones may be
// words that anybody writes.
const long = 20

// Hard are the secrets of s that nobody writes by chance: a change that holds one took
// it from somewhere.
func (s Set) Hard() Set {
	return Set{slices.DeleteFunc(slices.Clone(s.all), func(one string) bool {
		return len(one) < long && (!strings.ContainsAny(one, digits) || strings.Trim(one, digits+".:-/_ ") == "")
	})}
}

// And are the secrets of both.
func (s Set) And(t Set) Set {
	all := slices.Concat(s.all, t.all)
	slices.SortFunc(all, longestFirst)
	return Set{slices.Compact(all)}
}

// Without are the secrets of s that t has not.
func (s Set) Without(t Set) Set {
	return Set{slices.DeleteFunc(slices.Clone(s.all), func(one string) bool { return slices.Contains(t.all, one) })}
}

// Each are the secrets one by one, for a search. They must not be shown.
func (s Set) Each() []string { return slices.Clone(s.all) }

// piece is how much of what is read is looked at at once, in bytes.
const piece = 64 << 10

// In reads r to its end. It returns the secrets of s that stand in it, and the line of
// the first of them, from 1. It keeps no more of r than a piece and a secret, whatever
// the length of its lines.
func (s Set) In(r io.Reader) (held Set, line int, err error) {
	if s.Empty() {
		return Set{}, 0, nil
	}
	keep := len(s.all[0]) - 1 // the longest may have begun in the last piece
	in, read, before := bufio.NewReaderSize(r, piece), []byte{}, 1
	buf := make([]byte, piece)
	for {
		n, err := in.Read(buf)
		read = append(read, buf[:n]...)
		for _, one := range s.all {
			at := bytes.Index(read, []byte(one))
			if at < 0 || slices.Contains(held.all, one) {
				continue
			}
			held.all = append(held.all, one)
			if here := before + bytes.Count(read[:at], []byte{'\n'}); line == 0 || here < line {
				line = here
			}
		}
		if cut := len(read) - keep; cut > 0 {
			before += bytes.Count(read[:cut], []byte{'\n'})
			read = append(read[:0], read[cut:]...)
		}
		if errors.Is(err, io.EOF) {
			slices.SortFunc(held.all, longestFirst)
			return held, line, nil
		}
		if err != nil {
			return held, line, err
		}
	}
}
