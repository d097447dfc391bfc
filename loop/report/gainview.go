package report

import (
	"strconv"
	"strings"
)

// gainView is a kept gain in words.
type gainView struct {
	N                  int
	Title              string
	Whole              string // the hypothesis where the title is not all of it
	Name, Family       string
	Round              int
	Then, Cost         string // effect when it was kept; of leaving it out now
	Worth, Tone, Why   string
	Facts              []fact
	Samples            samplesView
	SubScores          []subScoreView
	Files              []fileView
	MoreFiles          string
	Sum                string // of lines, over all files
	Warnings           []string
	Diff               diffView
	moreScores, moreOf string
}

type subScoreView struct{ Name, Before, After, Change string }

type fileView struct{ Path, Added, Removed string }

func newGainView(n int, g Gain, gains int) gainView {
	title := orElse(line(g.Hypothesis, titleWidth), "no hypothesis")
	v := gainView{
		N: n, Title: title, Name: candidateName(g.Round, g.Executor, g.PlanID), Family: line(strings.ReplaceAll(g.Family, "_", " "), titleWidth), Round: g.Round,
		Then: effect(&g.Duel.Effect), Cost: cost(g.LeftOut), Worth: g.LeftOut.Worth.word(), Tone: g.LeftOut.Worth.tone(),
		Why: orElse(line(g.LeftOut.Reason, lineWidth), g.LeftOut.Worth.meaning()), Samples: newSamplesView(g.Duel, "without", "with it"),
		Diff: newDiffView(g, gains),
	}
	if whole := text(g.Hypothesis); line(whole, mostText) != title {
		v.Whole = whole
	}
	v.SubScores, v.moreScores = subScores(g.SubScores)
	v.Files, v.MoreFiles, v.Sum = files(g.Files)
	var warnings []string
	warnings, v.moreOf = capped(g.Warnings, mostItems)
	for _, w := range warnings {
		v.Warnings = append(v.Warnings, line(w, lineWidth))
	}
	if v.moreOf != "" {
		v.Warnings = append(v.Warnings, v.moreOf)
	}
	v.Facts = gainFacts(g, v)
	return v
}

func gainFacts(g Gain, v gainView) []fact {
	by := ""
	if who := line(g.Executor, titleWidth); who != "" {
		by = ", by " + who + " (the agent that made it)"
	}
	then := v.Then + ", " + score(g.Duel.Before) + " → " + score(g.Duel.After) + ", " + count(g.Duel.Effect.Runs, "run", "runs")
	if p := luck(g.Duel.Effect.P); p != "" {
		then += ", " + p
	}
	list := []fact{
		{Name: "Gain when it was kept", Text: then},
		{Name: "Leaving it out costs", Text: v.Cost},
		{Name: "So it is", Text: v.Worth + ": " + v.Why},
		{Name: "Tried in", Text: "round " + strconv.Itoa(g.Round) + by},
	}
	if v.Family != "" {
		list = append(list, fact{Name: "Kind of change", Text: v.Family})
	}
	list = append(list, fact{Name: "Commit", Text: commitOf(g)})
	if val := g.Validation; val != nil {
		list = append(list, fact{Name: "Hidden benchmark", Text: score(val.Before) + " → " + score(val.After) + " in " + count(val.Runs, "run", "runs") + ", which the author of the change could not see"})
	}
	shown, more := capped(g.Guards, mostItems)
	for _, guard := range shown {
		list = append(list, guardFact(guard))
	}
	if more != "" {
		list = append(list, fact{Name: "Had to hold", Text: more})
	}
	if v.moreScores != "" {
		list = append(list, fact{Name: "Further numbers", Text: v.moreScores})
	}
	return list
}

func commitOf(g Gain) string {
	merge := line(short(g.Merge), titleWidth)
	if g.Commit == "" {
		return "not on the branch for review; merged as " + orElse(merge, "an unknown commit")
	}
	own := line(short(g.Commit), titleWidth)
	if merge == "" {
		return own
	}
	return own + " (merged as " + merge + ")"
}

func guardFact(g Guard) fact {
	f := fact{Name: "Had to hold", Text: orElse(line(g.Name, lineWidth), "a guard") + ": passed"}
	if !g.Passed {
		f.Text, f.Caution = orElse(line(g.Name, lineWidth), "a guard")+": failed", true
	}
	if why := line(g.Reason, lineWidth); why != "" {
		f.Text += ", " + why
	}
	return f
}

func subScores(list []SubScore) (views []subScoreView, more string) {
	shown, more := capped(list, mostItems)
	for _, s := range shown {
		v := subScoreView{Name: orElse(line(s.Name, titleWidth), "no name"), Before: optionalScore(s.Before), After: optionalScore(s.After), Change: "unknown"}
		if s.Before != nil && s.After != nil {
			v.Change = change(*s.Before, *s.After)
		}
		views = append(views, v)
	}
	return views, more
}

// change is relative where that has a meaning. It has no sign of better or worse:
// which way a sub-score should go is not known.
func change(before, after float64) string {
	if before == after {
		return "none"
	}
	if before > 0 && after >= 0 {
		return signed(after/before-1, false)
	}
	return strings.TrimPrefix(score(after-before), "+")
}

func files(list []File) (views []fileView, more, sum string) {
	added, removed := 0, 0
	for _, f := range list {
		added, removed = added+f.Added, removed+f.Removed
	}
	shown, more := capped(list, mostFiles)
	for _, f := range shown {
		v := fileView{Path: orElse(line(f.Path, pathWidth), "no name"), Added: "+" + strconv.Itoa(f.Added), Removed: "-" + strconv.Itoa(f.Removed)}
		if f.Binary {
			v.Added, v.Removed = "binary", ""
		}
		views = append(views, v)
	}
	return views, more, count(len(list), "file", "files") + ", +" + strconv.Itoa(added) + " -" + strconv.Itoa(removed) + " lines"
}
