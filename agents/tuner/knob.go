package tuner

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Knob is a named number or switch in one place of one file.
type Knob struct {
	Name   string // path:name, the same as long as the name is
	Path   string
	Line   int    // 1-based
	Text   string // the whole line, without its end
	Column int    // 0-based byte offset of Old in Text
	Old    string
	value  value
	words  []string // of the name, lower case
}

// place is a value that a scanner found, before anything is asked about it.
type place struct {
	name   string // qualified: Config.Workers, train.batch_size
	line   int    // 1-based
	column int
	old    string
}

// knobsIn returns the knobs of one file.
func knobsIn(path string, data []byte) []Knob {
	lines := strings.Split(string(data), "\n")
	if generated(lines) {
		return nil
	}
	var knobs []Knob
	seen := map[string]int{}
	for _, pl := range languageOf(path).scan(string(data), lines) {
		k, ok := knobAt(path, lines, pl)
		if !ok {
			continue
		}
		// A name that comes again is told by its turn; lines would shift.
		if seen[k.Name]++; seen[k.Name] > 1 {
			k.Name = fmt.Sprintf("%s#%d", k.Name, seen[k.Name])
		}
		if knobs = append(knobs, k); len(knobs) > maxInFile {
			return nil
		}
	}
	return knobs
}

func knobAt(path string, lines []string, pl place) (Knob, bool) {
	text := strings.TrimSuffix(lines[pl.line-1], "\r")
	v, ok := parseValue(pl.old)
	words := splitWords(pl.name)
	if !ok || len(text) > maxLine || len(pl.name) > maxLine || excludedLine(text) || excludedName(words) {
		return Knob{}, false
	}
	return Knob{
		Name: path + ":" + pl.name, Path: path, Line: pl.line, Text: text,
		Column: pl.column, Old: pl.old, value: v, words: words,
	}, true
}

func generated(lines []string) bool {
	for _, l := range lines[:min(len(lines), 40)] {
		if strings.Contains(l, "Code generated") || strings.Contains(l, "@generated") || strings.Contains(l, "DO NOT EDIT") {
			return true
		}
	}
	return false
}

// excludedLine tells lines whose numbers are not choices by what stands beside
// them, and lines that would carry control characters into a plan.
func excludedLine(text string) bool {
	low := strings.ToLower(text)
	for _, sign := range []string{"://", "copyright", "license", "licence", "sha256", "sha1", "md5", "uuid", "do not change", "do not tune"} {
		if strings.Contains(low, sign) {
			return true
		}
	}
	return strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) })
}

// excludedName reports whether the words of a name say that its number is not a
// matter of speed or quality: it identifies, dates, tests, or is agreed with others.
func excludedName(words []string) bool {
	return len(words) == 0 || slices.ContainsFunc(words, excludedWord)
}

func excludedWord(w string) bool {
	switch w {
	case "version", "versions", "ver", "revision", "rev", "edition", "schema", "major", "minor", "patch", "dependencies", "year", "month", "day", "date",
		"created", "updated", "timestamp", "timezone", "expires", "expiry",
		"port", "ports", "host", "address", "addr", "ip", "pid", "uid", "gid", "fd", "id", "ids", "uuid", "guid", "key", "token",
		"password", "secret", "license", "licence", "copyright", "serial",
		"hash", "sha", "md5", "checksum", "crc", "fnv", "prime", "basis", "magic", "poly", "polynomial", "signature", "mask",
		"seed", "salt", "nonce", "timeout", "timeouts", "deadline", "exit", "status", "errno", "errcode", "code", "signal",
		"mode", "perm", "permission", "permissions", "umask", "flags", "opcode", "tag", "kind", "type", "enum",
		"expected", "expect", "want", "golden", "fixture", "answer", "target", "pi", "tau", "debug", "verbose", "verbosity",
		"color", "colour", "indent", "title", "iterations", "repeats", "deprecated", "private", "strict":
		return true
	}
	return false
}

// splitWords takes a name apart at case changes, digits' ends, and everything
// that is no letter: maxHTTPConns2 → max http conns.
func splitWords(name string) []string {
	var words []string
	rs := []rune(name)
	start := -1
	flush := func(end int) {
		if start >= 0 {
			words = append(words, strings.ToLower(string(rs[start:end])))
		}
		start = -1
	}
	for i, r := range rs {
		switch {
		case !unicode.IsLetter(r):
			flush(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && (unicode.IsLower(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1])):
			flush(i)
			start = i
		}
	}
	flush(len(rs))
	return words
}
