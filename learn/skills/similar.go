package skills

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"

	"si/internal/durable"
)

const (
	maxCompared = 1000 // skills that are compared with one another
	maxWords    = 2000 // words of a body that count
)

// Pair is two skills that may be one.
type Pair struct {
	A, B  Info
	Score float64 // 0 to 1
}

// words is a set of hashes of words, sorted.
type words []uint64

// Similar returns the pairs of curatable skills whose likeness is at least threshold,
// the likest first: the share of words that both descriptions, and both bodies, have,
// and the share of tasks in which both were used. Of a larger library the skills that
// were used last are compared; left is how many were not.
func (l *Library) Similar(threshold float64) (pairs []Pair, left int, err error) {
	listing, err := l.List()
	if err != nil {
		return nil, 0, err
	}
	all := slices.DeleteFunc(listing.Skills, func(i Info) bool { return !i.Curatable() })
	slices.SortStableFunc(all, func(a, b Info) int { return b.lastSeen().Compare(a.lastSeen()) })
	left = max(0, len(all)-maxCompared)
	all = all[:len(all)-left]
	seed := maphash.MakeSeed()
	descriptions, bodies, tasks := make([]words, len(all)), make([]words, len(all)), make([]words, len(all))
	for i, info := range all {
		descriptions[i] = wordsOf(seed, info.Description)
		bodies[i] = wordsOf(seed, bodyOf(info.Dir))
		tasks[i] = hashes(seed, info.UsedIn)
	}
	for i := range all {
		for j := range i {
			score := likeness(descriptions[i], descriptions[j], bodies[i], bodies[j], tasks[i], tasks[j])
			if score >= threshold {
				pairs = append(pairs, Pair{all[j], all[i], score})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(b.Score, a.Score) })
	return pairs, left, nil
}

func likeness(descA, descB, bodyA, bodyB, tasksA, tasksB words) float64 {
	text := (shared(descA, descB) + shared(bodyA, bodyB)) / 2
	if len(tasksA) == 0 || len(tasksB) == 0 {
		return text // nothing is known of their use
	}
	return 0.85*text + 0.15*shared(tasksA, tasksB)
}

// shared is the Jaccard index.
func shared(a, b words) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	both, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			both, i, j = both+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

func wordsOf(seed maphash.Seed, text string) words {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return hashes(seed, fields[:min(len(fields), maxWords)])
}

func hashes(seed maphash.Seed, texts []string) words {
	var out words
	for _, t := range texts {
		out = append(out, maphash.String(seed, t))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bodyOf returns "" where nothing can be read.
func bodyOf(dir string) string {
	r, err := openRooted(dir, durable.Hooks{})
	if err != nil {
		return ""
	}
	defer r.close()
	body, err := readBody(r)
	if err != nil {
		return ""
	}
	return body
}
