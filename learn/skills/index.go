package skills

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultIndexBudget is the most code points of an index when nothing else is asked
// for.
const DefaultIndexBudget = 3000

// IndexRequest says what an index is for.
type IndexRequest struct {
	About  string // words of the task; skills that share them come first
	Budget int    // most code points of the text; 0: DefaultIndexBudget
	Paths  bool   // with the path of each SKILL.md, for an agent that reads it by itself
}

// Index is the skills of a prompt: names and descriptions, the likest first.
type Index struct {
	Skills []Info
	Total  int // skills that there are
	paths  bool
}

// Index returns what fits into the budget: what does not is skipped. The same library
// and request give the same bytes.
func (l *Library) Index(r IndexRequest) (Index, error) {
	listing, err := l.List()
	if err != nil {
		return Index{}, err
	}
	all := slices.DeleteFunc(listing.Skills, func(i Info) bool { return i.ShadowedBy != "" })
	order(all, r.About)
	x := Index{Total: len(all), paths: r.Paths}
	room := r.Budget
	if room == 0 {
		room = DefaultIndexBudget
	}
	room -= utf8.RuneCountInString(x.head(len(all)))
	for _, i := range all {
		if n := utf8.RuneCountInString(x.line(i)); n <= room {
			x.Skills, room = append(x.Skills, i), room-n
		}
	}
	return x, nil
}

// order puts those first that share words with the task, then those that are in use.
func order(all []Info, about string) {
	asked := plainWords(about)
	score := make(map[string]int, len(all))
	for _, i := range all {
		for w := range plainWords(i.Name + " " + i.Description) {
			if asked[w] {
				score[i.Name]++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Info) int { // by name before, as the list is
		return cmp.Or(cmp.Compare(score[b.Name], score[a.Name]), cmp.Compare(a.idleRank(), b.idleRank()), cmp.Compare(b.UseCount, a.UseCount))
	})
}

func (i Info) idleRank() int {
	if i.State == Stale {
		return 1
	}
	return 0
}

// plainWords are the words of at least four letters or digits, without case.
func plainWords(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(w) >= 4 {
			out[w] = true
		}
	}
	return out
}

func (x Index) head(shown int) string {
	return fmt.Sprintf("### Skills (%d of %d)\n", shown, x.Total)
}

func (x Index) line(i Info) string {
	if x.paths {
		return fmt.Sprintf("- %s: %s (%s)\n", i.Name, i.Description, filepath.Join(i.Dir, fileName))
	}
	return fmt.Sprintf("- %s: %s\n", i.Name, i.Description)
}

// Text is the index as Markdown, "" when there is no skill.
func (x Index) Text() string {
	if len(x.Skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(x.head(len(x.Skills)))
	for _, i := range x.Skills {
		b.WriteString(x.line(i))
	}
	return b.String()
}

// Mentioned names the skills whose SKILL.md a text names by its path: what an agent
// that was shown the paths has read by itself. Count them with NoteUses.
func (l *Library) Mentioned(text string) []string {
	if !strings.Contains(text, "/"+fileName) {
		return nil
	}
	listing, err := l.List()
	if err != nil {
		return nil // the count is not worth an error
	}
	byFolder := map[string][]Info{}
	for _, i := range listing.Skills {
		if i.ShadowedBy == "" {
			byFolder[filepath.Base(i.Dir)] = append(byFolder[filepath.Base(i.Dir)], i)
		}
	}
	var names []string
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "/"+fileName)
		if !found {
			return names
		}
		for _, i := range byFolder[before[strings.LastIndexByte(before, '/')+1:]] {
			if strings.HasSuffix(before, i.Dir) && !slices.Contains(names, i.Name) {
				names = append(names, i.Name)
			}
		}
		rest = after
	}
}
