package tuner

import (
	"strings"

	"si/internal/lazyre"
)

const cTail = `\s*(?://.*|/\*.*)?$`

var (
	defineRule = pattern(`^\s*#\s*define\s+([A-Za-z_]\w*)\s+\(?` + literal + `\)?` + cTail)
	// A declaration counts when a word says that it is constant, or at the margin.
	constRule = pattern(`^\s*(?:(?:export|pub|public|private|protected|internal|static|inline)\s+)*(?:const|constexpr|static|final|readonly|val)\s+` +
		`(?:[A-Za-z_][\w<>]*(?:::[\w<>]+)*\s+)*([A-Za-z_]\w*)\s*(?::\s*[\w<>]+)?\s*=\s*` + literal + `\s*;?` + cTail)
	marginRule = pattern(`^(?:[A-Za-z_][\w<>]*(?:::[\w<>]+)*\s+)+([A-Za-z_]\w*)\s*(?::\s*[\w<>]+)?\s*=\s*` + literal + `\s*;?` + cTail)
	// fieldRule is batchSize: 64, in an object and .batch_size = 64, in C.
	fieldRule = pattern(`^\s*(?:\.|["'])?([A-Za-z_]\w*)["']?\s*[:=]\s*` + literal + `\s*,` + cTail)

	pyAssign  = pattern(`^([A-Za-z_]\w*)\s*(?::\s*[\w\[\], .|]+)?\s*=\s*` + literal + `\s*(?:#.*)?$`)
	pyField   = pattern(`^\s+([A-Za-z_]\w*)\s*:\s*[\w\[\], .|]+=\s*` + literal + `\s*(?:#.*)?$`)
	pyUpper   = pattern(`^\s+([A-Z][A-Z0-9_]+)\s*=\s*` + literal + `\s*(?:#.*)?$`)
	pyKeyword = pattern(`[(,]\s*([A-Za-z_]\w*)\s*(?::\s*[\w\[\] .|]+)?\s*=\s*` + literal + `\s*(?:[,)]|$)`)
	pyKwLine  = pattern(`^\s+([A-Za-z_]\w*)\s*(?::\s*[\w\[\] .|]+)?\s*=\s*` + literal + `\s*,\s*(?:#.*)?$`)
	pyOption  = pattern(`add_argument\(.*["']--([A-Za-z][\w-]*)["'].*\bdefault\s*=\s*` + literal + `\s*[,)]`)
	pyItem    = pattern(`^\s*["']([A-Za-z_][\w-]*)["']\s*:\s*` + literal + `\s*,?\s*(?:#.*)?$`)

	sectionRule = lazyre.New(`^\s*(?:class|def)\s+([A-Za-z_]\w*)`)
)

// scanBraces searches C and its relatives by line. Comments over several lines
// are passed over; an enumeration has no word that says constant, so it is not
// matched.
func scanBraces(lines []string) []place {
	var out []place
	comment := false
	for i, l := range lines {
		line, ok := usable(l)
		inside := comment
		comment = opens(line, comment, "/*", "*/")
		if !ok || inside || strings.HasPrefix(strings.TrimSpace(line), "//") {
			continue
		}
		for _, re := range []*lazyre.Regexp{defineRule, constRule, marginRule, fieldRule} {
			if found := find(re, line, i+1); len(found) > 0 {
				out = append(out, named(found)...)
				break
			}
		}
	}
	return withoutSizes(out, lines)
}

// named drops matches whose name is a word of the language.
func named(found []place) []place {
	switch found[0].name {
	case "default", "case", "return", "else", "if", "for", "while":
		return nil
	}
	return found
}

// withoutSizes drops constants that are the length of an array with given elements.
func withoutSizes(found []place, lines []string) []place {
	sizes := map[string]bool{}
	for _, l := range lines {
		if line, ok := usable(l); ok && strings.Contains(line, "{") {
			for _, m := range arrayRule.FindAllStringSubmatch(line, -1) {
				sizes[m[1]] = true
			}
		}
	}
	kept := found[:0]
	for _, p := range found {
		if !sizes[p.name] {
			kept = append(kept, p)
		}
	}
	return kept
}

var arrayRule = lazyre.New(`\[\s*([A-Za-z_]\w*)\s*\]\s*=\s*\{`)

// opens reports whether a comment or long text is still open after the line.
func opens(line string, open bool, begin, end string) bool {
	for {
		mark := begin
		if open {
			mark = end
		}
		_, rest, found := strings.Cut(line, mark)
		if !found {
			return open
		}
		open, line = !open, rest
	}
}

// scanScript searches Python and its relatives by line: module and class
// constants, fields with a type, keyword defaults, options, items of dictionaries.
func scanScript(lines []string) []place {
	var out []place
	text, def := "", false
	section := ""
	for i, l := range lines {
		line, ok := usable(l)
		inside := text != ""
		text = openText(line, text)
		if !ok || inside || text != "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if m := sectionRule.FindStringSubmatch(line); m != nil {
			section, def = m[1]+".", true
		} else if line != "" && line[0] != ' ' && line[0] != '\t' && line[0] != ')' {
			section, def = "", false
		}
		for _, p := range scriptLine(line, i+1, def) {
			p.name = section + p.name
			out = append(out, p)
		}
		def = def && !strings.HasSuffix(strings.TrimSpace(line), ":")
	}
	return out
}

// scriptLine applies the rules to one line; def tells that it belongs to the head
// of a function, where keyword = value is a default.
func scriptLine(line string, number int, def bool) []place {
	rules := []*lazyre.Regexp{pyOption, pyAssign, pyField, pyUpper, pyItem}
	if def {
		rules = []*lazyre.Regexp{pyKwLine, pyKeyword}
	}
	for _, re := range rules {
		if found := find(re, line, number); len(found) > 0 {
			return found
		}
	}
	return nil
}

// openText returns the quotes of the long text that is open after the line, "" for
// none.
func openText(line, open string) string {
	for _, q := range []string{`"""`, `'''`} {
		if open == "" || open == q {
			if opens(line, open == q, q, q) {
				return q
			}
			if open == q {
				return ""
			}
		}
	}
	return open
}
