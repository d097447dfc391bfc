// Package track is a track on disk: where its files are, what they hold, the
// journal and the lock. It promises that what it does not model in a document is
// kept, that a document is read whole or refused by file and line, and that
// nothing of a repository, an agent or another program makes it write outside the
// track. It knows no git, starts no process and decides nothing.
package track

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// workspaceMarker names the file whose folder holds the state base of every
// repository below it.
const workspaceMarker = ".omc-workspace"

// ScopeMode says how the root of a track was found.
type ScopeMode string

// The ways to find a root.
const (
	ScopeTopic   ScopeMode = "topic-scoped"
	ScopeLegacy  ScopeMode = "legacy-flat-root"
	ScopeDefault ScopeMode = "default-scoped"
	ScopeSession ScopeMode = "session-scoped"
)

// ResolveInput is what the root of a track depends on.
type ResolveInput struct {
	ProjectRoot string // the git toplevel, "" outside a repository
	WorkDir     string // the working folder, absolute
	Topic       string // words; at most one of Topic and Slug is needed, Slug wins
	Slug        string
	SessionID   string
	Env         func(string) string // nil: an empty environment
}

// Paths are the places of one track. Its JSON is what `si paths --json` prints.
type Paths struct {
	ProjectRoot         string    `json:"project_root"`
	BaseRoot            string    `json:"base_root"` // <state base>/self-improve
	TopicSlug           string    `json:"topic_slug"`
	ScopeMode           ScopeMode `json:"scope_mode"`
	SessionID           *string   `json:"session_id"`
	Root                string    `json:"root"`
	ConfigDir           string    `json:"config_dir"`
	StateDir            string    `json:"state_dir"`
	PlansDir            string    `json:"plans_dir"`
	TrackingDir         string    `json:"tracking_dir"`
	SettingsPath        string    `json:"settings_path"`
	GoalPath            string    `json:"goal_path"`
	HarnessPath         string    `json:"harness_path"`
	IdeaPath            string    `json:"idea_path"`
	AgentSettingsPath   string    `json:"agent_settings_path"`
	IterationStatePath  string    `json:"iteration_state_path"`
	ResearchBriefsDir   string    `json:"research_briefs_dir"`
	IterationHistoryDir string    `json:"iteration_history_dir"`
	MergeReportsDir     string    `json:"merge_reports_dir"`
	PlanArchiveDir      string    `json:"plan_archive_dir"`
	RawDataPath         string    `json:"raw_data_path"`
	BaselinePath        string    `json:"baseline_path"`
	EventsPath          string    `json:"events_path"`
	ProgressPath        string    `json:"progress_path"`
}

// Resolve finds the root of a track. It looks at folders and changes nothing.
func Resolve(in ResolveInput) (Paths, error) {
	if in.Env == nil {
		in.Env = func(string) string { return "" }
	}
	if !filepath.IsAbs(in.WorkDir) || (in.ProjectRoot != "" && !filepath.IsAbs(in.ProjectRoot)) {
		return Paths{}, fmt.Errorf("find the track: the working folder %q or the project root %q is not an absolute path", in.WorkDir, in.ProjectRoot)
	}
	session, err := sessionName(firstText(in.SessionID, in.Env("OMC_SESSION_ID")))
	if err != nil {
		return Paths{}, fmt.Errorf("find the track: %w", err)
	}
	slug, err := in.slug()
	if err != nil {
		return Paths{}, fmt.Errorf("find the track: %w", err)
	}
	base := filepath.Join(in.stateBase(), "self-improve")
	p := Paths{ProjectRoot: firstText(in.ProjectRoot, in.WorkDir), BaseRoot: base, TopicSlug: slug, ScopeMode: ScopeTopic}
	switch {
	case slug == "" && isFlat(base):
		p.TopicSlug, p.ScopeMode, session = DefaultSlug, ScopeLegacy, ""
	case slug == "":
		p.TopicSlug, p.ScopeMode = DefaultSlug, ScopeDefault
	}
	p.place(session)
	return p, nil
}

// slug is the topic slug that was asked for, "" when none was.
func (in ResolveInput) slug() (string, error) {
	if strings.TrimSpace(in.Slug) != "" {
		return givenSlug(in.Slug)
	}
	if strings.TrimSpace(in.Topic) != "" {
		return topicSlug(in.Topic)
	}
	return "", nil
}

func (in ResolveInput) stateBase() string {
	if dir := strings.TrimSpace(in.Env("OMC_STATE_DIR")); dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(in.WorkDir, dir)
		}
		return filepath.Clean(dir)
	}
	for dir := filepath.Clean(in.WorkDir); ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, workspaceMarker)) {
			return filepath.Join(dir, ".omc")
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return filepath.Join(firstText(in.ProjectRoot, in.WorkDir), ".omc")
}

// isFlat reports whether base is itself a track, as the seed's first version
// wrote it.
func isFlat(base string) bool {
	return exists(filepath.Join(base, "config", "settings.json")) || exists(filepath.Join(base, "state", "agent-settings.json"))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

// place fills in every path below the root.
func (p *Paths) place(session string) {
	p.Root = p.BaseRoot
	if p.ScopeMode != ScopeLegacy {
		p.Root = filepath.Join(p.BaseRoot, "topics", p.TopicSlug)
	}
	if session != "" {
		p.SessionID, p.ScopeMode = &session, ScopeSession
		p.Root = filepath.Join(p.Root, "sessions", session)
	}
	p.ConfigDir = filepath.Join(p.Root, "config")
	p.StateDir = filepath.Join(p.Root, "state")
	p.PlansDir = filepath.Join(p.Root, "plans")
	p.TrackingDir = filepath.Join(p.Root, "tracking")
	p.SettingsPath = filepath.Join(p.ConfigDir, "settings.json")
	p.GoalPath = filepath.Join(p.ConfigDir, "goal.md")
	p.HarnessPath = filepath.Join(p.ConfigDir, "harness.md")
	p.IdeaPath = filepath.Join(p.ConfigDir, "idea.md")
	p.AgentSettingsPath = filepath.Join(p.StateDir, "agent-settings.json")
	p.IterationStatePath = filepath.Join(p.StateDir, "iteration_state.json")
	p.ResearchBriefsDir = filepath.Join(p.StateDir, "research_briefs")
	p.IterationHistoryDir = filepath.Join(p.StateDir, "iteration_history")
	p.MergeReportsDir = filepath.Join(p.StateDir, "merge_reports")
	p.PlanArchiveDir = filepath.Join(p.StateDir, "plan_archive")
	p.RawDataPath = filepath.Join(p.TrackingDir, "raw_data.json")
	p.BaselinePath = filepath.Join(p.TrackingDir, "baseline.json")
	p.EventsPath = filepath.Join(p.TrackingDir, "events.json")
	p.ProgressPath = filepath.Join(p.TrackingDir, "progress.png")
}

// StateBase is the folder that other tools of the user share with this one.
func (p Paths) StateBase() string { return filepath.Dir(p.BaseRoot) }

// BriefPath is the research brief of round n.
func (p Paths) BriefPath(n int) string { return filepath.Join(p.ResearchBriefsDir, roundFile(n)) }

// RoundPlansDir holds the plans of round n while it runs.
func (p Paths) RoundPlansDir(n int) string { return filepath.Join(p.PlansDir, roundName(n)) }

// PlanPath is the plan of one planner, such as planner_a, in round n.
func (p Paths) PlanPath(n int, planner string) string {
	return filepath.Join(p.RoundPlansDir(n), "plan_"+idName("planner_", planner)+".json")
}

// ResultPath is the benchmark result of one executor, such as executor_a, in
// round n.
func (p Paths) ResultPath(n int, executor string) string {
	return filepath.Join(p.StateDir, "results", roundName(n), idName("executor_", executor)+".json")
}

// HistoryPath is the iteration history of round n.
func (p Paths) HistoryPath(n int) string { return filepath.Join(p.IterationHistoryDir, roundFile(n)) }

// MergeReportPath is the merge report of round n.
func (p Paths) MergeReportPath(n int) string { return filepath.Join(p.MergeReportsDir, roundFile(n)) }

// ArchiveDir keeps the plans of round n for ever.
func (p Paths) ArchiveDir(n int) string { return filepath.Join(p.PlanArchiveDir, roundName(n)) }

// ArchivedPlanPath is the kept copy of one planner's plan in round n.
func (p Paths) ArchivedPlanPath(n int, planner string) string {
	return filepath.Join(p.ArchiveDir(n), "plan_"+idName("planner_", planner)+".json")
}

// LogDir holds the output of the agents and runs of round n; round 0 is the
// set-up.
func (p Paths) LogDir(n int) string { return filepath.Join(p.Root, "logs", roundName(n)) }

// LogPath is the output of one agent or run in round n.
func (p Paths) LogPath(n int, name string) string {
	return filepath.Join(p.LogDir(n), idName("", name)+".log")
}

// ControlDir is the inbox for requests of other processes.
func (p Paths) ControlDir() string { return filepath.Join(p.StateDir, "control") }

// JournalPath is the record of everything that happened.
func (p Paths) JournalPath() string { return filepath.Join(p.StateDir, "journal.jsonl") }

// SeenSettingsPath is settings.json as the loop last saw it, so that an edit
// between two runs is told.
func (p Paths) SeenSettingsPath() string { return filepath.Join(p.StateDir, "settings_seen.json") }

// LockPath is the file whose lock the loop holds.
func (p Paths) LockPath() string { return filepath.Join(p.StateDir, "lock") }

// ProgressSVGPath is the chart as a drawing.
func (p Paths) ProgressSVGPath() string { return filepath.Join(p.TrackingDir, "progress.svg") }

func roundName(n int) string { return fmt.Sprintf("round_%d", n) }

func roundFile(n int) string { return roundName(n) + ".json" }

// idName makes a file's name of an id. Ids are checked where they come in; this
// is the second line, so that no id leads out of the track.
func idName(prefix, id string) string {
	id = strings.Map(func(r rune) rune {
		if r < 0x80 && isName("x"+string(r)+"x") {
			return r
		}
		return '_'
	}, id)
	if !strings.HasPrefix(id, prefix) {
		id = prefix + id
	}
	return strings.TrimLeft(clip(id, maxName), ".")
}
