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

// Settings is config/settings.json: what the user decides.
type Settings struct {
	SIClaudeSetting         bool      `json:"si_claude_setting"`
	NumberOfAgents          int       `json:"number_of_agents"`
	NumberOfMaxCritics      int       `json:"number_of_max_critics"`
	CurrentRepoURL          string    `json:"current_repo_url"`
	ForkURL                 string    `json:"fork_url"`
	UpstreamURL             string    `json:"upstream_url"`
	TopicSlug               string    `json:"topic_slug"`
	TargetBranch            string    `json:"target_branch"`
	BenchmarkCommand        string    `json:"benchmark_command"`
	BenchmarkFormat         string    `json:"benchmark_format"`
	BenchmarkDirection      Direction `json:"benchmark_direction"`
	PrimaryMetric           string    `json:"primary_metric"`
	MaxIterations           int       `json:"max_iterations"`
	PlateauThreshold        Threshold `json:"plateau_threshold"`
	PlateauWindow           int       `json:"plateau_window"`
	TargetValue             *float64  `json:"target_value"`
	SealedFiles             []string  `json:"sealed_files"`
	RegressionThreshold     float64   `json:"regression_threshold"`
	CircuitBreakerThreshold int       `json:"circuit_breaker_threshold"`
	AutoPush                bool      `json:"auto_push"`
	AutoPR                  bool      `json:"auto_pr"`
	SI                      Options   `json:"si"`
}

// Options are our own settings, under "si", where an old reader passes over
// them. A zero duration, count or size means its default.
type Options struct {
	Seed          uint64         `json:"seed,omitempty"`             // of every random order; set once at set-up
	Agents        AgentOptions   `json:"agents,omitempty"`           // who plays which role
	Measure       MeasureOptions `json:"measure,omitempty"`          // how runs are taken and judged
	Benchmark     FormatOptions  `json:"benchmark,omitempty"`        // how its output is read
	Guards        []GuardOption  `json:"guards,omitempty"`           // what a winner must keep
	Setup         string         `json:"setup_command,omitempty"`    // run once in a new workspace
	Links         []LinkOption   `json:"linked_paths,omitempty"`     // untracked paths given to workspaces
	WorktreeDir   string         `json:"worktree_dir,omitempty"`     // where workspaces lie
	Isolation     string         `json:"isolation,omitempty"`        // clone (default) or worktree
	MaxFileMB     int            `json:"max_file_mb,omitempty"`      // largest file of a candidate, default 100
	MinFreeDiskMB int            `json:"min_free_disk_mb,omitempty"` // default 500
	Budget        BudgetOptions  `json:"budget,omitempty"`
}

// AgentOptions names the backend of each role: "tuner", or "command:" and a
// shell command. A role that is not listed has the default.
type AgentOptions struct {
	Default     string            `json:"default,omitempty"`
	Roles       map[string]string `json:"roles,omitempty"`
	WallSeconds float64           `json:"wall_seconds,omitempty"` // per task, default 3600
	IdleSeconds float64           `json:"idle_seconds,omitempty"` // without a byte of output, default 900
	Env         []string          `json:"env,omitempty"`          // names of variables handed to agents
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
	Env            []string `json:"env,omitempty"`             // names of variables handed to the benchmark
}

// FormatOptions say how a benchmark's output is read.
type FormatOptions struct {
	ResultFiles []string `json:"result_files,omitempty"` // paths in the tree, written by the run
	Regex       string   `json:"regex,omitempty"`        // with the named group "value"
}

// GuardOption is one guard: a command that must pass, or a metric with a bound
// such as "<= +5%", against the champion or, with Against "baseline", against
// the start.
type GuardOption struct {
	Name    string `json:"name,omitempty"`
	Command string `json:"command,omitempty"`
	Metric  string `json:"metric,omitempty"`
	Bound   string `json:"bound,omitempty"`
	Against string `json:"against,omitempty"`
}

// LinkOption gives an untracked path of the checkout to workspaces.
type LinkOption struct {
	Path string `json:"path"`
	Mode string `json:"mode,omitempty"` // copy (default) or link
}

// BudgetOptions end the loop when spent; 0 is no limit.
type BudgetOptions struct {
	WallHours     float64 `json:"wall_hours,omitempty"`
	BenchmarkRuns int     `json:"benchmark_runs,omitempty"`
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
