package benchmark

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"si/internal/lazyre"
)

// Proposal is a path to seal, proposed at set-up.
type Proposal struct {
	Path string // in the form of sealed_files
	From string // the script that names it, "" when the command itself does
}

const (
	maxProposals  = 100
	maxScriptRead = 256 << 10
)

// toolFiles are what well-known commands read without naming it. The word is
// one of the command's; a pattern is proposed when exists says so.
var toolFiles = []struct {
	word  string
	paths []string
}{
	{"make", []string{"GNUmakefile", "makefile", "Makefile"}},
	{"just", []string{"justfile", "Justfile"}},
	{"npm", []string{"package.json"}},
	{"yarn", []string{"package.json"}},
	{"pnpm", []string{"package.json"}},
	{"pytest", []string{"conftest.py", "pytest.ini", "tests/conftest.py"}},
	{"cargo", []string{"benches/"}},
}

// ProposeSeals names what should be sealed for a benchmark command: the files of
// the tree that it names, and, one level on, the files that those name in their
// turn. exists says whether a slash path is in the tree, a folder when it ends
// in a slash; read gives a file's content. The caller takes out what is in
// scope: a script that builds what is to be improved names that as well.
func ProposeSeals(command string, exists func(string) bool, read func(string) ([]byte, bool)) []Proposal {
	var list []Proposal
	add := func(p, from string) {
		known := slices.ContainsFunc(list, func(have Proposal) bool { return have.Path == p })
		if p != "" && !known && len(list) < maxProposals {
			list = append(list, Proposal{p, from})
		}
	}
	for _, p := range namedByCommand(command, exists) {
		add(p, "")
	}
	for _, script := range slices.Clone(list) {
		if strings.HasSuffix(script.Path, "/") {
			continue
		}
		data, ok := read(script.Path)
		if !ok || len(data) > maxScriptRead || !utf8.Valid(data) {
			continue
		}
		for _, p := range namedByScript(script.Path, string(data), exists) {
			add(p, script.Path)
		}
	}
	return list
}

func namedByCommand(command string, exists func(string) bool) (found []string) {
	words := shellWords(command)
	dir := ""
	for i, word := range words {
		if i > 0 && words[i-1] == "cd" {
			dir = path.Join(dir, word)
			continue
		}
		if i > 0 && words[i-1] == "-m" {
			module := strings.ReplaceAll(word, ".", "/")
			found = append(found, existing(dir, module+".py", exists), existing(dir, module+"/__main__.py", exists))
		}
		_, value, _ := strings.Cut(word, "=")
		found = append(found, existing(dir, word, exists), existing(dir, value, exists))
		for _, tool := range toolFiles {
			if path.Base(word) == tool.word {
				for _, p := range tool.paths {
					found = append(found, existing(dir, p, exists))
				}
			}
		}
	}
	return append(found, goTests(words)...)
}

// existing is the path of the word below dir, "" when the tree has no such
// file. A folder is never taken from a word without its slash: commands are
// given the folder they work on.
func existing(dir, word string, exists func(string) bool) string {
	slash := strings.HasSuffix(word, "/")
	p := path.Join(dir, word)
	if word == "" || pathFault(strings.TrimSuffix(word, "/")) != "" || pathFault(p) != "" {
		return ""
	}
	if slash {
		p += "/"
	}
	if exists(p) && (slash || !exists(p+"/")) {
		return p
	}
	return ""
}

// goTests are the test files that go test would run, as globs.
func goTests(words []string) (globs []string) {
	i := slices.Index(words, "test")
	if i < 1 || path.Base(words[i-1]) != "go" {
		return nil
	}
	for _, word := range words[i+1:] {
		switch {
		case word == ".":
			globs = append(globs, "*_test.go")
		case word == "./...":
			globs = append(globs, "**/*_test.go")
		case strings.HasPrefix(word, "./"):
			dir, all := strings.CutSuffix(path.Clean(word), "/...")
			if all {
				dir += "/**"
			}
			globs = append(globs, dir+"/*_test.go")
		}
	}
	if len(globs) == 0 {
		globs = []string{"*_test.go"}
	}
	return globs
}

// shellWords splits a command into words, coarsely: quotes and what separates
// commands are taken for blanks. A word too many costs a look for a file.
func shellWords(command string) []string {
	return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\r\n;|&()<>'\"`{}$", r) })
}

// pathLike finds what may be a path in a script: it has an extension or a slash.
var pathLike = lazyre.New(`[\pL\pN_.@+-]*[/.][\pL\pN_./@+-]+`)

// namedByScript are the files of the tree that a script's text names, as paths
// from the top or from the script's own folder.
func namedByScript(script, text string, exists func(string) bool) (found []string) {
	const maxWords = 5000
	for _, word := range pathLike.FindAllString(text, maxWords) {
		word = strings.TrimRight(word, ".")
		if strings.HasSuffix(word, "/") {
			continue
		}
		for _, dir := range []string{"", path.Dir(script)} {
			if p := existing(dir, word, exists); p != "" && p != script {
				found = append(found, p)
				break
			}
		}
	}
	return found
}
