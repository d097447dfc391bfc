package track

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event is one line of the journal.
type Event struct {
	TS    time.Time       `json:"ts"`
	Ev    Kind            `json:"ev"`
	Run   string          `json:"run"`
	Round int             `json:"round"`
	Actor string          `json:"actor"`
	Data  json.RawMessage `json:"data,omitempty"`
}

// Kind names what happened. The set is closed for writing; a reader keeps
// kinds that it does not know.
type Kind string

// The kinds of events, each with the type of its data.
const (
	EvRunStarted    Kind = "run_started"        // RunStarted
	EvRunEnded      Kind = "run_ended"          // Summary
	EvSetup         Kind = "setup"              // Note
	EvRoundStarted  Kind = "round_started"      // RoundStarted
	EvRoundEnded    Kind = "round_ended"        // RoundEnded
	EvStepStarted   Kind = "step_started"       // StepEvent
	EvStepEnded     Kind = "step_ended"         // StepEvent
	EvAgentStarted  Kind = "agent_started"      // AgentEvent
	EvAgentEnded    Kind = "agent_ended"        // AgentEvent
	EvAgentFailed   Kind = "agent_failed"       // AgentEvent
	EvAgentSkipped  Kind = "agent_skipped"      // AgentEvent
	EvNothing       Kind = "nothing_to_propose" // AgentEvent: no failure, and no plan
	EvParked        Kind = "parked"             // Parked
	EvUnparked      Kind = "unparked"           // Parked
	EvPlanReady     Kind = "plan_ready"         // PlanEvent
	EvPlanReviewed  Kind = "plan_reviewed"      // PlanEvent
	EvCandidate     Kind = "candidate"          // CandidateEvent
	EvMeasured      Kind = "measured"           // Sample
	EvGuard         Kind = "guard"              // GuardEvent
	EvVerdict       Kind = "verdict"            // VerdictEvent
	EvReviewed      Kind = "reviewed"           // Note: what the reviewer of skills made of a task
	EvCanary        Kind = "canary"             // CanaryEvent
	EvLeftOut       Kind = "left_out"           // LeftOutEvent
	EvMerged        Kind = "merged"             // Merged
	EvArchived      Kind = "archived"           // ArchiveEvent
	EvConfigChange  Kind = "config_change"      // ChangeDetails
	EvControl       Kind = "control"            // Control
	EvSteered       Kind = "steered"            // Steered
	EvCheckout      Kind = "checkout"           // CheckoutEvent
	EvWarning       Kind = "warning"            // Note
	EvCleanup       Kind = "cleanup"            // Note
	EvJournalRepair Kind = "journal_repair"     // Note
)

// Note is an event that is a sentence.
type Note struct {
	Text string `json:"text"`
}

// RunStarted opens a run of the loop.
type RunStarted struct {
	Version string   `json:"version"`
	Root    string   `json:"root"`
	Repo    string   `json:"repo"`
	Branch  string   `json:"branch"`
	Resumed bool     `json:"resumed"`
	Left    []string `json:"uncommitted,omitempty"` // paths of the checkout that the loop does not see

	Broken []BrokenTask `json:"broken,omitempty"` // agents that were at work when the last start was killed, whose cost is known
}

// BrokenTask is an agent's task that was killed together with the loop.
type BrokenTask struct {
	Round int `json:"round"`
	AgentEvent
}

// RoundStarted opens a round.
type RoundStarted struct {
	Base     string   `json:"base"`
	Best     *float64 `json:"best_score"`
	Max      int      `json:"max_iterations"`
	Resumed  bool     `json:"resumed,omitempty"`
	Baseline *float64 `json:"baseline_score"`
}

// RoundEnded closes a round.
type RoundEnded struct {
	Status  MergeStatus `json:"status"`
	Reason  string      `json:"reason,omitempty"`
	Winners []Merged    `json:"winners,omitempty"`
	Best    *float64    `json:"best_score"`
	Plateau int         `json:"plateau_consecutive_count"`
	Breaker int         `json:"circuit_breaker_count"`
	Seconds float64     `json:"seconds"`
}

// StepEvent is the begin or end of a step of a round.
type StepEvent struct {
	Step    Step    `json:"step"`
	Seconds float64 `json:"seconds,omitempty"`
}

// AgentEvent is about one agent's task.
type AgentEvent struct {
	Role    string  `json:"role"`
	ID      string  `json:"id"`
	Backend string  `json:"backend,omitempty"`
	Attempt int     `json:"attempt,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Log     string  `json:"log,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Doing   string  `json:"activity,omitempty"` // file of Activity lines
	Model   string  `json:"model,omitempty"`
	Spent   *Spent  `json:"spent,omitempty"` // when it ended or failed
}

// Parked says that a step waits for a usage limit to be lifted. It is not a
// failure.
type Parked struct {
	Role   string    `json:"role"`
	ID     string    `json:"id"`
	Reason string    `json:"reason"`
	Until  time.Time `json:"until"`
}

// PlanEvent is about one plan.
type PlanEvent struct {
	PlanID     string `json:"plan_id"`
	Planner    string `json:"planner"`
	Hypothesis string `json:"hypothesis"`
	Family     string `json:"approach_family"`
	Approved   *bool  `json:"approved,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// The canaries: changes whose worth is known.
const (
	CanarySame   = "same"   // the champion against itself, from a second checkout
	CanaryBroken = "broken" // nonsense in every file in scope
)

// CanaryEvent is how the benchmark judged a change whose worth is known.
type CanaryEvent struct {
	Name   string  `json:"name"`
	Passed bool    `json:"passed"`
	What   string  `json:"what"`
	Effect *Effect `json:"effect,omitempty"`
}

// LeftOutEvent is what leaving a kept gain out of the champion has shown.
type LeftOutEvent struct {
	Executor string  `json:"executor"`
	Merge    string  `json:"merge"`
	Worth    string  `json:"worth"`
	Reason   string  `json:"reason"`
	Effect   *Effect `json:"effect,omitempty"` // of having it
}

// CandidateEvent is an executor's change as it was committed, or why there is
// none.
type CandidateEvent struct {
	Executor string   `json:"executor"`
	PlanID   string   `json:"plan_id"`
	Commit   string   `json:"commit,omitempty"`
	Tree     string   `json:"tree,omitempty"`
	Files    []string `json:"files,omitempty"`
	Category Category `json:"category,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Sample is one run of the benchmark.
type Sample struct {
	Key       string   `json:"key"`     // what the run was for; unique in its round
	Purpose   string   `json:"purpose"` // setup, canary, check, screen, duel, clock, validation, end, deliver
	Subject   string   `json:"subject"` // champion, start, or an executor's id
	Commit    string   `json:"commit"`
	Tree      string   `json:"tree"`
	Score     *float64 `json:"score"`            // nil when the run gave none
	Metric    string   `json:"metric,omitempty"` // the name that the score goes by in the output
	SubScores SubScore `json:"sub_scores,omitempty"`
	Basis     []string `json:"basis,omitempty"`    // what the score was computed from
	Category  Category `json:"category,omitempty"` // why there is no score
	Fault     string   `json:"fault,omitempty"`
	Odd       []string `json:"odd,omitempty"` // what is unusual about the output
	Raw       string   `json:"raw,omitempty"` // its output, head and tail
	Log       string   `json:"log,omitempty"`
	Wall      float64  `json:"wall_s"`
	CPU       float64  `json:"cpu_s"`
	MaxRSS    int64    `json:"max_rss"`             // bytes
	Load      float64  `json:"load"`                // the machine's, one minute, before the run
	Benchmark string   `json:"benchmark,omitempty"` // what the run was taken with; scores of others cannot be compared
	Node      string   `json:"node,omitempty"`      // where a scheduler took the run
}

// GuardEvent is one guard's answer.
type GuardEvent struct {
	Subject string `json:"subject"`
	Guard   string `json:"guard"`
	Passed  bool   `json:"passed"`
	Reason  string `json:"reason,omitempty"`
}

// VerdictEvent says what was decided about a candidate.
type VerdictEvent struct {
	Executor string  `json:"executor"`
	PlanID   string  `json:"plan_id"`
	Accepted bool    `json:"accepted"`
	Reason   string  `json:"reason"`
	Effect   *Effect `json:"effect,omitempty"`
}

// ArchiveEvent names the tag that keeps a candidate.
type ArchiveEvent struct {
	Executor string `json:"executor"`
	Tag      string `json:"tag"`
	Commit   string `json:"commit"`
}

// CheckoutEvent is a change of the user's checkout or refs while the loop ran.
type CheckoutEvent struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Restore string `json:"restore,omitempty"` // the command that puts it back
	Stops   bool   `json:"stops"`
}

// The acts that a request can ask for.
const (
	ActStop    = "stop"    // after what runs now, or now
	ActPause   = "pause"   // before the next step
	ActResume  = "resume"  // after a pause
	ActSkip    = "skip"    // Target: an agent at work
	ActVeto    = "veto"    // Target: a planner, an executor or a plan of this round
	ActMeasure = "measure" // Target: an executor of this round, or round/executor
)

// Control is one request from another process, a file in the control inbox.
type Control struct {
	Act    string    `json:"act"`
	When   string    `json:"when,omitempty"`   // of a stop: step (default) or now
	Target string    `json:"target,omitempty"` // what it is about
	Text   string    `json:"text,omitempty"`
	At     time.Time `json:"at"`
}

// Steered says what came of a request.
type Steered struct {
	Act    string  `json:"act"`
	Target string  `json:"target,omitempty"`
	Text   string  `json:"text"`
	Effect *Effect `json:"effect,omitempty"` // of a measurement that was asked for
	Waits  Wait    `json:"waits,omitempty"`  // the run stands still from here, or goes on
}

// Wait tells that the run begins to wait for a person, or ends to.
type Wait string

// The values of Wait.
const (
	WaitBegins Wait = "begin"
	WaitEnds   Wait = "end"
)

// Decode reads the event's data into v.
func (e Event) Decode(v any) error {
	if err := json.Unmarshal(e.Data, v); err != nil {
		return fmt.Errorf("read the data of a %s event: %w", e.Ev, err)
	}
	return nil
}

// Summary is the end of a run, and what `si status` shows.
type Summary struct {
	Status      Status     `json:"status"`
	Reason      string     `json:"reason,omitempty"`
	Iterations  int        `json:"iterations"`
	Metric      string     `json:"primary_metric"`
	Direction   Direction  `json:"benchmark_direction"`
	Baseline    *float64   `json:"baseline_score"`
	Best        *float64   `json:"best_score"`
	Target      *float64   `json:"target_value"`
	Improvement *Effect    `json:"improvement"` // the start against the champion, measured afresh
	Branch      string     `json:"branch"`
	Start       string     `json:"start_commit"`
	Champion    string     `json:"champion_commit"`
	Kept        []Kept     `json:"kept"`
	Refused     []Kept     `json:"refused"`
	Rejected    int        `json:"rejected_plans"`
	Skipped     int        `json:"skipped_agents"`
	Idle        int        `json:"nothing_to_propose,omitempty"` // agents that had nothing to propose
	Runs        int        `json:"benchmark_runs"`
	AgentTasks  int        `json:"agent_tasks"`
	Roles       []RoleCost `json:"roles,omitempty"` // what each role cost, of the whole track
	Seconds     float64    `json:"seconds"`
	Rate        string     `json:"error_rate"` // how often a null change is kept under these settings
	Chart       string     `json:"chart"`
	Notes       []string   `json:"notes,omitempty"`
	Next        string     `json:"next"`
}

// RoleCost is what the agents of one role cost. Spent counts what is known.
type RoleCost struct {
	Role    string   `json:"role"`
	Agents  []string `json:"agents"` // who played it
	Tasks   int      `json:"tasks"`
	Failed  int      `json:"failed,omitempty"`
	Seconds float64  `json:"seconds"`
	Spent   Spent    `json:"spent"`
	Unknown int      `json:"cost_unknown"` // tasks of which no cost is known
}

// Kept is one candidate of the summary.
type Kept struct {
	Round      int     `json:"round"`
	PlanID     string  `json:"plan_id"`
	Hypothesis string  `json:"hypothesis"`
	Commit     string  `json:"commit,omitempty"`
	Before     float64 `json:"score_before"`
	After      float64 `json:"score_after"`
	Effect     *Effect `json:"effect"`
	Reason     string  `json:"reason,omitempty"`
}
