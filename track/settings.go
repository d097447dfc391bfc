package track

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Direction says which way a score improves.
type Direction string

// The directions of a benchmark.
const (
	HigherIsBetter Direction = "higher_is_better"
	LowerIsBetter  Direction = "lower_is_better"
)

// Better reports whether a is strictly better than b.
func (d Direction) Better(a, b float64) bool {
	if d == LowerIsBetter {
		return a < b
	}
	return a > b
}

// Settings is config/settings.json: what the user decides. The comments of its
// fields, and of the types below, are the configuration reference.
type Settings struct {
	SIClaudeSetting         bool      `json:"si_claude_setting"`         // kept for old tracks; not used
	NumberOfAgents          int       `json:"number_of_agents"`          // planners in a round, and executors at most
	NumberOfMaxCritics      int       `json:"number_of_max_critics"`     // most plans under review at once
	CurrentRepoURL          string    `json:"current_repo_url"`          // kept for old tracks; not used
	ForkURL                 string    `json:"fork_url"`                  // where a pull request comes from
	UpstreamURL             string    `json:"upstream_url"`              // where a pull request goes to
	TopicSlug               string    `json:"topic_slug"`                // the track; set-up fills it in
	TargetBranch            string    `json:"target_branch"`             // what improve/… starts from
	BenchmarkCommand        string    `json:"benchmark_command"`         // run by the shell in a clean checkout of the candidate
	BenchmarkFormat         string    `json:"benchmark_format"`          // json, number, pass_fail, gobench, hyperfine, pytest-benchmark, criterion or regex
	BenchmarkDirection      Direction `json:"benchmark_direction"`       // higher_is_better or lower_is_better
	PrimaryMetric           string    `json:"primary_metric"`            // the metric's name in the benchmark's output
	MaxIterations           int       `json:"max_iterations"`            // rounds at most
	PlateauThreshold        Threshold `json:"plateau_threshold"`         // smallest gain of a round that counts: a percentage as a text, or an absolute number
	PlateauWindow           int       `json:"plateau_window"`            // winning rounds in a row below the threshold that end the loop
	TargetValue             *float64  `json:"target_value"`              // the score that ends the loop, or null
	SealedFiles             []string  `json:"sealed_files"`              // paths, folders with a trailing /, and globs that no candidate may touch
	RegressionThreshold     float64   `json:"regression_threshold"`      // largest relative drop of a sub-score that a winner may bring
	CircuitBreakerThreshold int       `json:"circuit_breaker_threshold"` // rounds in a row without a winner that end the loop
	AutoPush                bool      `json:"auto_push"`                 // push the improve branch to origin after a win
	AutoPR                  bool      `json:"auto_pr"`                   // open a pull request with gh when the target is reached
	SI                      Options   `json:"si"`                        // our own settings
}

// Options are our own settings, under "si", where an old reader passes over
// them. A zero duration, count or size means its default.
type Options struct {
	Seed          uint64         `json:"seed,omitempty"`             // of every random order; set once at set-up
	Agents        AgentOptions   `json:"agents,omitempty"`           // who plays which role
	Measure       MeasureOptions `json:"measure,omitempty"`          // how runs are taken and judged
	Benchmark     FormatOptions  `json:"benchmark,omitempty"`        // how its output is read
	Guards        []GuardOption  `json:"guards,omitempty"`           // what a winner must keep
	Validation    Validation     `json:"validation,omitempty"`       // a second benchmark, for winners alone
	RunnerFiles   string         `json:"runner_files,omitempty"`     // strict: a change of a file that test and build programs read by themselves is refused; default a warning
	Setup         string         `json:"setup_command,omitempty"`    // run once in a new workspace
	Links         []LinkOption   `json:"linked_paths,omitempty"`     // untracked paths given to workspaces
	WorktreeDir   string         `json:"worktree_dir,omitempty"`     // where workspaces lie
	Isolation     string         `json:"isolation,omitempty"`        // clone (default) or worktree
	MaxFileMB     int            `json:"max_file_mb,omitempty"`      // largest file of a candidate, default 100
	MinFreeDiskMB int            `json:"min_free_disk_mb,omitempty"` // free disk below which no step begins, default 500
	Budget        BudgetOptions  `json:"budget,omitempty"`           // what ends the loop when it is spent
	Sandbox       string         `json:"sandbox,omitempty"`          // auto (default) or off
	HiddenPaths   []string       `json:"hidden_paths,omitempty"`     // held-out data: absolute paths outside the repository, shown to the validation alone
	Limits        LimitOptions   `json:"limits,omitempty"`           // of each command in the sandbox
	Skills        SkillOptions   `json:"skills,omitempty"`           // procedures that agents write and use
	Learn         LearnOptions   `json:"learn,omitempty"`            // what the repository learns from its runs
}

// AgentOptions names the agent of each role: the built-in tuner, claude, codex, pi,
// gemini, opencode, qwen, copilot, goose, openai or anthropic, with a model after a
// colon where one is wanted and its effort after an @ (codex:gpt-5@high); "acp:" and
// the command of another agent that speaks the Agent Client Protocol; or "command:"
// and a shell command. A role that is not listed has the default.
type AgentOptions struct {
	Default     string              `json:"default,omitempty"`      // plays every role that is not listed; default tuner
	Roles       map[string]string   `json:"roles,omitempty"`        // by role: researcher, planner, architect, critic, executor, clarifier, builder, reviewer, retrospective
	Fallbacks   map[string][]string `json:"fallbacks,omitempty"`    // by role, or "default": who plays instead, in this order, where an agent is at its usage limit, not logged in or cannot be started
	WaitHours   float64             `json:"wait_hours,omitempty"`   // longest wait for a usage limit to be lifted, default 6; -1 never waits
	WallSeconds float64             `json:"wall_seconds,omitempty"` // per task, default 3600
	IdleSeconds float64             `json:"idle_seconds,omitempty"` // without a byte of output, default 900
	Env         []string            `json:"env,omitempty"`          // names of variables handed to agents
	Writable    []string            `json:"writable,omitempty"`     // absolute paths that agents may write to in the sandbox; default the known agents' own folders
	Readable    []string            `json:"readable,omitempty"`     // absolute paths that agents see although they lie in a hidden folder
}

// MeasureOptions say how runs are taken and judged.
type MeasureOptions struct {
	Selection      string   `json:"selection,omitempty"`       // "" (the duel) or "seed"
	Alpha          float64  `json:"alpha,omitempty"`           // default 0.01
	MinEffect      float64  `json:"min_effect,omitempty"`      // relative, default 0.005
	Target         float64  `json:"target,omitempty"`          // effect to plan runs for, relative, default 0.01
	MaxRuns        int      `json:"max_runs,omitempty"`        // of a duel, both arms, default 24
	TimeoutSeconds float64  `json:"timeout_seconds,omitempty"` // per run; default 10 × the longest of the baseline, at least 60
	Warmup         int      `json:"warmup,omitempty"`          // runs thrown away on a new tree
	Launcher       Launcher `json:"launcher,omitempty"`        // where runs are taken; default this machine
	Rebuild        string   `json:"rebuild,omitempty"`         // "block": both trees are laid and built anew for each block of a duel, where builds differ
	MaxLoad        float64  `json:"max_load,omitempty"`        // load of the machine from which on no run is taken; a round without runs is undecided
	Network        bool     `json:"network,omitempty"`         // the benchmark has the network
	CanaryEvery    int      `json:"canary_every,omitempty"`    // rounds between two looks whether the benchmark can be trusted, default 10; -1 is never, at set-up too
	Env            []string `json:"env,omitempty"`             // names of variables handed to the benchmark
	Keep           []string `json:"keep,omitempty"`            // build caches that stay from run to run of a tree: paths in it, or in the benchmark's HOME (~/…); all else is put back to what the set-up left
}

// Launcher hands each run of the benchmark to a scheduler; docs/slurm.md has what
// it needs.
type Launcher struct {
	Kind      string   `json:"kind,omitempty"`        // local (default), slurm, or command: another scheduler by its own commands
	Partition string   `json:"partition,omitempty"`   // Slurm's
	Account   string   `json:"account,omitempty"`     // Slurm's
	Exclusive bool     `json:"exclusive,omitempty"`   // whole nodes (Slurm)
	Args      []string `json:"args,omitempty"`        // further options of sbatch, each one word
	Submit    []string `json:"submit,omitempty"`      // command: program and arguments, with {script}, {name}, {node}, {seconds}
	Status    []string `json:"status,omitempty"`      // command: with {id}; prints pending, running, ended, lost, forgotten or impossible
	Cancel    []string `json:"cancel,omitempty"`      // command: with {id}
	ID        string   `json:"id,omitempty"`          // command: expression whose first group is the job's id in what submit prints
	Queue     float64  `json:"queue_hours,omitempty"` // a job that has not started by then is given up; 0 is no limit
}

// FormatOptions say how a benchmark's output is read.
type FormatOptions struct {
	ResultFiles []string `json:"result_files,omitempty"` // paths in the tree, written by the run
	Regex       string   `json:"regex,omitempty"`        // with the named group "value"
	ResultFD    bool     `json:"result_fd,omitempty"`    // the benchmark writes its result to descriptor 3, and gives that to no program that it runs
	TimeUnit    string   `json:"time_unit,omitempty"`    // s, ms, us or ns: the metric is the time of a run, and a gain must show on the clock; default by the metric's name; none turns it off
}

// GuardOption is one guard: a command that must pass, or a metric with a bound
// such as "<= +5%", against the champion or, with Against "baseline", against
// the start.
type GuardOption struct {
	Name    string `json:"name,omitempty"`    // for messages; default the command or the metric
	Command string `json:"command,omitempty"` // must exit 0 in a checkout of the candidate
	Metric  string `json:"metric,omitempty"`  // a sub-score
	Bound   string `json:"bound,omitempty"`   // such as "<= +5%" or "< 200"
	Against string `json:"against,omitempty"` // champion (default) or baseline
}

// Validation is a second benchmark that a winner must pass before it is kept:
// one that no agent was told of. A winner that is worse there than the champion,
// beyond the noise, is refused as fitted to the first benchmark. Without a command
// there is none.
type Validation struct {
	Command     string    `json:"command,omitempty"`      // run as the benchmark is
	Format      string    `json:"format,omitempty"`       // default the benchmark's
	Metric      string    `json:"metric,omitempty"`       // default the benchmark's
	Direction   Direction `json:"direction,omitempty"`    // default the benchmark's
	Regex       string    `json:"regex,omitempty"`        // with the named group "value"
	ResultFiles []string  `json:"result_files,omitempty"` // paths in the tree, written by the run
	Runs        int       `json:"runs,omitempty"`         // of each tree where runs differ, default 5
}

// LinkOption gives an untracked path of the checkout to workspaces.
type LinkOption struct {
	Path string `json:"path"`           // relative to the checkout
	Mode string `json:"mode,omitempty"` // copy (default) or link
}

// LearnOptions say how the repository learns from its runs.
type LearnOptions struct {
	Off        bool   `json:"off,omitempty"`          // no brief goes into prompts, and no run is looked back on
	RetroEvery int    `json:"retro_every,omitempty"`  // rounds after which a run is looked back on before its end too; 0 is never
	Judge      string `json:"judge,omitempty"`        // who looks back on a run: agent (the role retrospective), or count: nobody but the program's counting; default agent, where that role is a coding agent or a model
	Budget     int    `json:"brief_budget,omitempty"` // characters of a knowledge brief, default 4000
}

// SkillOptions say how skills are offered, written and aged. A zero value means its
// default.
type SkillOptions struct {
	Off           bool                `json:"off,omitempty"`            // agents are offered no skills and no memories
	Review        ReviewOptions       `json:"review,omitempty"`         // writes skills and memories after tasks
	Aux           AuxModel            `json:"default_aux,omitempty"`    // the cheap model of such work; default the role reviewer's
	Slots         map[string]AuxModel `json:"slots,omitempty"`          // models by kind of work: review, curation, title, triage, compression
	StaleDays     float64             `json:"stale_days,omitempty"`     // without use after which a skill is stale, default 30
	ArchiveDays   float64             `json:"archive_days,omitempty"`   // … and archived, default 90
	IntervalHours float64             `json:"interval_hours,omitempty"` // between two passes of the curator, default 168
	IdleHours     float64             `json:"idle_hours,omitempty"`     // without a run before a pass, default 2
	Consolidate   bool                `json:"consolidate,omitempty"`    // propose to merge near-duplicates
}

// ReviewOptions say whether and when an agent's task is reviewed.
type ReviewOptions struct {
	On           bool    `json:"on,omitempty"`             // off by default: it costs model calls
	MinToolCalls int     `json:"min_tool_calls,omitempty"` // tasks with fewer are not reviewed, default 5
	WallSeconds  float64 `json:"wall_seconds,omitempty"`   // of one review, default 300
}

// AuxModel is a model for auxiliary work, named as an agent is.
type AuxModel struct {
	Model     string   `json:"model,omitempty"`     // as an agent is named
	Fallbacks []string `json:"fallbacks,omitempty"` // in this order
}

// LimitOptions bound what one command of an agent or a benchmark can use, where the
// machine can enforce it; 0 is no limit.
type LimitOptions struct {
	Processes int `json:"processes,omitempty"` // processes and threads together
	MemoryMB  int `json:"memory_mb,omitempty"` // private memory of each process
	FileMB    int `json:"file_mb,omitempty"`   // size of each file that is written
}

// BudgetOptions end the loop when spent; 0 is no limit.
type BudgetOptions struct {
	WallHours     float64     `json:"wall_hours,omitempty"`     // of a run, over all its starts; waiting for you or for a usage limit does not count
	BenchmarkRuns int         `json:"benchmark_runs,omitempty"` // of a run, over all its starts
	CostUSD       float64     `json:"cost_usd,omitempty"`       // of the agents of a run, as far as their cost is known
	Tokens        int64       `json:"tokens,omitempty"`         // of the agents of a run, cached ones too
	Round         RoundBudget `json:"round,omitempty"`          // what is left over is not carried into the next round
	Task          TaskBudget  `json:"task,omitempty"`           // an agent that passes one of them has failed
}

// RoundBudget bounds the agents of one round; 0 is no limit. An agent for which
// there is not enough left is left out of the round.
type RoundBudget struct {
	CostUSD float64 `json:"cost_usd,omitempty"` // as far as it is known
	Tokens  int64   `json:"tokens,omitempty"`   // cached ones too
}

// TaskBudget bounds one task of an agent; 0 is no limit. It is also what is set
// aside of the other budgets before the task starts.
type TaskBudget struct {
	CostUSD float64 `json:"cost_usd,omitempty"` // as far as the agent tells it while it works
	Tokens  int64   `json:"tokens,omitempty"`   // cached ones too
	Steps   int     `json:"steps,omitempty"`    // tool calls
	Repeats int     `json:"repeats,omitempty"`  // identical tool calls in a row, default 20; -1 is no limit
}

// DefaultSettings are the values of a new track.
func DefaultSettings() Settings {
	s := adoptedSettings()
	s.PlateauThreshold = Threshold{Value: 0.005, Relative: true}
	return s
}

// adoptedSettings are the values that hold where an existing file has no key:
// the seed's.
func adoptedSettings() Settings {
	return Settings{
		NumberOfAgents: 3, NumberOfMaxCritics: 3,
		TopicSlug: DefaultSlug, TargetBranch: "main",
		BenchmarkFormat: "json", BenchmarkDirection: HigherIsBetter, PrimaryMetric: "primary",
		MaxIterations: 50, PlateauThreshold: Threshold{Value: 0.01}, PlateauWindow: 3,
		SealedFiles: []string{}, RegressionThreshold: 0.05, CircuitBreakerThreshold: 3,
	}
}

// Formats are the benchmark formats that can be read.
func Formats() []string {
	return []string{"json", "number", "pass_fail", "gobench", "hyperfine", "pytest-benchmark", "criterion", "regex"}
}

// Threshold is a plateau threshold: absolute when written as a number,
// relative when written as a text ending in %.
type Threshold struct {
	Value    float64 // a fraction when Relative
	Relative bool
}

// ParseThreshold reads "0.5%" or "0.01".
func ParseThreshold(text string) (Threshold, error) {
	number, relative := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || v < 0 || !finite(v) {
		return Threshold{}, fmt.Errorf("%q is neither a number ≥ 0 nor a percentage such as 0.5%%", text)
	}
	if relative {
		v /= 100
	}
	return Threshold{v, relative}, nil
}

func (t Threshold) String() string {
	if t.Relative {
		return strconv.FormatFloat(t.Value*100, 'g', -1, 64) + "%"
	}
	return strconv.FormatFloat(t.Value, 'g', -1, 64)
}

// MarshalJSON writes a number, or a text for a percentage.
func (t Threshold) MarshalJSON() ([]byte, error) {
	if t.Relative {
		return json.Marshal(t.String())
	}
	return json.Marshal(t.Value)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Threshold) UnmarshalJSON(data []byte) error {
	text := string(data)
	if err := json.Unmarshal(data, &text); err != nil {
		text = string(data)
	}
	parsed, err := ParseThreshold(text)
	if err != nil {
		return fmt.Errorf("plateau_threshold: %w", err)
	}
	*t = parsed
	return nil
}
