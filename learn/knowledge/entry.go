// Package knowledge keeps what one who touches certain paths of a repository must
// know: entries in YAML files that people and programs write, a brief of those that
// matter for some paths within a budget, and measures of how the whole store does.
// Counters of use are written by the program alone, from evidence. Nothing here
// judges whether an entry is true.
package knowledge

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"si/internal/clean"
	"si/learn/glob"
)

// MaxText is the most code points that the text of an entry can have.
const MaxText = 4000

const (
	maxGlobs      = 200
	maxProvenance = 100
	maxSupersedes = 500
	maxWord       = 500 // code points of a source or a reference
)

// Kind says what sort of thing an entry tells.
type Kind string

// The kinds of entries.
const (
	Fact       Kind = "fact"
	Convention Kind = "convention"
	Gotcha     Kind = "gotcha"
	Command    Kind = "command"
	Decision   Kind = "decision"
)

// Kinds are all kinds, in the order in which they are told to users.
func Kinds() []Kind { return []Kind{Fact, Convention, Gotcha, Command, Decision} }

// Entry is one thing to know.
type Entry struct {
	ID         string       `json:"id" yaml:"id"`
	Kind       Kind         `json:"kind" yaml:"kind"`
	Text       string       `json:"text" yaml:"text"`
	Confidence float64      `json:"confidence" yaml:"confidence"` // 0 to 1, of its author
	AppliesTo  []string     `json:"applies_to,omitempty" yaml:"applies_to,omitempty"`
	Provenance []Provenance `json:"provenance" yaml:"provenance"`
	Supersedes []string     `json:"supersedes,omitempty" yaml:"supersedes,omitempty"`
	Counters   `yaml:",inline"`

	File string `json:"file" yaml:"-"` // path in the repository
	Line int    `json:"line" yaml:"-"`

	globs []glob.Pattern
}

// Counters say how an entry did. They are a fold over evidence.
type Counters struct {
	Used            int `json:"used" yaml:"used,omitempty"`
	Helpful         int `json:"helpful" yaml:"helpful,omitempty"`
	OutdatedReports int `json:"outdated_reports" yaml:"outdated_reports,omitempty"`
}

// Provenance says where an entry comes from.
type Provenance struct {
	Source    string `json:"source" yaml:"source"`       // such as retrospective, human, MISTAKES.md
	Reference string `json:"reference" yaml:"reference"` // such as F-12, a commit, a signature
}

var idForm = regexp.MustCompile(`^K-[1-9][0-9]{0,8}$`)

// IsID reports whether a text is the id of an entry, K-<n>.
func IsID(id string) bool { return idForm.MatchString(id) }

// number is the n of K-<n>, 0 for another text.
func number(id string) int {
	if !IsID(id) {
		return 0
	}
	n, _ := strconv.Atoi(id[2:]) // the form holds digits alone
	return n
}

// check returns what is wrong with the values of an entry, and parses its globs.
func (e *Entry) check() error {
	switch {
	case !IsID(e.ID):
		return fmt.Errorf("id: %.60q is not of the form K-<number>", e.ID)
	case !slices.Contains(Kinds(), e.Kind):
		return fmt.Errorf("kind: %.60q is none of %s", e.Kind, kindList())
	case strings.TrimSpace(e.Text) == "":
		return fmt.Errorf("text: it is empty")
	case utf8.RuneCountInString(e.Text) > MaxText:
		return fmt.Errorf("text: it has %d code points, the most are %d; say it shorter or in two entries", utf8.RuneCountInString(e.Text), MaxText)
	case !(e.Confidence >= 0 && e.Confidence <= 1):
		return fmt.Errorf("confidence: %v is not between 0 and 1", e.Confidence)
	case len(e.Provenance) == 0:
		return fmt.Errorf("provenance: an entry needs at least one source with its reference")
	case len(e.Provenance) > maxProvenance || len(e.Supersedes) > maxSupersedes || len(e.AppliesTo) > maxGlobs:
		return fmt.Errorf("provenance, supersedes or applies_to: the list is too long")
	}
	return e.checkLists()
}

func (e *Entry) checkLists() error {
	for _, p := range e.Provenance {
		if !word(p.Source) || !word(p.Reference) {
			return fmt.Errorf("provenance: source and reference want 1 to %d code points each", maxWord)
		}
	}
	for _, id := range e.Supersedes {
		if !IsID(id) {
			return fmt.Errorf("supersedes: %.60q is not of the form K-<number>", id)
		}
	}
	e.globs = nil
	for _, text := range e.AppliesTo {
		p, err := glob.Parse(text)
		if err != nil {
			return fmt.Errorf("applies_to: %w", err)
		}
		e.globs = append(e.globs, p)
	}
	return nil
}

func word(s string) bool {
	return strings.TrimSpace(s) != "" && utf8.RuneCountInString(s) <= maxWord
}

func kindList() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// Global reports whether the entry is about the whole repository.
func (e *Entry) Global() bool { return len(e.AppliesTo) == 0 }

// line is the entry as a brief shows it: on one line, with nothing in it that could
// pass for another entry.
func (e *Entry) line() string {
	s := fmt.Sprintf("- **[%s]** (%s, %.2f) %s", e.ID, e.Kind, e.Confidence, oneLine(e.Text))
	if !e.Global() {
		s += " _(applies to: " + oneLine(strings.Join(e.AppliesTo, ", ")) + ")_"
	}
	return s + "\n"
}

// oneLine makes a text safe to show, on one line. Most texts are that already.
func oneLine(s string) string {
	plain, last := true, byte(' ')
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] > ' ' && s[i] <= '~' || s[i] == ' ' && last != ' '
		last = s[i]
	}
	if plain && last != ' ' {
		return s
	}
	return strings.Join(strings.Fields(clean.Text([]byte(s))), " ")
}
