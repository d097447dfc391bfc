package track

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// SubScore holds named sub-scores. Old tracks write null for none.
type SubScore map[string]float64

// UnmarshalJSON reads an object of numbers, or null. Plain decoding would take
// a null among the numbers for 0.
func (s *SubScore) UnmarshalJSON(data []byte) error {
	var values map[string]*float64
	if err := json.Unmarshal(data, &values); err != nil {
		return fmt.Errorf("sub_scores: want an object of finite numbers, or null: %w", err)
	}
	*s = nil
	if values != nil {
		*s = make(SubScore, len(values))
	}
	for name, v := range values {
		if v == nil {
			return fmt.Errorf("sub_scores: %s: want a number, found null", clip(name, 60))
		}
		(*s)[name] = *v
	}
	return nil
}

// Brief is a research brief, state/research_briefs/round_{n}.json.
type Brief struct {
	Iteration           int    `json:"iteration"`
	ResearcherID        string `json:"researcher_id"`
	RepoAnalysisSummary string `json:"repo_analysis_summary"`
	Ideas               []Idea `json:"ideas"`
}

// Idea is one idea of a brief.
type Idea struct {
	Title           string `json:"title"`
	Source          string `json:"source"`
	Evidence        string `json:"evidence"`
	ApproachFamily  string `json:"approach_family"`
	Confidence      string `json:"confidence"`       // high, medium or low
	EstimatedImpact string `json:"estimated_impact"` // text, or "unknown"
}

// Plan is a plan document, plans/round_{n}/plan_planner_{x}.json.
type Plan struct {
	PlanID           string           `json:"plan_id"`
	PlannerID        string           `json:"planner_id"`
	Round            int              `json:"round"`
	Hypothesis       string           `json:"hypothesis"`
	ApproachFamily   string           `json:"approach_family"`
	CriticApproved   bool             `json:"critic_approved"`
	TargetFiles      []string         `json:"target_files"`
	Steps            []PlanStep       `json:"steps"`
	ExpectedOutcome  ExpectedOutcome  `json:"expected_outcome"`
	HistoryReference HistoryReference `json:"history_reference"`
	CriticReview     *CriticReview    `json:"critic_review,omitempty"`
	ArchitectReview  *ArchitectReview `json:"architect_review,omitempty"`
	SI               *PlanMore        `json:"si,omitempty"`
}

// PlanMore is what we add to a plan.
type PlanMore struct {
	UsesIdeas bool  `json:"uses_ideas,omitempty"` // the user's ideas were used for it
	Edit      *Edit `json:"edit,omitempty"`       // the exact edit, for the tuner
	Decided   bool  `json:"decided,omitempty"`    // the rules have been applied to it
}

// Edit replaces one value in one place of one file. Byte offsets shift, so the
// place is told by its line's text and the value's column in it.
type Edit struct {
	Path   string `json:"path"`
	Knob   string `json:"knob"`   // stable name of the place
	Line   int    `json:"line"`   // 1-based
	Text   string `json:"text"`   // the whole line as it was, without its newline
	Column int    `json:"column"` // 0-based byte offset of Old in Text
	Old    string `json:"old"`
	New    string `json:"new"`
}

// PlanStep is one step of a plan.
type PlanStep struct {
	Step   int    `json:"step"`
	File   string `json:"file"`
	Change string `json:"change"`
}

// ExpectedOutcome is what a plan predicts.
type ExpectedOutcome struct {
	Metric               string       `json:"metric"`
	EstimatedImpact      string       `json:"estimated_impact"`
	Rationale            string       `json:"rationale"`
	SubScoreExpectations Expectations `json:"sub_score_expectations"`
}

// Expectations say of each sub-score what is expected of it, in words. Agents
// and old tracks write numbers too, which are kept as their text.
type Expectations map[string]string

// UnmarshalJSON reads an object of texts or anything else, or null. A lone
// text is accepted for an object.
func (x *Expectations) UnmarshalJSON(data []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		values = map[string]json.RawMessage{"": data}
	}
	*x = nil
	if values != nil {
		*x = make(Expectations, len(values))
	}
	for name, raw := range values {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			text = string(raw)
		}
		(*x)[name] = text
	}
	return nil
}

// HistoryReference says which earlier plans a plan builds on or avoids.
type HistoryReference struct {
	BuildsOn []string `json:"builds_on"`
	Avoids   []string `json:"avoids"`
}

// CriticReview is the critic's verdict on a plan; each check is pass or fail.
type CriticReview struct {
	H001            string  `json:"h001_hypothesis_count"`
	H002            string  `json:"h002_family_streak"`
	H003            string  `json:"h003_intra_round_diversity"`
	SchemaValid     string  `json:"schema_valid"`
	HistoryAware    string  `json:"history_aware"`
	Verdict         string  `json:"verdict"` // approved or rejected
	RejectionReason *string `json:"rejection_reason"`
}

// ArchitectReview is the architect's advice on a plan.
type ArchitectReview struct {
	Verdict            string   `json:"verdict"` // approve or reject
	Feedback           string   `json:"feedback"`
	StructuralConcerns []string `json:"structural_concerns"`
}

// ResultStatus is the outcome of one executor.
type ResultStatus string

// The outcomes of an executor.
const (
	ResultSuccess    ResultStatus = "success"
	ResultRegression ResultStatus = "regression"
	ResultError      ResultStatus = "error"
	ResultTimeout    ResultStatus = "timeout"
)

// Result is a benchmark result, one an executor.
type Result struct {
	ExecutorID      string           `json:"executor_id"`
	PlanID          string           `json:"plan_id"`
	BenchmarkScore  *float64         `json:"benchmark_score"`
	BenchmarkRaw    string           `json:"benchmark_raw"`
	Status          ResultStatus     `json:"status"`
	SubScores       SubScore         `json:"sub_scores"`
	FailureAnalysis *FailureAnalysis `json:"failure_analysis"`
	Timestamp       time.Time        `json:"timestamp"`
	SI              *ResultMore      `json:"si,omitempty"`
}

// ResultMore is what we add to a result.
type ResultMore struct {
	Commit     string   `json:"commit,omitempty"` // the candidate's commit
	Tree       string   `json:"tree,omitempty"`   // its tree, which was measured
	LogFile    string   `json:"log_file,omitempty"`
	Warnings   []string `json:"warnings,omitempty"`
	Effect     *Effect  `json:"effect,omitempty"` // against the champion, when it was judged
	Verdict    string   `json:"verdict,omitempty"`
	Again      *Effect  `json:"measured_again,omitempty"` // because the user asked; it decided nothing
	AgainAhead bool     `json:"ahead_again,omitempty"`    // it was ahead of what it started from
	Unjudged   bool     `json:"unjudged,omitempty"`       // another candidate ended the round before it was its turn
}

// Category classifies a failure.
type Category string

// The categories of a failure.
const (
	CategoryOOM            Category = "oom"
	CategoryTimeout        Category = "timeout"
	CategoryRegression     Category = "regression"
	CategoryLogicError     Category = "logic_error"
	CategoryScopeError     Category = "scope_error"
	CategoryInfrastructure Category = "infrastructure"
	CategoryParseError     Category = "benchmark_parse_error"
	CategorySealed         Category = "sealed_file_violation"
)

// FailureAnalysis says what failed, why, and what to learn from it.
type FailureAnalysis struct {
	What     string   `json:"what"`
	Why      string   `json:"why"`
	Category Category `json:"category"`
	Lesson   string   `json:"lesson"`
}

// History is state/iteration_history/round_{n}.json.
type History struct {
	Iteration       int           `json:"iteration"`
	BaselineScore   *float64      `json:"baseline_score"`
	Winner          *HistoryItem  `json:"winner"`
	Losers          []HistoryItem `json:"losers"`
	ResearchBriefID *string       `json:"research_brief_id"`
	SI              HistoryMore   `json:"si"`
}

// HistoryItem is one candidate of a round.
type HistoryItem struct {
	PlanID          string           `json:"plan_id"`
	Score           *float64         `json:"score"`
	ApproachFamily  string           `json:"approach_family"`
	Hypothesis      string           `json:"hypothesis"`
	SubScores       SubScore         `json:"sub_scores"`
	FailureAnalysis *FailureAnalysis `json:"failure_analysis,omitempty"`
	SI              *ItemMore        `json:"si,omitempty"`
}

// ItemMore is what we add to a candidate of the history.
type ItemMore struct {
	Executor   string  `json:"executor,omitempty"`
	Commit     string  `json:"commit,omitempty"`
	Ref        string  `json:"ref,omitempty"` // the archive tag, or the merge commit
	Effect     *Effect `json:"effect,omitempty"`
	Verdict    string  `json:"verdict,omitempty"`
	Again      *Effect `json:"measured_again,omitempty"` // because the user asked; it decided nothing
	AgainAhead bool    `json:"ahead_again,omitempty"`    // it was ahead of what it started from
	Unjudged   bool    `json:"unjudged,omitempty"`       // another candidate ended the round before it was its turn
	Edit       *Edit   `json:"edit,omitempty"`
}

// HistoryMore is what we add to the history of a round.
type HistoryMore struct {
	StartedAt     time.Time `json:"started_at"`
	Base          string    `json:"base"`
	Champion      string    `json:"champion"` // commit at the end of the round
	ChampionScore *float64  `json:"champion_score"`
	Winners       []Merged  `json:"winners,omitempty"`
	// CoWinners are the winners before the last one, which stands as Winner.
	CoWinners     []HistoryItem `json:"co_winners,omitempty"`
	Skipped       []Skip        `json:"skipped,omitempty"`
	Idle          []Skip        `json:"nothing_to_propose,omitempty"`
	RejectedPlans []Skip        `json:"rejected_plans,omitempty"`
	Delta         float64       `json:"delta"` // the gain that the counters saw
}

// MergeStatus is the outcome of a tournament.
type MergeStatus string

// The outcomes of a tournament.
const (
	MergeMerged        MergeStatus = "merged"
	MergeNoImprovement MergeStatus = "no_improvement"
	MergeNoWinner      MergeStatus = "no_winner"
	MergeAllRejected   MergeStatus = "all_rejected"
)

// MergeReport is state/merge_reports/round_{n}.json.
type MergeReport struct {
	Iteration           int          `json:"iteration"`
	GoalSlug            string       `json:"goal_slug"`
	Winner              *MergeWinner `json:"winner"`
	Archived            []string     `json:"archived"`
	RegressionsDetected []string     `json:"regressions_detected"`
	ReBenchmarkScore    *float64     `json:"re_benchmark_score"`
	Status              MergeStatus  `json:"status"`
	Reason              *string      `json:"reason"`
}

// MergeWinner is the winner of a merge report.
type MergeWinner struct {
	ExecutorID  string   `json:"executor_id"`
	Branch      string   `json:"branch"`
	Hypothesis  string   `json:"hypothesis"`
	ScoreBefore float64  `json:"score_before"`
	ScoreAfter  float64  `json:"score_after"`
	SubScores   SubScore `json:"sub_scores"`
}

// Families are the approach families that every track knows.
func Families() []string {
	return []string{"architecture", "training_config", "data", "infrastructure", "optimization", "testing", "documentation", "other"}
}

// Items are the candidates of the round, winners first.
func (h History) Items() []HistoryItem {
	items := slices.Concat(h.SI.CoWinners, h.Losers)
	if h.Winner != nil {
		items = append([]HistoryItem{*h.Winner}, items...)
	}
	return items
}
