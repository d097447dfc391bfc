package tuner

import (
	"strings"

	"si/internal/lazyre"
)

var (
	yamlRule    = pattern(`^[ -]*["']?([A-Za-z_][\w.-]*)["']?\s*:\s+` + literal + `\s*(?:#.*)?$`)
	yamlKey     = lazyre.New(`^([ -]*)["']?([A-Za-z_][\w.-]*)["']?\s*:`)
	pairRule    = pattern(`^\s*["']?([A-Za-z_][\w.-]*)["']?\s*[=:]\s*` + literal + `\s*(?:[#;].*)?$`)
	sectionName = lazyre.New(`^\s*\[+\s*([^\[\]]+?)\s*\]+`)

	shellAssign  = pattern(`^\s*(?:(?:export|readonly|declare|local)\s+)?([A-Za-z_]\w*)\s*[?:]?=["']?` + literal + `["']?\s*(?:[;#].*)?$`)
	shellDefault = pattern(`\$\{([A-Za-z_]\w*):?[-=]` + literal + `\}`)
	shellFlag    = pattern(`(?:^|\s)--?([A-Za-z][\w-]*)(?:=|\s+)` + literal + `(?:\s|\\|;|\)|"|$)`)
	shellJobs    = pattern(`(?:^|\s)-([jJtTwP])(\d{1,4})(?:\s|$)`)
	makeAssign   = pattern(`^([A-Za-z_]\w*)\s*[?:]?=\s*` + literal + `\s*(?:#.*)?$`)
)

// scanYAML keeps the keys above a line by their indent. Block texts are not told
// apart: a "key: 64" inside one is rare, and would change a text, not the program.
func scanYAML(lines []string) []place {
	type level struct {
		indent int
		key    string
	}
	var out []place
	var above []level
	for i, l := range lines {
		line, ok := usable(l)
		m := yamlKey.FindStringSubmatch(line)
		if !ok || m == nil {
			continue
		}
		for len(above) > 0 && above[len(above)-1].indent >= len(m[1]) {
			above = above[:len(above)-1]
		}
		for _, p := range find(yamlRule, line, i+1) {
			for j := len(above) - 1; j >= 0; j-- {
				p.name = above[j].key + "." + p.name
			}
			out = append(out, p)
		}
		if len(above) < 16 { // deeper is not configuration
			above = append(above, level{len(m[1]), m[2]})
		}
	}
	return out
}

// scanSections searches TOML, INI and properties files.
func scanSections(lines []string) []place {
	var out []place
	section := ""
	for i, l := range lines {
		line, ok := usable(l)
		if !ok {
			continue
		}
		if m := sectionName.FindStringSubmatch(line); m != nil {
			section = m[1] + "."
			continue
		}
		for _, p := range find(pairRule, line, i+1) {
			p.name = section + p.name
			out = append(out, p)
		}
	}
	return out
}

// scanShell searches scripts: assignments, defaults of variables, and flags.
func scanShell(lines []string) []place {
	var out []place
	for i, l := range lines {
		line, ok := usable(l)
		trimmed := strings.TrimSpace(line)
		if !ok || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "exit") || strings.HasPrefix(trimmed, "sleep") {
			continue
		}
		found := find(shellAssign, line, i+1)
		if len(found) == 0 {
			found = find(makeAssign, line, i+1)
		}
		if len(found) == 0 {
			found = append(find(shellDefault, line, i+1), find(shellFlag, line, i+1)...)
			found = append(found, jobs(line, i+1)...)
		}
		out = append(out, found...)
	}
	return out
}

// jobs takes -j4 and its like, whose letter says nothing to a reader of the plan.
func jobs(line string, number int) []place {
	found := find(shellJobs, line, number)
	for i := range found {
		found[i].name = "jobs"
	}
	return found
}

// scanJSON walks the text once and keeps the path of keys. It takes comments and
// trailing commas, and stops at what it does not understand.
func scanJSON(text string) []place {
	var out []place
	var keys []string // one for each open brace or bracket
	key, line, start := "", 1, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			line, start = line+1, i+1
		case c == '"':
			end := stringEnd(text, i)
			if end < 0 {
				return out
			}
			if follows(text, end+1, ':') && end-i <= 100 {
				key = text[i+1 : end]
			}
			i = end
		case c == '{' || c == '[':
			if keys = append(keys, key); len(keys) > 16 || len(out) > 10*maxInFile {
				return nil // so deep or so long is data, not configuration
			}
			key = ""
		case c == '}' || c == ']':
			if len(keys) == 0 {
				return out
			}
			keys, key = keys[:len(keys)-1], ""
		case c == ',':
			key = ""
		case strings.HasPrefix(text[i:], "//"):
			i += lineLength(text[i:]) - 1
		case c == '-' || c == 't' || c == 'f' || '0' <= c && c <= '9':
			n := wordLength(text[i:])
			if key != "" {
				out = append(out, place{name: joinKeys(keys, key), line: line, column: i - start, old: text[i : i+n]})
			}
			i += n - 1
		}
	}
	return out
}

func joinKeys(keys []string, key string) string {
	var parts []string
	for _, k := range keys {
		if k != "" {
			parts = append(parts, k)
		}
	}
	return strings.Join(append(parts, key), ".")
}

// stringEnd is the index of the quote that closes the one at i, -1 for none on
// the same line.
func stringEnd(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case '"':
			return j
		case '\n':
			return -1
		}
	}
	return -1
}

func follows(text string, i int, want byte) bool {
	for ; i < len(text); i++ {
		if text[i] != ' ' && text[i] != '\t' {
			return text[i] == want
		}
	}
	return false
}

func lineLength(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

func wordLength(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("-+.eE0123456789truefals", r) })
	if n < 0 {
		n = len(text)
	}
	return max(n, 1)
}
