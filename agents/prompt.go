package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"si/internal/clean"
	"si/templates"
	"si/track"
)

// Limits of a prompt's parts, in bytes. Together they keep a prompt below
// 150 KB, which every model that can do the work reads.
const (
	maxGoal    = 16 << 10
	maxBrief   = 24 << 10
	maxPlan    = 16 << 10
	maxOthers  = 24 << 10
	maxHistory = 24 << 10
	maxItems   = 200 // of a list of paths
	maxItem    = 200 // runes of one
)

// Prompts renders the prompts of the roles. It is safe for concurrent use.
type Prompts struct{ tmpl *template.Template }

// NewPrompts parses the embedded templates.
func NewPrompts() (*Prompts, error) {
	tmpl, err := template.New("prompts").Option("missingkey=error").ParseFS(templates.Prompts(), "prompts/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("parse the templates of the prompts: %w", err)
	}
	return &Prompts{tmpl}, nil
}

// Render returns the prompt of a task from its facts. The same task gives the
// same bytes.
func (p *Prompts) Render(t Task) (string, error) {
	return p.execute(string(t.Role), viewOf(t))
}

// repair returns the prompt that asks for a corrected answer. When the first
// answer held nothing to build on, the whole task is told again.
func (p *Prompts) repair(t Task, f finding) (string, error) {
	contract, err := p.execute("contract-"+string(t.Role), viewOf(t))
	if err != nil {
		return "", err
	}
	v := repairView{
		ID: t.ID, Round: t.Round, Contract: contract,
		Faults: lines(f.faults),
		Answer: fence("answer", f.near, maxNear),
	}
	if f.object == "" {
		v.Order = t.Prompt
	}
	return p.execute("repair", v)
}

type repairView struct {
	ID       string
	Round    int
	Faults   []string
	Answer   string
	Contract string
	Order    string // the original prompt, when the answer held no object
}

func (p *Prompts) execute(name string, view any) (string, error) {
	if p.tmpl.Lookup(name) == nil {
		return "", fmt.Errorf("render a prompt: there is no template %q", name)
	}
	var b bytes.Buffer
	if err := p.tmpl.ExecuteTemplate(&b, name, view); err != nil {
		return "", fmt.Errorf("render the prompt %s: %w", name, err)
	}
	return strings.TrimSpace(b.String()) + "\n", nil
}

// view is what the templates see: every text in it is cleaned and bounded, and
// every text of unknown origin is fenced.
type view struct {
	ID        string
	Round     int
	Dir       string
	Objective string
	Metric    string
	Direction string
	Best      string
	InScope   []string
	OutScope  []string
	Sealed    []string
	Families  []string
	Barred    string // families that H002 bars, "" when none
	Lots      []lot
	Goal      string // fenced, as all below
	Harness   string
	Command   string
	History   string
	Brief     string
	Ideas     string
	Plan      string
	Others    string
	Learned   learnedView
}

func viewOf(t Task) view {
	f := t.Facts
	v := view{
		ID: t.ID, Round: t.Round, Dir: t.Dir,
		Objective: clean.Line(f.Goal.Objective, 500),
		Metric:    clean.Line(f.Metric, maxItem),
		Direction: strings.ReplaceAll(string(f.Direction), "_", " "),
		Best:      number(f.BestScore),
		InScope:   lines(f.Goal.InScope), OutScope: lines(f.Goal.OutScope), Sealed: lines(f.Sealed),
		Families: lines(f.Families),
		Goal:     fence("goal", f.Goal.Text, maxGoal),
		Harness:  fence("rules", f.Harness.Text, maxGoal),
		Command:  fence("command", f.Command, maxGoal),
		Ideas:    fence("ideas", f.UserIdeas, maxGoal),
		Brief:    fence("brief", briefText(f.Brief), maxBrief),
		Plan:     fence("plan", planText(f.Plan), maxPlan),
		Others:   fence("plans", othersText(f.OtherPlans), maxOthers),
		Learned:  learnedOf(f.Learned),
	}
	if t.Role != Executor { // an executor carries out its plan; others' scores only invite copying
		v.History = fence("history", historyText(f.History, maxHistory), maxHistory+1024)
		v.Barred = strings.Join(lines(Barred(f.History)), ", ")
	}
	if t.Role == Planner {
		v.Lots = drawLots(t)
	}
	return v
}

func lines(items []string) []string {
	out := make([]string, 0, min(len(items), maxItems+1))
	for i, item := range items {
		if i == maxItems {
			return append(out, fmt.Sprintf("and %d more", len(items)-i))
		}
		if line := clean.Line(item, maxItem); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', 7, 64)
}

func briefText(b *track.Brief) string {
	if b == nil {
		return ""
	}
	return indented(b)
}

// shownPlan is a plan as its readers need it: with the architect's advice, but
// without verdicts and our own notes.
type shownPlan struct {
	PlanID           string                 `json:"plan_id"`
	Hypothesis       string                 `json:"hypothesis"`
	ApproachFamily   string                 `json:"approach_family"`
	TargetFiles      []string               `json:"target_files"`
	Steps            []track.PlanStep       `json:"steps"`
	ExpectedOutcome  track.ExpectedOutcome  `json:"expected_outcome"`
	HistoryReference track.HistoryReference `json:"history_reference"`
	ArchitectReview  *track.ArchitectReview `json:"architect_review,omitempty"`
}

func planText(p *track.Plan) string {
	if p == nil {
		return ""
	}
	return indented(shownPlan{
		p.PlanID, p.Hypothesis, p.ApproachFamily, p.TargetFiles, p.Steps, p.ExpectedOutcome, p.HistoryReference, p.ArchitectReview,
	})
}

func othersText(plans []track.Plan) string {
	var b strings.Builder
	for _, p := range plans {
		fmt.Fprintf(&b, "%s (%s): %s\n", clean.Line(p.PlanID, 60), clean.Line(p.ApproachFamily, 60), clean.Line(p.Hypothesis, 500))
		for _, s := range p.Steps {
			fmt.Fprintf(&b, "  %s: %s\n", clean.Line(s.File, maxItem), clean.Line(s.Change, 300))
		}
	}
	return b.String()
}

// indented writes v as JSON for reading, without escaping <, > and &.
func indented(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Sprintf("(cannot be shown: %v)", err)
	}
	return b.String()
}
