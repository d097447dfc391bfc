package clarify

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"si/internal/lazyre"
	"si/track"
)

// fields reads a text of several named lines, as people paste them.
func fields(text string) (Draft, bool) {
	if !strings.Contains(text, ":") {
		return Draft{}, false
	}
	g, _ := track.ParseGoal([]byte(text))
	named := 0
	for _, has := range []bool{g.Metric != "", g.TargetText != "", len(g.InScope) > 0} {
		if has {
			named++
		}
	}
	if named == 0 || g.Objective == "" && named < 2 {
		return Draft{}, false
	}
	d := Draft{Objective: g.Objective, Metric: g.Metric, InScope: g.InScope, OutScope: g.OutScope}
	if g.TargetText != "" {
		d.Target = target(g.TargetText)
	}
	return d, true
}

// endless are words for no number to reach.
var endless = lazyre.New(`(?i)^(?:as (?:far|fast|good|high|low|much|small|well) as (?:it goes|possible|it can(?: be)?)|no(?:ne| target| limit)?|max(?:imum)?|min(?:imum)?|best|unlimited|any|-|∞)\.?$`)

// number is a number with what people write around it: "< 12 ms", "1_000".
var numberIn = lazyre.New(`^(?:[<>=≤≥~]+\s*|(?:under|below|over|above|at least|at most)\s+)?([+-]?[\d_]*\.?\d+(?:[eE][+-]?\d+)?)\s*([^\d\s%].{0,20})?$`)

func target(text string) string {
	text = strings.TrimSpace(text)
	if endless.MatchString(text) {
		return AsFarAsItGoes
	}
	if m := numberIn.FindStringSubmatch(text); m != nil && !relative.MatchString(text) {
		if n, ok := Number(strings.ReplaceAll(m[1], "_", "")); ok {
			return strconv.FormatFloat(n, 'g', -1, 64)
		}
	}
	return text
}

// relative is a target against a start that nobody has measured yet.
var relative = lazyre.New(`(?i)%|\bpercent\b|\d\s*(?:x|×|times)\b|\d×|\b(?:twice|double|half)\b`)

// scope splits what people write for a list of paths; a leading ! or "not" takes a
// path out.
func scope(text string, out []string) (in, notIn []string) {
	notIn = slices.Clone(out)
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",;\n", r) }) {
		part = strings.Trim(strings.TrimSpace(part), "`'\"")
		rest, negated := strings.CutPrefix(part, "!")
		if !negated {
			rest, negated = strings.CutPrefix(part, "not ")
		}
		rest = strings.TrimSpace(strings.TrimPrefix(rest, "./"))
		switch {
		case rest == "":
		case negated && !slices.Contains(notIn, rest):
			notIn = append(notIn, rest)
		case !negated && slices.Contains([]string{"everything", "all", ".", "the whole repository"}, strings.ToLower(rest)):
			in = append(in, "**")
		case !negated && !slices.Contains(in, rest):
			in = append(in, rest)
		}
	}
	return in, notIn
}

// Words of an objective.
var (
	wayWord = lazyre.New(`(?i)\b(?:fast\w*|quick\w*|slow\w*|speed\w*|accelerat\w*|optimi[sz]\w*|improv\w*|better|best|reduc\w*|lower\w*|less|fewer|smaller|shrink\w*|cut\w*|decreas\w*|minimi[sz]\w*|rais\w*|increas\w*|higher|more|maximi[sz]\w*|boost\w*|tun\w*|save\w*|halv\w*|doubl\w*|lighter|tighter|cheaper|short\w*|accura\w*)\b`)
	noThing = []string{"make", "it", "this", "the", "a", "an", "my", "our", "code", "program", "everything", "all", "thing", "things", "stuff", "repo", "repository", "project", "run", "go", "get", "be", "please", "much", "as", "possible", "more", "to", "and", "or", "of", "in", "on", "for", "is", "so", "that", "way", "lot", "up", "down", "want", "i", "we", "should", "can", "you", "very", "really", "software", "app"}
	letters = lazyre.New(`[\pL\pN_./-]+`)
)

// namesWay says whether a text names what is better.
func namesWay(text string) bool { return wayWord.MatchString(text) }

// namesThing says whether a text names something that can be changed.
func namesThing(text string) bool {
	for _, w := range letters.FindAllString(text, -1) {
		if !slices.Contains(noThing, strings.ToLower(w)) && !wayWord.MatchString(w) && len(w) > 1 {
			return true
		}
	}
	return false
}

// otherScript says that a text is not in the letters that the rules know words of.
func otherScript(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			return true
		}
	}
	return false
}
