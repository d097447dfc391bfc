// Package retro looks back on a run and lets the repository learn from it. A judge,
// a cold agent that did none of the work, or the built-in one that only counts, says
// what it makes of the run; the program checks each wish against the filter, asks the
// policy path by path, writes what passes, and keeps a record of what did not. The
// default is to change nothing, and a retrospective that does is a success. It knows
// no git: what is to be committed is handed to the caller, one change at a time.
package retro

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"si/learn/place"
	"si/learn/policy"
	"si/track"
)

// The triggers of a retrospective.
const (
	ByEnd   = "end"   // of a run
	ByEvery = "every" // so many rounds
	ByOwed  = "owed"  // a crash came before the one that was due
	ByHand  = "hand"
)

// Order is what a judge is asked.
type Order struct {
	Prompt string
	Schema json.RawMessage // of the JSON object that the answer ends with
	Owns   []string        // globs of what it may change in its worktree
}

// Answer is what a judge gave back. It can be kept on disk, so that a judge is not
// paid twice for the same run after a crash.
type Answer struct {
	Text    string   `json:"text"`
	Changes []Change `json:"changes"`
}

// Change is a path of the judge's worktree that differs from the tip.
type Change struct {
	Path    string `json:"path"` // from the top, with slashes
	Content []byte `json:"content"`
	Deleted bool   `json:"deleted,omitempty"`
	Special bool   `json:"special,omitempty"` // a link, a submodule or an executable: never taken
}

// Judge looks at a run and answers. It blocks until nothing of it is left.
type Judge func(ctx context.Context, o Order) (Answer, error)

// Input is a run to look back on. Place, Policy, Track, Run, Events and Now are
// required.
type Input struct {
	Place   place.Place // where learned files are written: the loop's worktree, or where the user stands
	Policy  *policy.Policy
	Track   string // its slug
	Run     string // that is looked back on
	Trigger string
	Events  func() iter.Seq2[track.Event, error] // of the track's journal, from its begin
	History []track.History
	Log     []LogEntry // git's, newest first, for reverts
	Now     func() time.Time
	DryRun  bool
	Answer  *Answer // of a judge that was asked before a crash

	// Commit makes a commit of one change, and returns its id. Nil leaves the files
	// as they were written, for the user to commit.
	Commit func(ctx context.Context, c Commit) (string, error)
	// Keep puts a judge's answer on disk before anything is done with it; may be nil.
	Keep func(Answer) error
	// Try runs the activation test of a skill, with the files of the change laid over
	// the tip in a scratch checkout. Nil: no skill can be written.
	Try func(ctx context.Context, command string, files map[string][]byte) (Tried, error)
}

// LogEntry is a commit of the improve branch.
type LogEntry struct {
	ID      string
	Subject string
}

// Commit is one change of the learned files.
type Commit struct {
	Message string
	Files   map[string][]byte // nil content deletes the file
	Event   track.Learned     // to be journalled once it is committed; Commit and Measured are the caller's to fill in
}

// Tried is what an activation test showed.
type Tried struct {
	ExitCode int    `json:"exit_code"`
	Output   string `json:"output"` // its end, cleaned
}

// Outcome is what a retrospective came to.
type Outcome struct {
	Event     track.RetroEvent
	Record    Record
	Learned   []track.Learned
	Proposals []track.ProposalEvent
}

// ErrNothing says that the run has nothing to look back on.
var ErrNothing = errors.New("the run has played no round and left no finding")

// Look looks back on a run. judge nil is the built-in one, which counts and makes no
// text but of what was counted. An error means that it is owed still; what was
// committed before it stays, and is not done again.
func Look(ctx context.Context, in Input, judge Judge) (Outcome, error) {
	m, err := gather(in)
	if err != nil {
		return Outcome{}, err
	}
	if !m.Played && len(m.Findings) == 0 {
		return Outcome{}, fmt.Errorf("look back on the run %s: %w", in.Run, ErrNothing)
	}
	j, changes, err := judgement(ctx, in, m, judge)
	if err != nil {
		return Outcome{}, err
	}
	w := newWork(in, m, j, judge == nil && in.Answer == nil)
	w.record.Refused = changes.refused
	if err := w.all(ctx, changes.taken); err != nil {
		return Outcome{}, err
	}
	return w.finish(ctx)
}

// judgement asks the judge, or reads again what it said before a crash.
func judgement(ctx context.Context, in Input, m *Material, judge Judge) (Judgement, taken, error) {
	given := in.Answer
	switch {
	case given == nil && judge == nil:
		return m.counted(), taken{}, nil
	case given == nil:
		a, err := judge(ctx, Order{Prompt: m.prompt(in), Schema: schema(), Owns: owned(in.Place)})
		if err != nil {
			return Judgement{}, taken{}, fmt.Errorf("look back on the run %s: %w", in.Run, err)
		}
		given = &a
		if in.Keep != nil {
			if err := in.Keep(a); err != nil {
				return Judgement{}, taken{}, err
			}
		}
	}
	j, err := Parse(given.Text)
	if err != nil {
		return j, taken{}, err
	}
	return j, classify(in, given.Changes), nil
}

// owned are the globs of what a judge may change.
func owned(p place.Place) []string {
	return []string{p.Dir() + "/**", ".claude/**", "CLAUDE.md", "AGENTS.md"}
}

// mine reports whether a path is one that retrospectives are about: never product
// code, and never what is counted.
func mine(p place.Place, name string) bool {
	return strings.HasPrefix(name, p.Dir()+"/") || strings.HasPrefix(name, ".claude/") || slices.Contains([]string{"CLAUDE.md", "AGENTS.md"}, name)
}
