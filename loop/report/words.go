package report

import (
	"strconv"
	"strings"

	"si/track"
)

// keptIntro explains the table of gains.
const keptIntro = "Each change beat the best version before it, which is called the champion, in fresh runs. Then it was left out of the result " +
	"alone: what that costs says whether it is still worth having. In brackets: the range that the runs allow."

// headline is the result in one sentence, and whether a gain is proved.
func headline(r Report) (sentence string, proved bool) {
	n := len(r.Gains)
	if n == 0 {
		return "Nothing was kept: " + tried(r) + ".", false
	}
	if r.Whole == nil {
		return count(n, "change was", "changes were") + " kept for what each gained alone. How much better the result is than the start was not measured" + because(r.WholeWhy) + ".", false
	}
	e := r.Whole.Effect
	switch {
	case e.Low != nil && *e.Low > 0 && e.Value > 0:
		return "The result is " + amount(e.Value, e.InSigma) + " better than the start" + between(&e) + ".", true
	case e.High != nil && *e.High < 0:
		return "The result is worse than the start: " + effect(&e) + ".", false
	}
	return "A whole gain is not proved: start and result differ by " + effect(&e) + ".", false
}

func between(e *track.Effect) string {
	switch {
	case exact(e):
		return ", and repeats exactly"
	case e.High == nil:
		return ": at least " + amount(*e.Low, e.InSigma)
	}
	return ": between " + amount(*e.Low, e.InSigma) + " and " + amount(*e.High, e.InSigma)
}

func tried(r Report) string {
	switch rounds := "in " + count(r.Run.Rounds, "round", "rounds"); r.Refused.Total {
	case 0:
		return "no change was tried " + rounds
	case 1:
		return "the 1 change that was tried " + rounds + " did not prove to be better than what was there"
	default:
		return "none of " + strconv.Itoa(r.Refused.Total) + " changes that were tried " + rounds + " proved to be better than what was there"
	}
}

func because(why string) string {
	if why = line(why, lineWidth); why == "" {
		return ""
	}
	return ": " + strings.TrimRight(why, ".")
}

// measured says what the headline rests on.
func measured(r Report) string {
	if r.Whole == nil {
		return ""
	}
	w := *r.Whole
	metric := orElse(line(r.Benchmark.Metric, titleWidth), "The score")
	s := metric + " went from " + score(w.Before) + " to " + score(w.After) + " (" + better(r.Benchmark.Direction) + "). "
	if exact(&w.Effect) {
		return s + "It was measured afresh, start against result, in " + count(w.Effect.Runs, "run", "runs") + " that gave the same scores again."
	}
	s += "It was measured afresh at the end, start against result, in " + count(w.Effect.Runs, "run", "runs") + " in mixed random order; these are the medians."
	if r.Rules.Alpha > 0 {
		s += " Each end of an interval holds with " + score(100*(1-r.Rules.Alpha)) + "% confidence."
	}
	if w.Effect.InSigma {
		s += " The score can be 0 or below, so gains are multiples of the noise, which is how much one run differs from the next, instead of percentages."
	}
	return s
}

// facts are what a reader needs in order to believe the headline or not.
func facts(r Report) []fact {
	list := []fact{{Name: "The score is measured, not reported", Text: "si itself checked out each change and ran the benchmark" + runs(r.Run) + "; no model had a say in a number."}}
	list = append(list, luckFact(r))
	if len(r.Gains) > 0 {
		list = append(list, leftOutFact(r.Gains))
	}
	if n := len(r.Benchmark.Sealed); n == 0 {
		list = append(list, fact{Name: "Nothing was sealed", Text: "A change could have altered the benchmark itself: read the changes with that in mind.", Caution: true})
	} else {
		list = append(list, fact{Name: "The benchmark did not change", Text: count(n, "path was", "paths were") + " sealed: a change that touches one is refused before it is measured."})
	}
	if n := len(r.NotEnforced); n > 0 {
		list = append(list, fact{Name: "Not all is enforced", Text: count(n, "point rests", "points rest") + " on checks or on trust: see “With care” below.", Caution: true})
	}
	return list
}

func runs(r Run) string {
	if r.BenchmarkRuns == 0 {
		return ""
	}
	return ", " + count(r.BenchmarkRuns, "run", "runs") + " in all"
}

func luckFact(r Report) fact {
	var parts []string
	if rate := strings.TrimRight(line(r.Rules.ErrorRate, lineWidth), "."); rate != "" {
		parts = append(parts, rate)
	}
	if n := len(r.Gains) + r.Refused.Total; n > 0 {
		parts = append(parts, "here "+strconv.Itoa(len(r.Gains))+" of "+count(n, "change", "changes")+" in "+count(r.Run.Rounds, "round", "rounds")+" were kept")
	}
	f := fact{Name: "Luck", Text: "How often luck is taken for a gain is not known."}
	if len(parts) > 0 {
		joined := strings.Join(parts, "; ")
		f.Text = strings.ToUpper(joined[:1]) + joined[1:] + "."
	}
	if r.Whole != nil && !exact(&r.Whole.Effect) { // of runs that repeat there is no chance to tell
		if p := luck(r.Whole.Effect.P); p != "" {
			f.Text += " For the whole gain " + p + ": how often runs differ as much when a change does nothing."
		}
	}
	f.Caution = r.Rules.ErrorRate == "" || r.Rules.Alpha > 0.05
	return f
}

// leftOutFact counts what leaving out has shown, in the order of the constants.
func leftOutFact(gains []Gain) fact {
	counts := map[Worth]int{}
	for _, g := range gains {
		counts[known(g.LeftOut.Worth)]++
	}
	var parts []string
	for _, w := range worths() {
		if n := counts[w]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+w.many(n))
		}
	}
	f := fact{Name: "Each gain was tested again", Text: "Leaving each out of the result alone showed: " + strings.Join(parts, ", ") + "."}
	if counts[WorthUntried] == len(gains) {
		f.Name, f.Text = "Gains were not tested again", "None was left out of the result and measured again: a later one may have made it worthless."
	}
	if n := counts[WorthRides] + counts[WorthHarmful] + counts[WorthReplaced]; n > 0 {
		f.Text += " 'si deliver --only-real' leaves off what is worth nothing."
	}
	f.Caution = counts[WorthReal]+counts[WorthNeeded] < len(gains)
	return f
}

// cautions are what was not enforced, and warnings.
func cautions(r Report) (list []fact) {
	for _, part := range []struct {
		name string
		list []string
	}{{"Not enforced", r.NotEnforced}, {"Warning", r.Warnings}} {
		shown, more := capped(part.list, mostItems)
		for _, s := range shown {
			list = append(list, fact{Name: part.name, Text: line(s, lineWidth), Caution: true})
		}
		if more != "" {
			list = append(list, fact{Name: part.name, Text: more, Caution: true})
		}
	}
	return list
}
