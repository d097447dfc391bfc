package retro

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"si/learn/efficacy"
	"si/learn/place"
)

// maxRecords bounds how many records are read, the newest first: what was rejected
// long ago may be thought of again.
const maxRecords = 100

// tooSoft is after how many retrospectives with changes and no deletion the filter
// is said to be too soft.
const tooSoft = 3

// Who rejected.
const (
	byJudge  = "judge"
	byFilter = "filter"
	byPolicy = "policy"
)

// Record is what a retrospective leaves, L/retro/<time>-<run>.json.
type Record struct {
	Run        string          `json:"run"`
	Track      string          `json:"track"`
	Trigger    string          `json:"trigger"`
	At         time.Time       `json:"at"`
	Judge      string          `json:"judge"` // agent, or counted
	Outcome    string          `json:"outcome"`
	Worked     []string        `json:"worked"`
	Failed     []Failure       `json:"failed"`
	Done       []Done          `json:"done"`
	Proposed   []string        `json:"proposed"` // ids of proposals
	Rejected   []Rejection     `json:"rejected"`
	Refused    []Refusal       `json:"refused_paths"`
	Candidates []string        `json:"candidates_for_next_time"`
	Efficacy   []efficacy.Line `json:"efficacy"`
	Notes      []string        `json:"notes"`
}

// Done is one change that was made.
type Done struct {
	What       string   `json:"what"` // as in track.Learned
	Kind       string   `json:"kind,omitempty"`
	Text       string   `json:"text"`
	Paths      []string `json:"paths"`
	From       []string `json:"from"`
	Commit     string   `json:"commit,omitempty"`
	Activation *Tried   `json:"activation,omitempty"`
	Task       string   `json:"activation_task,omitempty"`
}

// deletes reports whether the record took something away.
func (r Record) deletes() bool {
	return slices.ContainsFunc(r.Done, func(d Done) bool { return d.Kind == KindDelete || d.Kind == KindMerge })
}

// changed reports whether the record changed prompts, skills or knowledge.
func (r Record) changed() bool {
	return slices.ContainsFunc(r.Done, func(d Done) bool { return d.Kind != "" })
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

// name of the record's file. A retrospective of the same run at the same second is
// the same one.
func (r Record) name(p place.Place) string {
	run := notInNames.ReplaceAllString(r.Run, "")
	return path.Join(p.Records(), r.At.UTC().Format("20060102T150405Z")+"-"+run[:min(len(run), 16)]+".json")
}

func (r Record) encode() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the record of the retrospective: %w", err)
	}
	return append(data, '\n'), nil
}

// Records reads the newest records, the newest first. One that cannot be read is
// passed over: it remembers, and nothing depends on it.
func Records(p place.Place) ([]Record, error) {
	names, err := p.Files(p.Records(), ".json")
	if err != nil {
		return nil, fmt.Errorf("read the records of retrospectives: %w", err)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(b, a) })
	var out []Record
	for _, name := range names[:min(len(names), maxRecords)] {
		data, err := p.Read(name)
		if err != nil {
			return nil, fmt.Errorf("read the records of retrospectives: %w", err)
		}
		var r Record
		if json.Unmarshal(data, &r) == nil {
			out = append(out, r)
		}
	}
	return out, nil
}

// softness says when several retrospectives in a row added and took nothing away.
func softness(records []Record, now Record) string {
	row := 0
	for _, r := range append([]Record{now}, records...) {
		if !r.changed() {
			continue
		}
		if r.deletes() {
			break
		}
		row++
	}
	if row < tooSoft {
		return ""
	}
	return fmt.Sprintf("%d retrospectives with changes in a row took nothing away: the filter is too soft", row)
}

// oneLine joins a list for a message.
func oneLine(items []string) string { return strings.Join(items, ", ") }
