package clarify

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"si/benchmark"
	"si/internal/clean"
	"si/loop/survey"
	"si/track"
)

// asksOfOne is how often the rules ask about one dimension: what a person has
// said twice is taken as it is, since the rules know few words.
const asksOfOne = 2

// Rules score a draft.
func Rules(d Draft, seen Seen, turns []Turn) Scores {
	s := Scores{Objective: objectiveScore(d), Metric: metricScore(d, seen), Target: targetScore(d), Scope: scopeScore(d, seen)}
	for _, dim := range []Dimension{Objective, Metric} {
		if d.Of(dim) != "" && asked(turns, dim) >= asksOfOne {
			s[dim] = Score{Value: max(enough, s[dim].Value)}
		}
	}
	return s
}

func asked(turns []Turn, about Dimension) (n int) {
	for _, t := range turns {
		if t.About == about {
			n++
		}
	}
	return n
}

func objectiveScore(d Draft) Score {
	text := strings.TrimSpace(d.Objective)
	way, thing := namesWay(text), namesThing(text)
	switch {
	case text == "":
		return Score{0, "nothing is said yet"}
	case way && thing:
		return Score{Value: 100}
	case otherScript(text):
		return Score{Value: 90}
	case way:
		return Score{50, quoted(text) + " does not name what is to be changed: name a part of the program too, as in: make the parser faster"}
	case thing:
		return Score{40, quoted(text) + " does not say which way is better: add a word such as faster, smaller, fewer or more"}
	}
	return Score{20, quoted(text) + " names neither what is to be changed nor which way is better: name both, as in: make the parser faster"}
}

func metricScore(d Draft, seen Seen) Score {
	if d.Metric == "" {
		return Score{0, "it is not said what is measured"}
	}
	for _, f := range seen.Report.Findings {
		if strings.EqualFold(f.Metric, d.Metric) || strings.EqualFold(MetricName(f), d.Metric) {
			return Score{Value: 100}
		}
	}
	if _, known := survey.DirectionOf(d.Metric); known {
		return Score{Value: 85}
	}
	return Score{60, "no benchmark that was found prints " + quoted(d.Metric) + ", and its name does not tell which way is better: name one that is printed, or say the same again to keep it"}
}

func targetScore(d Draft) Score {
	const wanted = "give a score as the benchmark prints it, such as 12.5, or: " + AsFarAsItGoes
	switch _, ok := Number(d.Target); {
	case d.Target == "":
		return Score{0, "it is not said when it is good enough"}
	case ok || d.Target == AsFarAsItGoes:
		return Score{Value: 100}
	case relative.MatchString(d.Target):
		return Score{50, quoted(d.Target) + " is relative to a score that nobody has measured yet: " + wanted}
	}
	return Score{30, quoted(d.Target) + " is no number: " + wanted}
}

// Number is a target that a score can reach: infinity and what is no number are not.
func Number(target string) (float64, bool) {
	n, err := strconv.ParseFloat(target, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// quoted is an answer inside of a sentence about it.
func quoted(answer string) string { return strconv.Quote(clean.Line(answer, 60)) }

func scopeScore(d Draft, seen Seen) Score {
	if len(d.InScope) == 0 {
		return Score{0, "it is not said what may be changed"}
	}
	if slices.Contains(d.InScope, "**") {
		return Score{Value: 85}
	}
	const wanted = "give files, folders or globs that the last commit has"
	var none []string
	for _, p := range d.InScope {
		if seen.Files != nil && seen.Files(p) == 0 {
			none = append(none, quoted(p))
		}
	}
	switch {
	case len(none) == len(d.InScope):
		return Score{20, "no file is called " + strings.Join(none, " or ") + ": " + wanted}
	case len(none) > 0:
		return Score{60, "no file is called " + strings.Join(none, " or ") + ": " + wanted}
	}
	return Score{Value: 100}
}

// MetricName is how a person would call what a benchmark measures.
func MetricName(f survey.Finding) string {
	if f.Metric != "geomean" {
		return f.Metric
	}
	return "time of " + f.Tool
}

// Ask is the rules' question about the weakest dimension.
func Ask(d Draft, scores Scores, seen Seen) Question {
	about := scores.Weakest()
	q := Question{About: about, Missing: scores[about].Why}
	switch about {
	case Objective:
		q.Text = "What shall become better? One sentence that names the thing and the direction."
		q.Seen, q.Offers = claims(seen), objectives(seen)
	case Metric:
		q.Text = "Which number decides? Name it as your benchmark prints it."
		for _, f := range seen.Report.Findings {
			q.Seen = append(q.Seen, fmt.Sprintf("%s: %s", at(f.File, f.Line), MetricName(f)))
			q.Offers = once(q.Offers, MetricName(f))
		}
	case Target:
		q.Text = "When is it good enough? A score as the benchmark prints it, or as far as it goes."
		q.Seen, q.Offers = claims(seen), []string{AsFarAsItGoes}
	case Scope:
		q.Text = "Which files may be changed? Paths and globs, commas between; ! takes one out."
		q.Offers = scopes(seen)
		for _, p := range q.Offers {
			if seen.Files != nil {
				q.Seen = append(q.Seen, filesOf(p, seen))
			}
		}
	}
	const most = 4
	q.Seen, q.Offers = q.Seen[:min(most, len(q.Seen))], q.Offers[:min(most, len(q.Offers))]
	return q
}

// timers are the formats whose usual value is a time.
var timers = []benchmark.Format{benchmark.FormatGoBench, benchmark.FormatPytest, benchmark.FormatHyperfine, benchmark.FormatCriterion}

// objectives are what the benchmarks that were found ask for.
func objectives(seen Seen) (out []string) {
	for _, f := range seen.Report.Findings {
		switch {
		case slices.Contains(timers, f.Format) && f.Metric == "geomean":
			out = once(out, "Make everything faster that "+f.Tool+" measures")
		case slices.Contains(timers, f.Format):
			out = once(out, fmt.Sprintf("Make %s faster, as %s measures it", f.Metric, f.Tool))
		case f.Direction == track.HigherIsBetter:
			out = once(out, fmt.Sprintf("Raise %s, as %s measures it", f.Metric, f.Tool))
		default:
			out = once(out, fmt.Sprintf("Lower %s, as %s measures it", f.Metric, f.Tool))
		}
	}
	return out
}

// filesOf counts what an offered scope names.
func filesOf(offer string, seen Seen) string {
	n := 0
	for _, p := range strings.Split(offer, ", ") {
		n += seen.Files(p)
	}
	if n == 1 {
		return offer + ": 1 file"
	}
	return fmt.Sprintf("%s: %d files", offer, n)
}

func scopes(seen Seen) (out []string) {
	for _, f := range seen.Report.Findings {
		out = once(out, strings.Join(f.Scope, ", "))
	}
	return once(out, strings.Join(seen.Report.Scope, ", "))
}

func claims(seen Seen) (out []string) {
	for _, c := range seen.Report.Claims {
		out = append(out, fmt.Sprintf("%s: %s", at(c.File, c.Line), c.Text))
	}
	return out
}

func at(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

func once(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
