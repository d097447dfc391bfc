package tuner

import (
	"path"
	"strings"

	"si/internal/lazyre"
)

// language is how a file is searched.
type language int

const (
	none language = iota
	golang
	braces // C and what looks like it
	script // Python and what looks like it
	shell
	jsonc
	yaml
	sections // TOML, INI
)

func languageOf(p string) language {
	switch strings.ToLower(path.Ext(p)) {
	case ".go":
		return golang
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".cu", ".m", ".java", ".kt", ".cs", ".js", ".mjs", ".cjs",
		".ts", ".jsx", ".tsx", ".rs", ".swift", ".zig", ".scala", ".glsl", ".cl":
		return braces
	case ".py", ".rb", ".jl":
		return script
	case ".sh", ".bash", ".zsh", ".mk":
		return shell
	case ".json", ".jsonc", ".json5":
		return jsonc
	case ".yaml", ".yml":
		return yaml
	case ".toml", ".ini", ".cfg", ".conf", ".properties":
		return sections
	}
	if strings.EqualFold(path.Base(p), "makefile") {
		return shell
	}
	return none
}

// scan returns the values with a name in a file, in the order of their places.
func (l language) scan(text string, lines []string) []place {
	switch l {
	case golang:
		return scanGo(text)
	case braces:
		return scanBraces(lines)
	case script:
		return scanScript(lines)
	case shell:
		return scanShell(lines)
	case jsonc:
		return scanJSON(text)
	case yaml:
		return scanYAML(lines)
	case sections:
		return scanSections(lines)
	case none:
	}
	return nil
}

// literal is what a line scanner takes for a value; parseValue decides.
const literal = `(true|false|True|False|TRUE|FALSE|on|off|yes|no|1\s*<<\s*\d+|-?\d[\w.]*(?:[eE][+-]?\d+)?(?:\s*\*\s*\d+)*)`

// pattern is a rule of a line scanner: group 1 is the name, group 2 the value.
func pattern(expr string) *lazyre.Regexp { return lazyre.New(expr) }

// find returns the places of the rule's matches in a line. The search goes on at
// the end of a value, since what ends one may begin the next.
func find(re *lazyre.Regexp, line string, number int) []place {
	var out []place
	for from := 0; ; {
		m := re.FindStringSubmatchIndex(line[from:])
		if m == nil {
			return out
		}
		out = append(out, place{name: line[from+m[2] : from+m[3]], line: number, column: from + m[4], old: line[from+m[4] : from+m[5]]})
		if from += m[5]; strings.HasPrefix(re.String(), "^") {
			return out
		}
	}
}

// usable cuts lines that are too long to matter, so that a file of one enormous
// line costs nothing.
func usable(line string) (string, bool) {
	return strings.TrimSuffix(line, "\r"), len(line) <= maxLine
}
