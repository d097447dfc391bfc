package track

import "time"

// Status is the state of a track in state/agent-settings.json.
type Status string

// The states of a track. Budget and Failed are ours; the rest are the seed's.
const (
	StatusIdle           Status = "idle"
	StatusRunning        Status = "running"
	StatusUserStopped    Status = "user_stopped"
	StatusTargetReached  Status = "target_reached"
	StatusPlateau        Status = "plateau"
	StatusMaxIterations  Status = "max_iterations"
	StatusCircuitBreaker Status = "circuit_breaker"
	StatusBudget         Status = "budget"
	StatusFailed         Status = "failed"
)

// AgentSettings is state/agent-settings.json: the run-time state of a track.
type AgentSettings struct {
	TrustConfirmed          bool        `json:"trust_confirmed"`
	GoalSet                 bool        `json:"si_setting_goal"`
	BenchmarkSet            bool        `json:"si_setting_benchmark"`
	HarnessSet              bool        `json:"si_setting_harness"`
	Iterations              int         `json:"iterations"`
	BestScore               *float64    `json:"best_score"`
	CurrentMilestone        any         `json:"current_milestone"`
	CurrentPhase            any         `json:"current_phase"`
	PlateauConsecutiveCount int         `json:"plateau_consecutive_count"`
	CircuitBreakerCount     int         `json:"circuit_breaker_count"`
	Status                  Status      `json:"status"`
	GoalSlug                *string     `json:"goal_slug"`
	SI                      RunProgress `json:"si,omitempty"`
}

// RunProgress is what we add to the run-time state.
type RunProgress struct {
	StartCommit   string      `json:"start_commit,omitempty"`   // what the whole gain is measured against
	RecordedRound int         `json:"recorded_round,omitempty"` // the last round that the counters include
	Reason        string      `json:"reason,omitempty"`         // why the loop ended, when the status does not say it
	RefPrefix     string      `json:"ref_prefix,omitempty"`     // set when another track has the plain branch names
	Baseline      *Sample     `json:"baseline,omitempty"`       // one run of the baseline, to compare outputs with
	BenchmarkID   string      `json:"benchmark_id,omitempty"`   // of what scores were taken with; others cannot be compared
	Whole         *WholeGain  `json:"whole,omitempty"`
	Linear        bool        `json:"linear,omitempty"`        // noise and effects are in units of the score, which can be 0 or negative
	BestNear      *float64    `json:"best_near,omitempty"`     // the cautious end of what is known of best_score
	Sigma         float64     `json:"sigma,omitempty"`         // noise of one run, on the log scale
	NoiseMode     string      `json:"noise_mode,omitempty"`    // deterministic, quasi-deterministic, noisy
	Tolerance     float64     `json:"tolerance,omitempty"`     // of the quasi-deterministic mode
	Smallest      float64     `json:"smallest,omitempty"`      // gain that is found 4 times in 5, as set-up told it, relative (with Linear in multiples of sigma)
	LongestRun    float64     `json:"longest_run_s,omitempty"` // of the baseline
	Learned       *LearnedTip `json:"learned,omitempty"`       // the last commit of learned files
	Seeded        bool        `json:"seeded,omitempty"`        // the repository was given what it needs to learn
}

// LearnedTip is where the improve branch stands when what was learned is committed on
// top of the champion. Outside of the learned files all three are equal.
type LearnedTip struct {
	Champion string `json:"champion"` // the commit that was measured
	Before   string `json:"before"`   // where the branch stood
	Tip      string `json:"tip"`      // where it stands, unless a crash came first
}

// WholeGain is the start against the champion, measured afresh when the track
// had so many iterations.
type WholeGain struct {
	Iterations int     `json:"iterations"`
	Effect     Effect  `json:"effect"`
	Before     float64 `json:"score_before"`
	After      float64 `json:"score_after"`
}

// Step is a step of a round in state/iteration_state.json.
type Step string

// The steps of a round, in order.
const (
	StepResearch     Step = "research"
	StepPlanning     Step = "planning"
	StepCriticReview Step = "critic_review"
	StepExecution    Step = "execution"
	StepTournament   Step = "tournament"
	StepRecording    Step = "recording"
	StepStopCheck    Step = "stop_check"
)

// Mark is the state of a step or of a part of one.
type Mark string

// The marks of a step, and of an iteration as a whole.
const (
	MarkPending     Mark = "pending"
	MarkInProgress  Mark = "in_progress"
	MarkCompleted   Mark = "completed"
	MarkFailed      Mark = "failed"
	MarkInterrupted Mark = "interrupted"
)

// IterationState is state/iteration_state.json: how far the round has come.
type IterationState struct {
	Iteration         int             `json:"iteration"`
	Status            Mark            `json:"status"`
	CurrentStep       Step            `json:"current_step"`
	StartedAt         time.Time       `json:"started_at"`
	UpdatedAt         time.Time       `json:"updated_at"`
	Research          ResearchState   `json:"research"`
	Planning          PlanningState   `json:"planning"`
	Execution         ExecutionState  `json:"execution"`
	Tournament        TournamentState `json:"tournament"`
	Recording         RecordingState  `json:"recording"`
	UserIdeasConsumed []string        `json:"user_ideas_consumed"`
	SI                RoundState      `json:"si"`
}

// ResearchState is the research step.
type ResearchState struct {
	Status      Mark       `json:"status"`
	OutputPath  string     `json:"output_path"`
	CompletedAt *time.Time `json:"completed_at"`
}

// PlanningState is the planning step.
type PlanningState struct {
	Status        Mark                 `json:"status"`
	Plans         map[string]PlanState `json:"plans"` // by planner id
	ApprovedCount int                  `json:"approved_count"`
	CompletedAt   *time.Time           `json:"completed_at"`
}

// PlanState is one planner's plan.
type PlanState struct {
	Status         Mark   `json:"status"`
	OutputPath     string `json:"output_path"`
	CriticApproved *bool  `json:"critic_approved"`
}

// ExecutionState is the execution step.
type ExecutionState struct {
	Status      Mark                     `json:"status"`
	Executors   map[string]ExecutorState `json:"executors"` // by executor id
	CompletedAt *time.Time               `json:"completed_at"`
}

// ExecutorState is one executor's task.
type ExecutorState struct {
	Status         Mark     `json:"status"`
	PlanID         string   `json:"plan_id"`
	OutputPath     string   `json:"output_path"`
	BenchmarkScore *float64 `json:"benchmark_score"`
}

// TournamentState is the tournament step.
type TournamentState struct {
	Status      Mark       `json:"status"`
	Winner      *string    `json:"winner"` // executor id
	WinnerScore *float64   `json:"winner_score"`
	CompletedAt *time.Time `json:"completed_at"`
}

// RecordingState is the recording step.
type RecordingState struct {
	Status               Mark   `json:"status"`
	HistoryPath          string `json:"history_path"`
	VisualizationUpdated bool   `json:"visualization_updated"`
	CleanupDone          bool   `json:"cleanup_done"`
}

// RoundState is what we add to the state of a round.
type RoundState struct {
	Base      string   `json:"base,omitempty"`               // commit: the champion when the round began
	Ideas     string   `json:"ideas,omitempty"`              // idea.md as it was when the round began
	Skipped   []Skip   `json:"skipped,omitempty"`            // agents that failed, and why
	Idle      []Skip   `json:"nothing_to_propose,omitempty"` // agents that had nothing to propose, and why: no failure
	Merges    []Merged `json:"merges,omitempty"`             // winners so far, in order
	Refused   []Skip   `json:"refused,omitempty"`            // candidates judged and not kept, and why
	Undecided bool     `json:"undecided,omitempty"`          // the benchmark failed on the champion: the round counts for no counter
}

// Skip is one agent, plan or candidate that was left out, and why.
type Skip struct {
	ID     string `json:"id"`
	Role   string `json:"role,omitempty"`
	Reason string `json:"reason"`
}

// Merged is one winner as the tournament merged it.
type Merged struct {
	Executor  string   `json:"executor"`
	PlanID    string   `json:"plan_id"`
	Commit    string   `json:"commit"`     // the candidate
	TipBefore string   `json:"tip_before"` // the branch before the merge
	Merge     string   `json:"merge"`      // the merge commit
	Before    float64  `json:"score_before"`
	After     float64  `json:"score_after"`
	Effect    Effect   `json:"effect"`
	SubScores SubScore `json:"sub_scores,omitempty"`
	// Validation is the second benchmark, nil where there is none.
	Validation *Validated `json:"validation,omitempty"`
	// Doubt is what could not be made sure of, "" when all could: a gain in time that
	// the clock could not show.
	Doubt string `json:"doubt,omitempty"`
}

// Validated is what the second benchmark gave for a winner: medians of its runs.
type Validated struct {
	Before float64 `json:"score_before"`
	After  float64 `json:"score_after"`
	Runs   int     `json:"runs"`  // of both trees
	Label  string  `json:"label"` // held-out: agents could not see what it uses; fit: they could
}

// Effect is a measured difference between two trees, as a fraction of the
// first one's score and signed so that positive is better. Low and High bound
// it at the level of the test that measured it; nil is unbounded.
type Effect struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	P     *float64 `json:"p,omitempty"`
	Runs  int      `json:"runs"` // both trees together
	// InSigma says that scores can be zero or negative, so that the effect is a
	// multiple of the noise of one run instead of a fraction.
	InSigma bool `json:"in_sigma,omitempty"`
}

// Baseline is tracking/baseline.json.
type Baseline struct {
	Score      float64   `json:"baseline_score"`
	RecordedAt time.Time `json:"recorded_at"`
}

// RawRecord is one candidate in tracking/raw_data.json.
type RawRecord struct {
	Iteration      int      `json:"iteration"`
	PlanID         string   `json:"plan_id"`
	BenchmarkScore *float64 `json:"benchmark_score"`
	IsWinner       bool     `json:"is_winner"`
	ApproachFamily string   `json:"approach_family"`
	SubScores      SubScore `json:"sub_scores"`
	SI             *RawMore `json:"si,omitempty"`
}

// RawMore is what we add to a raw record.
type RawMore struct {
	Effect *Effect `json:"effect,omitempty"`
}

// ChangeEvent is one entry of tracking/events.json.
type ChangeEvent struct {
	Timestamp time.Time     `json:"timestamp"`
	EventType string        `json:"event_type"` // config_change or phase_transition
	Iteration int           `json:"iteration"`
	Details   ChangeDetails `json:"details"`
}

// ChangeDetails says what changed.
type ChangeDetails struct {
	Field    string `json:"field"`
	OldValue any    `json:"old_value"`
	NewValue any    `json:"new_value"`
	Source   string `json:"source"`
}
