package knowledge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// DefaultBudget is the most code points of a brief when nothing else is asked for.
const DefaultBudget = 4000

// Request says what a brief is about.
type Request struct {
	Paths  []string // paths or globs, relative to the top; none: what is about the whole repository
	Kinds  []Kind   // none: all
	Limit  int      // most entries; 0: no limit
	Budget int      // most code points of the output; 0: DefaultBudget
}

// Brief is what an agent gets to know.
type Brief struct {
	Dir      string  `json:"dir"`
	Kept     int     `json:"kept"`
	Matched  int     `json:"matched"`
	Omitted  Omitted `json:"omitted"`
	Entries  []Shown `json:"entries"`
	rendered []string
}

// Omitted counts the entries that matched and were left out.
type Omitted struct {
	Limit  int `json:"limit"`
	Budget int `json:"budget"`
}

// Shown is an entry in a brief.
type Shown struct {
	ID         string   `json:"id"`
	Kind       Kind     `json:"kind"`
	Confidence float64  `json:"confidence"`
	Text       string   `json:"text"`
	AppliesTo  []string `json:"applies_to,omitempty"`
}

// IDs are the ids of the entries, for the event that they were delivered.
func (b Brief) IDs() []string {
	var ids []string
	for _, e := range b.Entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// form is how a brief is written: it decides what fits.
type form struct {
	frame func(Brief) int // code points of a brief, its entries apart
	entry func(Entry) int // and what an entry adds
}

// Text is the brief as Markdown; "" when nothing matched.
func (b Brief) Text() string {
	if b.Matched == 0 {
		return ""
	}
	return b.header() + strings.Join(b.rendered, "") + b.tail()
}

func (b Brief) header() string {
	return fmt.Sprintf("### Knowledge brief (%s, %d of %d entries)\n", b.Dir, b.Kept, b.Matched)
}

func (b Brief) tail() string {
	if b.Omitted == (Omitted{}) {
		return ""
	}
	return fmt.Sprintf("_Left out: %d by --limit, %d by budget._\n", b.Omitted.Limit, b.Omitted.Budget)
}

// JSON is the brief as an indented document.
func (b Brief) JSON() string {
	if b.Entries == nil {
		b.Entries = []Shown{}
	}
	return encoded(b, "")
}

func encoded(v any, prefix string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	_ = enc.Encode(v) // numbers, texts and lists of them can always be written
	return out.String()
}

// Brief selects what fits, the most useful first. The same store and request give
// the same bytes.
func (s *Store) Brief(r Request) (Brief, error) {
	return s.brief(r, form{
		frame: func(b Brief) int { return points(b.header()) + points(b.tail()) },
		entry: func(e Entry) int { return points(e.line()) },
	})
}

// BriefJSON is Brief for a reader of its JSON, which has to keep to the budget too.
func (s *Store) BriefJSON(r Request) (Brief, error) {
	return s.brief(r, form{
		frame: func(b Brief) int { b.Entries = nil; return points(b.JSON()) + len("\n  ") },
		entry: func(e Entry) int { return points(encoded(shown(e), "    ")) + len("    ,") },
	})
}

func points(s string) int { return utf8.RuneCountInString(s) }

func shown(e Entry) Shown { return Shown{e.ID, e.Kind, e.Confidence, e.Text, e.AppliesTo} }

func (s *Store) brief(r Request, f form) (Brief, error) {
	if r.Budget == 0 {
		r.Budget = DefaultBudget
	}
	found := s.Live()
	if len(r.Kinds) > 0 {
		found = slices.DeleteFunc(found, func(e Entry) bool { return !slices.Contains(r.Kinds, e.Kind) })
	}
	found = matching(found, r.Paths)
	rank(found)
	b := Brief{Dir: s.Dir, Matched: len(found)}
	if whole := b.fill(found, r, f, Omitted{}); whole.Omitted == (Omitted{}) {
		return whole, nil
	}
	// Something is left out, so there is a last line; its room is kept for the
	// largest numbers that can stand in it.
	b = b.fill(found, r, f, Omitted{len(found), len(found)})
	if least := f.frame(Brief{Dir: s.Dir, Matched: b.Matched, Omitted: b.Omitted}); least > r.Budget {
		return Brief{}, fmt.Errorf("make a brief: a budget of %d code points has no room for its first and its last line; give at least %d", r.Budget, least+100)
	}
	return b, nil
}

// fill takes what fits behind what does not: one long entry holds up no other.
func (b Brief) fill(found []Entry, r Request, f form, room Omitted) Brief {
	left := r.Budget - f.frame(Brief{Dir: b.Dir, Kept: len(found), Matched: len(found), Omitted: room})
	for _, e := range found {
		cost := f.entry(e)
		switch {
		case r.Limit > 0 && b.Kept == r.Limit:
			b.Omitted.Limit++
		case cost > left:
			b.Omitted.Budget++
		default:
			left -= cost
			b.Kept++
			b.Entries, b.rendered = append(b.Entries, shown(e)), append(b.rendered, e.line())
		}
	}
	return b
}
