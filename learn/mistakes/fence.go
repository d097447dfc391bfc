package mistakes

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The markers of the fence, each a whole line. What stands between them is the law.
const (
	fenceStart = "<!-- tyran:rules start -->"
	fenceEnd   = "<!-- tyran:rules end -->"
)

const fenceHeading = "## Rules that this repository learned"

// FenceError says that the fence is malformed. Nothing is written then: which of
// its lines are law cannot be told.
type FenceError struct {
	File string
	Line int
	What string
}

func (e *FenceError) Error() string {
	return fmt.Sprintf("%s:%d: the rules fence is malformed: %s; mend it by hand", e.File, e.Line, e.What)
}

// Rule is one line of the fence.
type Rule struct {
	Text      string `json:"rule"`
	Signature string `json:"signature"` // "" for a line of a person's own
	Line      int    `json:"line"`
}

// fence is where the law stands in a rules file.
type fence struct {
	found bool
	rules []Rule
	start int    // byte at which the line of its first marker begins
	at    int    // byte before which a new line goes
	lead  string // blanks before its lines
	eol   string
}

// LawText is what stands in a rules file from the one marker to the other, with both; ""
// where there is no fence. A malformed one is a *FenceError.
func LawText(file string, data []byte) (string, error) {
	f, err := readFence(file, data)
	if err != nil || !f.found {
		return "", err
	}
	end := f.at + strings.Index(string(data[f.at:]), fenceEnd) + len(fenceEnd)
	return string(data[f.start:end]), nil
}

// readFence finds the fence. Markers in blocks of code show what a fence looks like,
// and are none.
func readFence(file string, data []byte) (fence, error) {
	lines, _ := scan(data)
	var f fence
	start, end := 0, 0
	fault := func(n int, what string) (fence, error) { return fence{}, &FenceError{file, n, what} }
	for i, ln := range lines {
		n := i + 1
		marker := strings.TrimSpace(ln.text)
		switch {
		case ln.code:
		case marker == fenceStart && start > 0:
			return fault(n, fmt.Sprintf("it starts here and in line %d", start))
		case marker == fenceStart:
			start, f.start, f.eol = n, ln.start, ln.eol
		case marker == fenceEnd && end > 0:
			return fault(n, fmt.Sprintf("it ends here and in line %d", end))
		case marker == fenceEnd && start == 0:
			return fault(n, "it ends before it starts")
		case marker == fenceEnd:
			end, f.at, f.lead = n, ln.start, ln.text[:len(ln.text)-len(strings.TrimLeft(ln.text, " \t"))]
		case start > 0 && end == 0:
			if r, ok := parseRule(ln.text); ok {
				r.Line = n
				f.rules = append(f.rules, r)
			}
		}
	}
	if start > 0 && end == 0 {
		return fault(start, "it starts and never ends")
	}
	f.found = start > 0
	return f, nil
}

// ruleForm is the end of a line that the program wrote. A rule may quote another
// rule's, so the last one counts.
var ruleForm = regexp.MustCompile("\\(`([a-z0-9-]+)`, (\\d+) occurrences? — MISTAKES\\.md entries [0-9, -]*\\)")

func parseRule(text string) (Rule, bool) {
	text, item := strings.CutPrefix(strings.TrimSpace(text), "- ")
	if !item {
		return Rule{}, false
	}
	all := ruleForm.FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 {
		return Rule{Text: text}, true
	}
	last := all[len(all)-1]
	return Rule{Text: strings.TrimSpace(text[:last[0]]), Signature: text[last[2]:last[3]]}, true
}

// ruleLine is the line of a rule: what it says, and the dated entries that earned it.
func ruleLine(rule string, r Repeat) string {
	return "- " + rule + " (`" + r.Signature + "`, " + strconv.Itoa(r.Occurrences) + " occurrences — MISTAKES.md entries " + strings.Join(r.Dates, ", ") + ")"
}

// withRule returns the file with a line last in its fence, and not a byte outside
// changed. A file without a fence gets one at its end.
func (f fence) withRule(data []byte, rule string) []byte {
	if f.found {
		text := f.lead + rule + f.eol
		return append(append(append([]byte{}, data[:f.at]...), text...), data[f.at:]...)
	}
	eol := "\n"
	if strings.Contains(string(data), "\r\n") {
		eol = "\r\n"
	}
	out := append([]byte{}, data...)
	if len(out) > 0 {
		if !strings.HasSuffix(string(out), "\n") {
			out = append(out, eol...)
		}
		out = append(out, eol...)
	}
	return append(out, strings.Join([]string{fenceHeading, "", fenceStart, rule, fenceEnd, ""}, eol)...)
}

// WithoutRule returns a rules file without the rule in a line of its fence. Not
// another byte changes.
func WithoutRule(file string, data []byte, number int) ([]byte, error) {
	before, err := readFence(file, data)
	if err != nil {
		return nil, err
	}
	lines, _ := scan(data)
	if number < 1 || number > len(lines) {
		return nil, fmt.Errorf("remove a rule from %s: it has no line %d", file, number)
	}
	ln := lines[number-1]
	out := append(append([]byte{}, data[:ln.start]...), data[ln.end():]...)
	after, err := readFence(file, out)
	if err == nil && len(after.rules) != len(before.rules)-1 {
		err = fmt.Errorf("remove a rule from %s: line %d is no rule of the fence", file, number)
	}
	return out, err
}
