package mistakes

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"si/internal/secret"
	"si/learn/evidence"
	"si/learn/place"
)

// ErrOptedOut says that the repository has no MISTAKES.md: its people deleted it.
var ErrOptedOut = errors.New("the repository has no MISTAKES.md, so mistakes are not recorded in it")

// InvalidError says that a mistake cannot be recorded as it is. Nothing was written.
type InvalidError struct{ Err error }

func (e *InvalidError) Error() string { return "record a mistake: " + e.Err.Error() }
func (e *InvalidError) Unwrap() error { return e.Err }

// New is a mistake that is to be recorded, and what is known of when it happened.
type New struct {
	Entry
	Run    string    // "" when no run found it
	Commit string    // "" when it is not known
	At     time.Time // now
	Create bool      // make the file when there is none: a person asked for it
}

// Added is what recording a mistake has shown.
type Added struct {
	Entry      Entry    `json:"entry"`
	Alike      []string `json:"signatures_alike,omitempty"` // existing ones, which may mean the same
	AfterLaw   bool     `json:"after_law"`                  // the rule against it does not work
	SeenBefore int      `json:"seen_before"`                // runs or commits that had it
}

// Add records a mistake. It never takes it for another one: a near-synonym of a
// signature begins a count of its own, so those that look alike are returned.
func Add(ctx context.Context, p place.Place, n New) (Added, error) {
	if n.Date == "" {
		n.Date = n.At.UTC().Format(time.DateOnly)
	}
	if n.Status == "" {
		n.Status = Open
	}
	e, err := n.normal()
	if kind := secret.Looks(strings.Join([]string{e.Title, e.What, e.Cause, e.Consequence, e.Prevention}, "\n")); err == nil && kind != "" {
		err = fmt.Errorf("it seems to hold %s, which would be in the repository for good; say where it is instead", kind)
	}
	if err != nil {
		return Added{}, &InvalidError{err}
	}
	release, err := p.Lock(ctx)
	if err != nil {
		return Added{}, err
	}
	defer release()
	// The evidence first: a crash between both leaves a fact about nothing, instead of
	// an entry whose run is not known.
	fact := evidence.Mistake{Track: e.Initiative, Proof: e.Proof, Date: e.Date, Signature: e.Signature, Run: n.Run, Commit: n.Commit, At: n.At.UTC()}
	old, err := Load(p)
	switch {
	case err != nil:
		return Added{}, err
	case !old.Exists && !n.Create:
		return Added{}, ErrOptedOut
	}
	out := Added{Entry: e, Alike: old.alike(e.Signature)}
	past, err := old.history(p)
	if err != nil {
		return Added{}, err
	}
	if r, ok := past.repeat(e.Signature); ok {
		out.SeenBefore, out.AfterLaw = r.Occurrences, r.Law
	}
	if err := evidence.Append(p, evidence.Line{Mistake: &fact}); err != nil {
		return Added{}, err
	}
	return out, p.Edit(place.Mistakes, func(data []byte) ([]byte, error) { return inserted(data, e) })
}

// inserted returns the file with the entry, and makes sure that it is read again.
func inserted(data []byte, e Entry) ([]byte, error) {
	if data == nil {
		data = []byte(header)
	}
	l := parse(data)
	next := l.with(e)
	if got := parse(next); len(got.Entries) != len(l.Entries)+1 || len(got.Problems) != len(l.Problems) {
		what := "what stands before it hides it"
		if l.Unclosed > 0 {
			what = fmt.Sprintf("line %d opens a block of code or a comment that is never closed; close it", l.Unclosed)
		}
		return nil, fmt.Errorf("record a mistake in %s: the new entry would not be read: %s", place.Mistakes, what)
	}
	return next, nil
}

// header explains the file to whoever opens it. Its example is in a block of code,
// so it is no entry.
const header = "# Mistakes\n\nWhat went wrong in this repository, how often, and what would have prevented it. The newest stand first.\n" +
	"Edit it freely. `si mistakes repeats` counts in how many runs and commits a signature happened; three make an\n" +
	"entry of the knowledge store, five a rule. Delete this file, and nothing is recorded here any more.\n\n" +
	"```\n## 2026-11-03 — Title\n\n- **What happened:** …\n- **Root cause:** …\n- **Consequence:** …\n- **Prevention:** …\n" +
	"- **Signature:** `worktree-missing-deps` · initiative `<track>` · actor `<role>` · proof `F-12` · status `open`\n```\n"

// Seed writes an empty MISTAKES.md when there is none, at set-up. The loop never
// does it again.
func Seed(ctx context.Context, p place.Place) (written bool, err error) {
	release, err := p.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	err = p.Edit(place.Mistakes, func(old []byte) ([]byte, error) {
		if old != nil {
			return old, nil
		}
		written = true
		return []byte(header), nil
	})
	return written, err
}

var commitForm = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
