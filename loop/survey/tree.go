package survey

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"si/internal/lazyre"

	"github.com/bmatcuk/doublestar/v4"

	"si/internal/clean"
)

// Tree is the files of one commit.
type Tree struct {
	Paths []string                         // slash paths of regular files
	Read  func(path string) ([]byte, bool) // false when it cannot be read
}

// Bounds of what is read: a repository of somebody else's decides how much there
// is.
const (
	maxPaths = 200_000
	maxFile  = 256 << 10
	maxTotal = 32 << 20
	maxReads = 5000 // those near the top come first
	maxLine  = 160  // runes of a line that is shown
)

// index is a tree with what the detectors ask of it. It is for one goroutine.
type index struct {
	tree  Tree
	paths []string
	files map[string]bool
	dirs  map[string]bool
	texts map[string]string
	left  int // bytes that may still be read
	reads int // files that were read
}

func newIndex(t Tree) *index {
	i := &index{tree: t, files: map[string]bool{}, dirs: map[string]bool{}, texts: map[string]string{}, left: maxTotal}
	for _, p := range t.Paths {
		if len(i.paths) == maxPaths {
			break
		}
		if !printable(p) || path.IsAbs(p) || strings.HasPrefix(p, "../") || foreign(p) {
			continue
		}
		i.paths = append(i.paths, p)
		i.files[p] = true
		for dir := path.Dir(p); dir != "." && !i.dirs[dir+"/"]; dir = path.Dir(dir) {
			i.dirs[dir+"/"] = true
		}
	}
	slices.SortFunc(i.paths, func(a, b string) int { // near the top first
		if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return i
}

// foreignDirs hold other people's code.
var foreignDirs = lazyre.New(`(^|/)(vendor|node_modules|third_party|third-party|\.git|dist|target|\.venv|venv|site-packages|external|deps)/`)

func foreign(p string) bool { return foreignDirs.MatchString(p) }

// printable refuses names that could move a cursor or split a command.
func printable(s string) bool {
	return utf8.ValidString(s) && clean.Line(s, 1<<16) == s && !strings.ContainsAny(s, "\n\r\t\x00")
}

// exists takes a slash path, of a folder when it ends in a slash.
func (i *index) exists(p string) bool { return i.files[p] || i.dirs[p] }

func (i *index) raw(p string) ([]byte, bool) {
	text := i.text(p)
	return []byte(text), text != ""
}

// text is a file's content, "" for one that is missing, too large, or no text.
func (i *index) text(p string) string {
	if text, ok := i.texts[p]; ok || !i.files[p] {
		return text
	}
	i.texts[p] = ""
	if i.reads++; i.left <= 0 || i.reads > maxReads {
		return ""
	}
	data, ok := i.tree.Read(p)
	if !ok || len(data) > maxFile || !utf8.Valid(data) || strings.ContainsRune(string(data[:min(len(data), 8000)]), 0) {
		return ""
	}
	i.left -= len(data)
	i.texts[p] = string(data)
	return i.texts[p]
}

// match are the files whose whole path a pattern matches.
func (i *index) match(re *lazyre.Regexp) (found []string) {
	for _, p := range i.paths {
		if re.MatchString(p) {
			found = append(found, p)
		}
	}
	return found
}

// hit is a line of a file that a pattern matches.
type hit struct {
	file   string
	line   int
	text   string   // made harmless
	groups []string // of the pattern
}

// grep looks for a pattern line by line in one file.
func (i *index) grep(file string, re *lazyre.Regexp) (hits []hit) {
	n := 0
	for line := range strings.Lines(i.text(file)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if len(line) > 4096 { // no person wrote it
			continue
		}
		if m := re.FindStringSubmatch(line); m != nil {
			hits = append(hits, hit{file, n, clean.Line(strings.TrimSpace(line), maxLine), m})
		}
	}
	return hits
}

func (i *index) first(file string, re *lazyre.Regexp) (hit, bool) {
	hits := i.grep(file, re)
	if len(hits) == 0 {
		return hit{}, false
	}
	return hits[0], true
}

// covered says whether a sealed folder or glob of the list already holds p.
func covered(list []string, p string) bool {
	return slices.ContainsFunc(list, func(have string) bool {
		if strings.HasSuffix(have, "/") {
			return strings.HasPrefix(p, have)
		}
		ok, err := path.Match(have, p)
		return err == nil && ok
	})
}

// within says whether a scope names p; one of everything names nothing.
func within(scope []string, p string) bool {
	return slices.ContainsFunc(scope, func(s string) bool {
		ok, err := doublestar.Match(s, p)
		return err == nil && ok && s != "**"
	})
}

// plain is a word that the shell takes as it stands.
var plain = lazyre.New(`^[A-Za-z0-9_./:@%+=,-]+$`)

// quote makes one word of the shell of a text that the repository chose. A
// path that begins with a dash would be an option.
func quote(word string) string {
	if strings.HasPrefix(word, "-") {
		word = "./" + word
	}
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// inDir runs a command in a folder of the repository.
func inDir(dir, command string) string {
	if dir == "" || dir == "." {
		return command
	}
	return "cd " + quote(dir) + " && " + command
}
