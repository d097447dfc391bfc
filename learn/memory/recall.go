package memory

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"si/internal/clean"
)

// DefaultBudget is the most code points of a recall when nothing else is asked for.
const DefaultBudget = 2000

const maxQueryWords = 400

// Query says what is to be remembered.
type Query struct {
	About  string   // words: a goal, a task, a plan
	Tags   []string // count twice
	Limit  int      // most records; 0: no limit
	Budget int      // most code points of the text; 0: DefaultBudget, negative: no limit
}

// Recall is what was remembered, the likest first.
type Recall struct {
	Records []Record `json:"records"`
	Matched int      `json:"matched"`
	Left    int      `json:"left_out"` // by limit and budget
}

// Recall returns the memories that share words with the query. The same store and
// query give the same answer.
func (s *Store) Recall(q Query) (Recall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.load()
	if err != nil {
		return Recall{}, err
	}
	found := st.rank(q)
	out := Recall{Records: []Record{}, Matched: len(found)}
	room := q.Budget
	if room == 0 {
		room = DefaultBudget
	}
	room -= utf8.RuneCountInString(out.frame(len(found), len(found)))
	for _, m := range found {
		size := utf8.RuneCountInString(m.text())
		if q.Limit > 0 && len(out.Records) >= q.Limit || q.Budget >= 0 && size > room {
			continue // one long memory holds up no other
		}
		out.Records = append(out.Records, m.Record)
		room -= size
	}
	out.Left = out.Matched - len(out.Records)
	return out, nil
}

func (Recall) frame(kept, matched int) string {
	return fmt.Sprintf("### Memories of earlier runs (%d of %d that match)\n", kept, matched)
}

// Text is the recall as Markdown, "" when nothing was remembered.
func (r Recall) Text() string {
	if len(r.Records) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(r.frame(len(r.Records), r.Matched))
	for _, rec := range r.Records {
		b.WriteString(rec.text())
	}
	return b.String()
}

func (r Record) text() string {
	tags := ""
	if len(r.Tags) > 0 {
		tags = " _(" + strings.Join(r.Tags, ", ") + ")_"
	}
	return fmt.Sprintf("- **[%s]** (%s) %s%s\n", r.ID, r.Type, clean.Line(r.Content, maxContent), tags)
}

// rank orders the records that share a word with the query by BM25 (Robertson and
// Zaragoza 2009, k1 1.2, b 0.75); among equals the newer one is first.
func (st *state) rank(q Query) []memo {
	query := map[string]float64{}
	for _, w := range split(q.About, maxQueryWords) {
		query[w] = 1
	}
	for _, t := range q.Tags {
		for _, w := range split(t, maxTags) {
			query[w] = 2
		}
	}
	scores, mean := st.weights(query), st.mean()
	type hit struct {
		memo
		score float64
	}
	var hits []hit
	for _, m := range slices.Backward(st.live) {
		if score := m.score(scores, mean); score > 0 {
			hits = append(hits, hit{m, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	out := make([]memo, len(hits))
	for i, h := range hits {
		out[i] = h.memo
	}
	return out
}

// weights makes of the query's words what a match is worth: rare words are worth more.
func (st *state) weights(query map[string]float64) map[string]float64 {
	in := map[string]int{}
	for _, m := range st.live {
		for w := range query {
			if m.words[w] > 0 {
				in[w]++
			}
		}
	}
	n, out := float64(len(st.live)), map[string]float64{}
	for w, weight := range query {
		if df := float64(in[w]); df > 0 {
			out[w] = weight * math.Log(1+(n-df+0.5)/(df+0.5))
		}
	}
	return out
}

func (st *state) mean() float64 {
	total := 0
	for _, m := range st.live {
		total += m.count
	}
	return float64(total) / max(1, float64(len(st.live)))
}

func (m memo) score(weights map[string]float64, mean float64) float64 {
	const k1, b = 1.2, 0.75
	var parts []float64
	for w, weight := range weights {
		if tf := float64(m.words[w]); tf > 0 {
			parts = append(parts, weight*tf*(k1+1)/(tf+k1*(1-b+b*float64(m.count)/mean)))
		}
	}
	slices.Sort(parts) // a sum in the order of a map differs in its last digits
	total := 0.0
	for _, p := range parts {
		total += p
	}
	return total
}

func memoOf(r Record) memo {
	m := memo{Record: r, words: map[string]int{}}
	for _, text := range append([]string{r.Content, r.Type}, append(r.Tags, r.Tags...)...) {
		for _, w := range split(text, maxContent) {
			m.words[w]++
			m.count++
		}
	}
	return m
}

// split makes words of a text: letters and digits, without case and plural, and
// without those that every text has.
func split(text string, most int) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(w) < 2 || strings.Contains(common, " "+w+" ") {
			continue
		}
		if len(w) > 3 && w[len(w)-1] == 's' && w[len(w)-2] != 's' {
			w = w[:len(w)-1]
		}
		if out = append(out, w); len(out) == most {
			break
		}
	}
	return out
}

const common = " a about after all also an and any are as at be because been before but by can could did do does for from had has have how if in into is it its just may more most must no not of on only or other our out over same should so some such than that the their them then there these they this those through to under up use used using very was we were what when where which while who will with without would you your "
