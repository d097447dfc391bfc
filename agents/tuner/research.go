package tuner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"si/agents"
	"si/track"
)

// Bounds of a brief's ideas, as the contract has them.
const (
	minIdeas = 3
	maxIdeas = 10
)

// research is the researcher's part: the knobs that are worth trying, best first.
func research(ctx context.Context, t agents.Task) (track.Brief, []string, error) {
	knobs, err := knobsFor(ctx, t)
	if err != nil {
		return track.Brief{}, nil, err
	}
	ranked := rank(t.Facts, knobs)
	if len(ranked.proposals) == 0 {
		return track.Brief{}, nil, nothing("%s", whyNothing(ranked, false))
	}
	ideas := ideasFrom(ranked.proposals, t.Facts)
	return track.Brief{
		Iteration:           t.Round,
		ResearcherID:        t.ID,
		RepoAnalysisSummary: summary(knobs, ranked, t.Facts),
		Ideas:               ideas,
	}, describe(ranked), nil
}

// ideasFrom makes 3 to 10 ideas of at least two families. A repository with fewer
// knobs gives the knobs again, to be combined or measured at other sizes.
func ideasFrom(ranked []proposal, f agents.Facts) []track.Idea {
	var ideas []track.Idea
	families := map[string]bool{}
	for _, p := range ranked[:min(len(ranked), maxIdeas)] {
		family := p.knob.families(f.Families)[0]
		families[family] = true
		ideas = append(ideas, ideaOf(p, family))
	}
	for i := 0; len(ideas) < minIdeas || len(families) < 2; i++ {
		p := ranked[i%len(ranked)]
		idea := ideaOf(p, fallback)
		idea.Title = fmt.Sprintf("Measure where %s stops mattering (%d)", short(p.knob), i+1)
		idea.Confidence, idea.EstimatedImpact = "low", "unknown"
		idea.Evidence += " Few values are in scope, so this one is worth a second look; it counts as " + fallback + " for want of another family."
		if families[fallback] && len(families) < 2 {
			idea.ApproachFamily = "optimization"
		}
		families[idea.ApproachFamily] = true
		if len(ideas) == maxIdeas {
			ideas = ideas[:maxIdeas-1]
		}
		ideas = append(ideas, idea)
	}
	slices.SortStableFunc(ideas, func(a, b track.Idea) int { return confidenceRank(a) - confidenceRank(b) })
	return ideas
}

func ideaOf(p proposal, family string) track.Idea {
	e := p.edit()
	return track.Idea{
		Title:           fmt.Sprintf("Set %s to %s instead of %s", short(p.knob), e.New, e.Old),
		Source:          fmt.Sprintf("%s:%d", e.Path, e.Line),
		Evidence:        fmt.Sprintf("The line is %q; %s.", strings.TrimSpace(e.Text), p.why),
		ApproachFamily:  family,
		Confidence:      confidence(p),
		EstimatedImpact: impact(p),
	}
}

func confidence(p proposal) string {
	switch {
	case len(p.builds) > 0 && p.expect > faint:
		return "high"
	case len(p.builds)+len(p.avoids) == 0:
		return "medium"
	}
	return "low"
}

func confidenceRank(i track.Idea) int {
	return slices.Index([]string{"high", "medium", "low"}, i.Confidence)
}

func summary(knobs []Knob, r ranking, f agents.Facts) string {
	counts := map[string]int{}
	files := map[string]bool{}
	for _, k := range knobs {
		counts[k.families(f.Families)[0]]++
		files[k.Path] = true
	}
	var parts []string
	for family, n := range counts {
		parts = append(parts, fmt.Sprintf("%s %d", family, n))
	}
	slices.Sort(parts)
	text := fmt.Sprintf("%d named numbers and switches in %d files in scope (%s); %d have a value worth trying.",
		len(knobs), len(files), strings.Join(parts, ", "), len(r.proposals))
	if r.reopened {
		text += " All were settled against older champions, so those results are set aside."
	}
	return text
}
