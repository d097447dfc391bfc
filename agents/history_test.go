package agents

import (
	"fmt"
	"strings"
	"testing"

	"si/track"
)

func TestHistoryTextIsBounded(t *testing.T) {
	var rounds []track.History
	for i := range 300 {
		h := wonRound(1, "data")
		h.Iteration = i + 1
		h.Winner.Hypothesis = fmt.Sprintf("hypothesis %d ", i+1) + strings.Repeat("long ", 50)
		for range 5 {
			h.Losers = append(h.Losers, track.HistoryItem{PlanID: "p", ApproachFamily: "other", Hypothesis: strings.Repeat("é", 300)})
		}
		rounds = append(rounds, h)
	}
	const limit = 16 << 10
	text := historyText(rounds, limit)
	if len(text) > limit {
		t.Errorf("%d bytes, limit %d", len(text), limit)
	}
	if !strings.HasPrefix(text, "round 300, began at 100\n  kept: ") {
		t.Errorf("the newest round is not first and whole:\n%.200s", text)
	}
	if !strings.Contains(text, "; kept [data] hypothesis 2") {
		t.Error("no older round is told shortly")
	}
	if !strings.HasSuffix(text, "older rounds are not shown\n") {
		t.Errorf("it does not say what is left out:\n%s", text[len(text)-200:])
	}
}

func TestHistoryTellsBothWinnersAndRejections(t *testing.T) {
	h := wonRound(2, "data")
	h.Losers = []track.HistoryItem{{PlanID: "first", ApproachFamily: "other", Hypothesis: "one"}, {PlanID: "lost", ApproachFamily: "testing", Hypothesis: "two\nlines"}}
	h.SI.Winners = []track.Merged{{PlanID: "first"}, {PlanID: h.Winner.PlanID}}
	h.SI.RejectedPlans = []track.Skip{{ID: "never", Reason: "H002"}}
	text := historyText([]track.History{h}, 4096)
	for _, want := range []string{"kept: round_2_planner_a [data]", "kept: first [other]", "refused: lost [testing] two lines\n", "never tried: never, rejected: H002"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

func TestLotsDiffer(t *testing.T) {
	for round := range 12 {
		owner := map[string]string{}
		for _, id := range []string{"planner_a", "planner_b", "planner_c"} {
			task := sampleTask(Planner, id)
			task.Round = round
			task.Facts.History = history("data", "data", "data")
			for _, lot := range drawLots(task) {
				for _, family := range lot.Families {
					if was, ok := owner[family]; ok && was != lot.ID {
						t.Errorf("round %d: %s is dealt to %s and %s", round, family, was, lot.ID)
					}
					owner[family] = lot.ID
				}
				if lot.Own != (lot.ID == id) {
					t.Errorf("%s is told that it is %s", id, lot.ID)
				}
			}
		}
		if len(owner) != 3 || owner["data"] != "" {
			t.Errorf("round %d: dealt %v, want all but the barred family", round, owner)
		}
	}
}

func TestLotsFollowTheBrief(t *testing.T) {
	task := sampleTask(Planner, "planner_a")
	task.Round = 3
	task.Facts.Brief.Ideas = []track.Idea{{ApproachFamily: "other"}, {ApproachFamily: "unheard of"}, {ApproachFamily: "other"}, {ApproachFamily: "data"}}
	lots := drawLots(task)
	if lots[0].Families[0] != "other" || lots[1].Families[0] != "data" {
		t.Errorf("lots %v: the families of the brief come first", lots)
	}
}
