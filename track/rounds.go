package track

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"time"

	"si/internal/durable"
)

// NewIteration is the state of a round that begins. It replaces what the round
// before left in the file, but for keys that this program does not model.
func NewIteration(p Paths, n int, now time.Time) (File[IterationState], error) {
	f, err := LoadIteration(p)
	if err != nil {
		return f, err
	}
	f.Value = IterationState{
		Iteration: n, Status: MarkInProgress, CurrentStep: StepResearch, StartedAt: now, UpdatedAt: now,
		Research:          ResearchState{Status: MarkPending},
		Planning:          PlanningState{Status: MarkPending, Plans: map[string]PlanState{}},
		Execution:         ExecutionState{Status: MarkPending, Executors: map[string]ExecutorState{}},
		Tournament:        TournamentState{Status: MarkPending},
		Recording:         RecordingState{Status: MarkPending},
		UserIdeasConsumed: []string{},
	}
	return f, nil
}

// LoadPlan reads one planner's plan in round n; absent, Exists is false.
func LoadPlan(p Paths, n int, planner string) (File[Plan], error) {
	return Load(p.PlanPath(n, planner), Plan{})
}

// LoadArchivedPlan reads the kept copy of a plan by its id.
func LoadArchivedPlan(p Paths, n int, planID string) (File[Plan], error) {
	return Load(p.ArchivedPlanPath(n, strings.TrimPrefix(planID, roundName(n)+"_")), Plan{})
}

// LoadBrief reads the research brief of round n; absent, Exists is false.
func LoadBrief(p Paths, n int) (File[Brief], error) { return Load(p.BriefPath(n), Brief{}) }

// LoadResult reads one executor's result in round n; absent, Exists is false.
func LoadResult(p Paths, n int, executor string) (File[Result], error) {
	return Load(p.ResultPath(n, executor), Result{})
}

// LoadMergeReport reads the merge report of round n; absent, Exists is false.
func LoadMergeReport(p Paths, n int) (File[MergeReport], error) {
	return Load(p.MergeReportPath(n), MergeReport{})
}

// LoadRound reads the history of round n; absent, Exists is false.
func LoadRound(p Paths, n int) (File[History], error) { return Load(p.HistoryPath(n), History{}) }

// ConsumeIdeas takes the consumed text out of idea.md; what was written there
// since stays.
func ConsumeIdeas(s *durable.Store, p Paths, consumed string) error {
	text, err := LoadIdeas(p)
	if err != nil {
		return err
	}
	left := RemoveIdeas(text, consumed)
	if string(left) == string(text) {
		return nil
	}
	return s.Replace(p.IdeaPath, left, 0o644)
}

// ArchivePlans copies the plans of round n, byte for byte, to where they are
// kept for ever.
func ArchivePlans(s *durable.Store, p Paths, n int) error {
	files, err := filepath.Glob(filepath.Join(p.RoundPlansDir(n), "plan_*.json"))
	if err != nil {
		return fmt.Errorf("list the plans of round %d: %w", n, err)
	}
	sort.Strings(files)
	for _, f := range files {
		data, err := readDocument(f)
		if err != nil {
			return fmt.Errorf("archive %s: %w", f, err)
		}
		target := filepath.Join(p.ArchiveDir(n), filepath.Base(f))
		if old, err := os.ReadFile(target); err == nil && string(old) == string(data) {
			continue
		}
		if err := s.Replace(target, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// OtherTracks reads the run-time state of the other tracks under the same base.
func OtherTracks(p Paths) ([]AgentSettings, error) {
	files, err := filepath.Glob(filepath.Join(p.BaseRoot, "topics", "*", "state", "agent-settings.json"))
	if err != nil {
		return nil, fmt.Errorf("list the tracks of %s: %w", p.BaseRoot, err)
	}
	sessions, err := filepath.Glob(filepath.Join(p.BaseRoot, "topics", "*", "sessions", "*", "state", "agent-settings.json"))
	if err != nil {
		return nil, fmt.Errorf("list the tracks of %s: %w", p.BaseRoot, err)
	}
	files = append(append(files, sessions...), filepath.Join(p.BaseRoot, "state", "agent-settings.json"))
	var out []AgentSettings
	for _, f := range files {
		if f == p.AgentSettingsPath {
			continue
		}
		doc, err := Load(f, AgentSettings{})
		if err == nil && doc.Exists {
			out = append(out, doc.Value)
			continue
		}
		var broken *FileError
		if err != nil && !errors.As(err, &broken) {
			return nil, err
		}
		// A broken file of another track is that track's trouble.
	}
	return out, nil
}

// RefSlug is this track's part of the names of its refs, when it needs one: the
// topic, and the session when there is one.
func (p Paths) RefSlug() string {
	if p.SessionID != nil {
		return p.TopicSlug + "-" + Slugify(*p.SessionID)
	}
	return p.TopicSlug
}

// Relative shortens a path below the root, as documents name it.
func (p Paths) Relative(path string) string {
	if rel, err := filepath.Rel(p.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// Absolute is the inverse of Relative.
func (p Paths) Absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Root, filepath.FromSlash(path))
}

// PathKeys are the keys of Paths as JSON, in the order in which they are
// printed.
func PathKeys() []string {
	var keys []string
	for f := range structFields(reflect.TypeFor[Paths]()) {
		keys = append(keys, f.name)
	}
	return keys
}
