package mistakes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"si/internal/clean"
	"si/internal/secret"
	"si/learn/evidence"
	"si/learn/knowledge"
	"si/learn/place"
)

const maxRule = 500 // code points

// ErrNotEarned says that a signature has not happened often enough for the step.
var ErrNotEarned = errors.New("not earned yet")

// ErrOperatorRejected says that a person deleted the rule: it stays deleted.
var ErrOperatorRejected = errors.New("operator rejected: a person deleted this rule from the fence, and it stays deleted")

// SetStatus moves the open entries of a signature to a status, knowledge:<id> or
// wontfix, and returns how many moved. An id must be in the knowledge store.
func SetStatus(ctx context.Context, p place.Place, signature string, to Status) (int, error) {
	id, isKnowledge := to.Knowledge()
	if !to.Valid() || to == Law || to == Open {
		return 0, fmt.Errorf("promote %s: %.40q is not knowledge:K-<n> or wontfix; a law is made with --law --rule", signature, to)
	}
	release, err := p.Lock(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	if isKnowledge {
		store, err := knowledge.Load(p)
		if err != nil {
			return 0, err
		}
		if _, ok := store.Entry(id); !ok {
			return 0, fmt.Errorf("promote %s: %s is not in the knowledge store; write it first with 'si knowledge add'", signature, id)
		}
	}
	moved := 0
	err = rewrite(p, func(l *Ledger) ([]byte, error) {
		pick := func(e Entry) bool { return e.Signature == signature && e.Status == Open }
		if moved = count(l.Entries, pick); moved == 0 {
			return nil, fmt.Errorf("promote %s: no open entry has this signature; 'si mistakes list' shows what there is", signature)
		}
		return l.setStatus(pick, to), nil
	})
	return moved, err
}

func count(entries []Entry, pick func(Entry) bool) int {
	n := 0
	for _, e := range entries {
		if pick(e) {
			n++
		}
	}
	return n
}

func rewrite(p place.Place, change func(*Ledger) ([]byte, error)) error {
	return p.Edit(place.Mistakes, func(data []byte) ([]byte, error) {
		if data == nil {
			return nil, ErrOptedOut
		}
		return change(parse(data))
	})
}

// LawRequest asks for a rule in the fence.
type LawRequest struct {
	Signature string
	Rule      string
	DryRun    bool
	At        time.Time
	Allow     func(path string) error // whether the program may write the rules file
}

// Lawed is what a promotion to law did, or would do.
type Lawed struct {
	File    string `json:"file"`
	Line    string `json:"line"`
	Written bool   `json:"written"` // the line is new in the file
	Moved   int    `json:"entries"`
}

// MakeLaw writes a rule into the fence and then moves the entries that earned it to
// law. In this order a crash between both is healed by the next run, which finds the
// line and moves the entries; entries at law without a line mean that a person
// deleted it, and then nothing brings it back.
func MakeLaw(ctx context.Context, p place.Place, r LawRequest) (Lawed, error) {
	rule := strings.Join(strings.Fields(clean.Text([]byte(r.Rule))), " ")
	if n := utf8.RuneCountInString(rule); n == 0 || n > maxRule {
		return Lawed{}, fmt.Errorf("make %s law: the rule has %d code points, want 1 to %d", r.Signature, n, maxRule)
	}
	if kind := secret.Looks(rule); kind != "" {
		return Lawed{}, fmt.Errorf("make %s law: the rule seems to hold %s; say where it is instead", r.Signature, kind)
	}
	release, err := p.Lock(ctx)
	if err != nil {
		return Lawed{}, err
	}
	defer release()
	out := Lawed{File: p.Rules()}
	if err := r.Allow(out.File); err != nil {
		return out, fmt.Errorf("make %s law: %w", r.Signature, err)
	}
	s, err := readLaw(p, r.Signature)
	if err != nil {
		return out, err
	}
	if s.deleted {
		if !r.DryRun {
			err = evidence.Append(p, evidence.Line{Rejected: &evidence.Rejected{Signature: r.Signature, At: r.At.UTC()}})
		}
		return out, errors.Join(fmt.Errorf("make %s law: %w", r.Signature, ErrOperatorRejected), err)
	}
	if !s.present && s.count.Recommended != ToLaw {
		return out, fmt.Errorf("make %s law: %w: %s", r.Signature, ErrNotEarned, s.count.lacks())
	}
	out.Line = ruleLine(rule, s.count)
	if r.DryRun {
		return out, nil
	}
	return s.enact(p, r, out)
}

// standing is how a signature stands in all the files.
type standing struct {
	count   Repeat
	present bool // its line is in the fence
	deleted bool // and is not, though it was
}

func readLaw(p place.Place, signature string) (standing, error) {
	l, err := Load(p)
	if err != nil {
		return standing{}, err
	}
	if !l.Exists {
		return standing{}, ErrOptedOut
	}
	h, err := l.history(p)
	if err != nil {
		return standing{}, err
	}
	rules, err := Rules(p)
	if err != nil {
		return standing{}, err
	}
	var s standing
	s.count, _ = h.repeat(signature)
	s.present = slices.ContainsFunc(rules, func(r Rule) bool { return r.Signature == signature })
	_, enacted := h.log.LawSince(signature)
	s.deleted = !s.present && (s.count.Law || s.count.Rejected || enacted)
	return s, nil
}

// Rules are the lines of the fence.
func Rules(p place.Place) ([]Rule, error) {
	data, err := p.Read(p.Rules())
	if err != nil {
		return nil, err
	}
	f, err := readFence(p.Rules(), data)
	return f.rules, err
}

// HasFence reports whether the rules file has a fence.
func HasFence(p place.Place) (bool, error) {
	data, err := p.Read(p.Rules())
	if err != nil {
		return false, err
	}
	f, err := readFence(p.Rules(), data)
	return f.found, err
}

func (r Repeat) lacks() string {
	switch {
	case r.Rows == 0:
		return "no entry of MISTAKES.md has this signature"
	case r.Occurrences < DefaultThreshold+lawMargin:
		return fmt.Sprintf("it happened in %d distinct runs or commits (%d entries), and %d are needed", r.Occurrences, r.Rows, DefaultThreshold+lawMargin)
	case len(r.Knowledge) == 0:
		return "no knowledge entry was made of it; that comes first, since it costs less"
	}
	return "it has not happened since its knowledge entry " + strings.Join(r.Knowledge, ", ") + " was delivered"
}

// checkedRule adds a line and makes sure that it will be found again: one that is
// not would be written anew each time.
func checkedRule(file string, data []byte, f fence, rule string) ([]byte, error) {
	next := f.withRule(data, rule)
	got, err := readFence(file, next)
	if err == nil && len(got.rules) != len(f.rules)+1 {
		err = fmt.Errorf("write a rule into %s: a block of code or a comment that is never closed hides the fence; close it", file)
	}
	return next, err
}

// enact writes the rules file, the fact that it is law, and the statuses, in this
// order.
func (s standing) enact(p place.Place, r LawRequest, out Lawed) (Lawed, error) {
	err := p.Edit(out.File, func(data []byte) ([]byte, error) {
		f, err := readFence(out.File, data)
		if err != nil || slices.ContainsFunc(f.rules, func(x Rule) bool { return x.Signature == r.Signature }) {
			return data, err
		}
		out.Written = true
		return checkedRule(out.File, data, f, out.Line)
	})
	if err != nil {
		return out, err
	}
	err = rewrite(p, func(l *Ledger) ([]byte, error) {
		pick := func(e Entry) bool {
			_, forKnowledge := e.Status.Knowledge()
			return e.Signature == r.Signature && (e.Status == Open && !s.count.Law || forKnowledge)
		}
		out.Moved = count(l.Entries, pick)
		return l.setStatus(pick, Law), nil
	})
	if err != nil {
		return out, err
	}
	return out, evidence.Append(p, evidence.Line{Law: &evidence.Law{Signature: r.Signature, At: r.At.UTC()}})
}
