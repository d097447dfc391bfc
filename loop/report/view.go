package report

import (
	"strconv"
	"strings"

	"si/internal/clean"
)

// The most that a report shows of lists and texts that others have written. What
// is left out is counted.
const (
	mostGains  = 200
	mostItems  = 40
	mostFiles  = 60
	mostText   = 4000 // characters of a text of several lines
	titleWidth = 140  // characters of a title
	lineWidth  = 600  // characters of a text on one line
	pathWidth  = 240
)

// view is a report in words: each text is cleaned, cut and worded once, so that
// both formats say the same. It escapes nothing; that is the formats' work.
type view struct {
	Title, Repository, When string
	Goal                    string
	Headline, Measured      string
	Good                    bool // the whole gain is proved
	Facts                   []fact
	Gains                   []gainView
	MoreGains               string
	Meanings                []fact // of the verdicts on the gains
	WholeSamples            samplesView
	Refused                 refusedView
	Cautions                []fact
	Measuring               []fact
	Command                 string
	Checks                  []Check
}

// fact is a name with what is so; a caution is one that a reader should not miss.
type fact struct {
	Name, Text string
	Caution    bool
}

type refusedView struct {
	Text      string
	Counts    []Count
	Near      []candidateView
	Ideas     []candidateView
	MoreNear  string
	MoreIdeas string
}

type candidateView struct {
	Name, Title, Effect, Reason string
}

func newView(r Report) view {
	v := view{
		Title: orElse(line(r.Title, titleWidth), "An improvement measured by si"), Repository: orElse(line(r.Repository, titleWidth), "a repository"),
		When: when(r.Run), Goal: text(r.Goal), Command: text(r.Benchmark.Command),
	}
	v.Headline, v.Good = headline(r)
	v.Measured = measured(r)
	v.Facts = facts(r)
	shown, more := capped(r.Gains, mostGains)
	for i, g := range shown {
		v.Gains = append(v.Gains, newGainView(i+1, g, len(shown)))
	}
	v.MoreGains, v.Meanings = more, meanings(r.Gains)
	if r.Whole != nil {
		v.WholeSamples = newSamplesView(*r.Whole, "start", "result")
	}
	v.Refused = newRefusedView(r.Refused)
	v.Cautions = cautions(r)
	v.Measuring = measuring(r)
	v.Checks = checks(r)
	return v
}

func when(run Run) string {
	parts := []string{count(run.Rounds, "round", "rounds") + " of trying changes"}
	if !run.Started.IsZero() {
		parts = append(parts, moment(run.Started)+" to "+moment(run.Ended))
	}
	if took := span(run.Started, run.Ended); took != "" {
		parts = append(parts, took)
	}
	return strings.Join(parts, " · ")
}

func newRefusedView(r Refused) refusedView {
	v := refusedView{}
	kinds, moreKinds := capped(r.Counts, mostItems)
	for _, c := range kinds {
		v.Counts = append(v.Counts, Count{Category: orElse(line(strings.ReplaceAll(c.Category, "_", " "), titleWidth), "no category"), N: c.N})
	}
	switch r.Total {
	case 0:
		v.Text = "No candidate was refused."
	case 1:
		v.Text = "1 candidate, which is a change that was tried, was not kept."
	default:
		v.Text = strconv.Itoa(r.Total) + " candidates, which are changes that were tried, were not kept."
	}
	if moreKinds != "" {
		v.Text += " Reasons: " + moreKinds + "."
	}
	near, moreNear := capped(r.Near, mostItems)
	ideas, moreIdeas := capped(r.Ideas, mostItems)
	v.Near, v.MoreNear = candidateViews(near), moreNear
	v.Ideas, v.MoreIdeas = candidateViews(ideas), moreIdeas
	return v
}

func candidateViews(list []Candidate) (views []candidateView) {
	for _, c := range list {
		views = append(views, candidateView{
			Name: candidateName(c.Round, c.Executor, c.PlanID), Title: orElse(line(c.Hypothesis, titleWidth), "no hypothesis"),
			Effect: effect(c.Effect), Reason: line(c.Reason, lineWidth),
		})
	}
	return views
}

// candidateName is what `si why` takes.
func candidateName(round int, executor, planID string) string {
	if name := line(planID, titleWidth); name != "" {
		return name
	}
	return "round_" + strconv.Itoa(round) + "_" + line(executor, titleWidth)
}

// line and text clean what others have written: without control characters, and
// with what is invisible or reorders text made visible.
func line(s string, most int) string { return clean.Line(s, most) }

func text(s string) string {
	most := 8 * mostText // bytes: of a very long text only a part is looked at
	cut := len(s) > most
	s = strings.TrimSpace(clean.Text([]byte(s[:min(len(s), most)])))
	runes := []rune(s)
	if len(runes) > mostText {
		cut, runes = true, runes[:mostText]
	}
	if cut {
		return string(runes) + "…"
	}
	return string(runes)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// capped returns the first most items, and a text that counts the rest.
func capped[T any](list []T, most int) (shown []T, more string) {
	if len(list) <= most {
		return list, ""
	}
	return list[:most], "and " + strconv.Itoa(len(list)-most) + " more"
}
