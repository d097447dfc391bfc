package tuner

import (
	"slices"
	"strings"

	"si/agents"
	"si/internal/lazyre"
)

var ideaNumber = lazyre.New(`-?\d[\w.]*|\b(?:true|false|on|off|yes|no)\b`)

// fromIdeas is the choice that the user's ideas lead to: the first idea that names
// a knob, with the value that the idea names after it or the search's own next
// one. Ideas that name no knob stay where they are, for another planner. The
// other planners do not see the ideas, so what is chosen stays clear of theirs.
func fromIdeas(f agents.Facts, knobs []Knob, others []*choice, mine *choice) (choice, bool) {
	taken := map[string]bool{}
	for _, family := range streakOf(f.History) {
		taken[family] = true
	}
	for _, c := range others {
		if c != nil && (mine == nil || c.knob.Name != mine.knob.Name) {
			taken[c.family], taken[c.knob.Name] = true, true
		}
	}
	for _, line := range strings.Split(f.UserIdeas, "\n") {
		for _, k := range knobs {
			rest, named := after(line, bare(k))
			if !named || taken[k.Name] {
				continue
			}
			p, ok := ideaValue(f, k, rest)
			families := k.families(f.Families)
			at := slices.IndexFunc(families, func(family string) bool { return !taken[family] })
			if ok && at >= 0 {
				return choice{proposal: p, family: families[at], ideas: true}, true
			}
		}
	}
	return choice{}, false
}

// bare is the last part of a knob's name, as a person would write it.
func bare(k Knob) string {
	name, _, _ := strings.Cut(short(k), "#")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// after returns what follows the word in a line.
func after(line, word string) (string, bool) {
	for from := 0; len(word) > 2; {
		i := strings.Index(strings.ToLower(line[from:]), strings.ToLower(word))
		if i < 0 {
			break
		}
		end := from + i + len(word)
		if end > len(line) {
			break // lower case changed the length
		}
		if !letterAt(line, from+i-1) && !letterAt(line, end) {
			return line[end:], true
		}
		from = end
	}
	return "", false
}

func letterAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] == '_' || s[i] >= '0' && s[i] <= '9' || s[i]|32 >= 'a' && s[i]|32 <= 'z')
}

func ideaValue(f agents.Facts, k Knob, rest string) (proposal, bool) {
	rec := recordOf(f)
	trials := rec.trials[k.Name]
	builds, avoids := references(trials)
	if v, ok := parseValue(strings.TrimRight(ideaNumber.FindString(rest), ".")); ok {
		num, ok := k.value.accept(v)
		tried := slices.ContainsFunc(trials, func(t trial) bool { return t.from == k.value.num && t.to == num })
		if ok && num != k.value.num && !tried {
			return proposal{knob: k, num: num, why: "the user's idea", builds: builds, avoids: avoids}, true
		}
	}
	p, ok := rec.next(f.Seed, k, false)
	p.why = "the user's idea names it; " + p.why
	return p, ok
}

// accept turns a value that a person wrote into one that the knob can have.
func (v value) accept(wish value) (float64, bool) {
	switch {
	case (v.kind == toggle) != (wish.kind == toggle):
		return 0, false
	case v.kind == toggle || v.kind == decimal:
		return wish.num, true
	case v.kind == fraction:
		return wish.num, wish.num > 0 && wish.num < 1
	}
	num := v.unscale(v.scale(wish.num))
	return num, num == wish.num
}
