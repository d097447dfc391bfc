package agents

import "slices"

// lot says which families one planner of a round is to look at.
type lot struct {
	ID       string
	Own      bool
	Families []string
}

// drawLots deals the families out among the planners of a round, so that they
// differ without seeing each other: those of the brief first, in its order, as
// each planner should have one that the research speaks for. Who begins moves
// on with the round. Every planner of a round computes the same lots.
func drawLots(t Task) []lot {
	planners := t.Facts.Planners
	if len(planners) < 2 {
		return nil
	}
	lots := make([]lot, len(planners))
	for i, id := range lines(planners) {
		lots[i%len(lots)] = lot{ID: id, Own: id == t.ID}
	}
	for i, family := range familyOrder(t.Facts) {
		at := (i + max(t.Round, 0)) % len(lots)
		lots[at].Families = append(lots[at].Families, family)
	}
	return lots
}

// familyOrder is the families of the brief, then the rest, without those that
// H002 bars this round.
func familyOrder(f Facts) []string {
	known, barred := lines(f.Families), Barred(f.History)
	var order []string
	add := func(family string) {
		if slices.Contains(known, family) && !slices.Contains(order, family) && !slices.Contains(barred, family) {
			order = append(order, family)
		}
	}
	if f.Brief != nil {
		for _, idea := range f.Brief.Ideas {
			add(idea.ApproachFamily)
		}
	}
	for _, family := range known {
		add(family)
	}
	return order
}
