package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"si/internal/clean"
	"si/track"
)

// maxTried is how many kept and how many other candidates are told, the newest.
const maxTried = 30

// TrackState is what track_status answers: what the documents of the track say.
// Scores of held-out data are not in it.
type TrackState struct {
	Track     string          `json:"track"`
	Objective string          `json:"objective"`
	Running   bool            `json:"running"`
	Status    track.Status    `json:"status"`
	Round     int             `json:"round,omitempty"` // the one under way
	Step      track.Step      `json:"step,omitempty"`
	Rounds    int             `json:"rounds_done"`
	MaxRounds int             `json:"max_rounds"`
	Metric    string          `json:"metric"`
	Direction track.Direction `json:"direction"`
	Baseline  *float64        `json:"baseline"`
	Best      *float64        `json:"best"`
	Target    *float64        `json:"target"`
	Kept      []Tried         `json:"kept"`
	Others    []Tried         `json:"others"` // tried and not kept
}

// Tried is a candidate of an earlier round.
type Tried struct {
	Round      int      `json:"round"`
	Family     string   `json:"family,omitempty"`
	Hypothesis string   `json:"hypothesis"`
	Score      *float64 `json:"score"`
	Why        string   `json:"why,omitempty"`
}

func addTrack(server *mcp.Server, p track.Paths) {
	mcp.AddTool(server, &mcp.Tool{
		Name: "track_status", Annotations: reader(),
		Description: "The goal, the scores, how far the loop has come, and what was tried before.",
	}, func(context.Context, *mcp.CallToolRequest, nothing) (*mcp.CallToolResult, any, error) {
		s, err := State(p)
		if err != nil {
			return nil, nil, err
		}
		data, err := json.Marshal(s)
		return text(string(data)), nil, err
	})
}

// State reads the state of a track from its documents. It can be read while a loop
// runs.
func State(p track.Paths) (TrackState, error) {
	s := TrackState{Track: p.TopicSlug, Kept: []Tried{}, Others: []Tried{}}
	progress, err := track.LoadProgress(p)
	if err != nil {
		return s, err
	}
	if !progress.Exists {
		return s, fmt.Errorf("there is no track in %s", p.Root)
	}
	s.Status, s.Rounds, s.Best = progress.Value.Status, progress.Value.Iterations, progress.Value.BestScore
	if err := s.settings(p); err != nil {
		return s, err
	}
	if err := s.now(p); err != nil {
		return s, err
	}
	histories, err := track.LoadHistory(p, s.Rounds)
	if err != nil {
		return s, err
	}
	for _, h := range histories {
		s.tried(h)
	}
	s.Kept = s.Kept[max(0, len(s.Kept)-maxTried):]
	s.Others = s.Others[max(0, len(s.Others)-maxTried):]
	return s, nil
}

func (s *TrackState) settings(p track.Paths) error {
	settings, err := track.LoadSettings(p)
	if err != nil {
		return err
	}
	v := settings.Value
	s.Metric, s.Direction, s.Target, s.MaxRounds = clean.Line(v.PrimaryMetric, 100), v.BenchmarkDirection, v.TargetValue, v.MaxIterations
	goal, _, err := track.LoadGoal(p)
	if err != nil {
		return err
	}
	s.Objective = clean.Line(goal.Objective, 1000)
	baseline, err := track.LoadBaseline(p)
	if err == nil && baseline.Exists {
		s.Baseline = &baseline.Value.Score
	}
	return err
}

// now is whether a loop runs, and where it is.
func (s *TrackState) now(p track.Paths) error {
	_, held, err := track.LockHolder(p.LockPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.Running = held
	st, err := track.LoadIteration(p)
	if err == nil && st.Exists && st.Value.Status != track.MarkCompleted {
		s.Round, s.Step = st.Value.Iteration, st.Value.CurrentStep
	}
	return err
}

func (s *TrackState) tried(h track.History) {
	won := map[string]bool{}
	for _, w := range h.SI.Winners {
		won[w.PlanID] = true
	}
	if len(won) == 0 && h.Winner != nil { // written by the seed's tool
		won[h.Winner.PlanID] = true
	}
	for _, item := range h.Items() {
		t := Tried{Round: h.Iteration, Family: clean.Line(item.ApproachFamily, 40), Hypothesis: clean.Line(item.Hypothesis, 300), Score: item.Score}
		if item.SI != nil {
			t.Why = clean.Line(item.SI.Verdict, 200)
		}
		if item.FailureAnalysis != nil && t.Why == "" {
			t.Why = clean.Line(item.FailureAnalysis.What, 200)
		}
		if won[item.PlanID] {
			s.Kept = append(s.Kept, t)
		} else {
			s.Others = append(s.Others, t)
		}
	}
}
