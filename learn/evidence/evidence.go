// Package evidence keeps what the program itself has seen of the learned files: which
// entry was delivered to whom in which run and what was reported on it, when a
// mistake happened and when a rule became law. It lives in the repository, a line a
// fact, so that counters can be computed again by anybody. A fact has a key, so that
// recording it twice changes nothing. No agent writes here.
package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"si/learn/knowledge"
	"si/learn/place"
	"si/track"
)

// maxLines bounds the facts that are read.
const maxLines = 1_000_000

// Line is one fact; exactly one of its parts is set.
type Line struct {
	Run      *Run      `json:"run,omitempty"`
	Base     *Base     `json:"base,omitempty"`
	Delivery *Delivery `json:"delivery,omitempty"`
	Mistake  *Mistake  `json:"mistake,omitempty"`
	Law      *Law      `json:"law,omitempty"`
	Rejected *Rejected `json:"operator_rejected,omitempty"`
	Core     *Core     `json:"core,omitempty"`
}

// Run is a run of the loop, for rates.
type Run struct {
	ID    string    `json:"id"`
	Track string    `json:"track"`
	At    time.Time `json:"at"`
}

// Base are the counters that an entry had before the first evidence about it.
type Base struct {
	ID string `json:"id"`
	knowledge.Counters
}

// Delivery is one entry in one prompt, with what was reported.
type Delivery struct {
	Run     string                 `json:"run"`
	Round   int                    `json:"round"`
	Agent   string                 `json:"agent"`
	ID      string                 `json:"id"`
	Verdict track.KnowledgeVerdict `json:"verdict"`
	At      time.Time              `json:"at"`
}

// Mistake says when and in which run an entry of MISTAKES.md happened. Track, Proof,
// Date and Signature are those of the entry.
type Mistake struct {
	Track     string    `json:"track"`
	Proof     string    `json:"proof"`
	Date      string    `json:"date"`
	Signature string    `json:"signature,omitempty"` // "" in lines of an older version: any
	Run       string    `json:"run,omitempty"`
	Commit    string    `json:"commit,omitempty"`
	At        time.Time `json:"at"`
}

// Law says when a rule was written.
type Law struct {
	Signature string    `json:"signature"`
	At        time.Time `json:"at"`
}

// Rejected says that a person deleted a rule: it stays deleted.
type Rejected struct {
	Signature string    `json:"signature"`
	At        time.Time `json:"at"`
}

// Core is the version of the program whose built-in texts were compared last.
type Core struct {
	Version string    `json:"version"`
	At      time.Time `json:"at"`
}

// key is what makes two lines the same fact.
func (l Line) key() string {
	switch {
	case l.Run != nil:
		return "run\x00" + l.Run.ID
	case l.Base != nil:
		return "base\x00" + l.Base.ID
	case l.Delivery != nil:
		d := l.Delivery
		return fmt.Sprintf("delivery\x00%s\x00%d\x00%s\x00%s", d.Run, d.Round, d.Agent, d.ID)
	case l.Mistake != nil:
		m := l.Mistake
		return fmt.Sprintf("mistake\x00%s\x00%s\x00%s\x00%s\x00%s\x00%s", m.Track, m.Proof, m.Date, m.Signature, m.Run, m.Commit)
	case l.Law != nil:
		return "law\x00" + l.Law.Signature
	case l.Rejected != nil:
		return "rejected\x00" + l.Rejected.Signature
	case l.Core != nil:
		return "core\x00" + l.Core.Version
	}
	return ""
}

// Log is the evidence of a repository as it was read.
type Log struct {
	Lines []Line
	Torn  bool // a last line without its end, or lines that a merge left
	index map[string]int
}

// Load reads the evidence. An absent file has none.
func Load(p place.Place) (*Log, error) {
	data, err := p.Read(p.Evidence())
	if err != nil {
		return nil, err
	}
	return parse(p.Evidence(), data)
}

func parse(file string, data []byte) (*Log, error) {
	l := &Log{index: map[string]int{}}
	for n := 1; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		data = rest
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var fact Line
		switch err := json.Unmarshal(line, &fact); {
		case err != nil && !ended:
			l.Torn = true
			continue
		case err != nil:
			return nil, fmt.Errorf("read %s:%d: %w; correct the line or remove it", file, n, err)
		case n > maxLines:
			return nil, fmt.Errorf("read %s: it has more than %d lines; remove old ones", file, maxLines)
		}
		l.take(fact)
	}
	return l, nil
}

// take records a fact, and reports whether it says anything new.
func (l *Log) take(fact Line) bool {
	key := fact.key()
	if key == "" { // of a later version of the program
		return false
	}
	i, known := l.index[key]
	if !known {
		l.index[key] = len(l.Lines)
		l.Lines = append(l.Lines, fact)
		return true
	}
	if d := fact.Delivery; d != nil && d.Verdict != track.VerdictMissing && l.Lines[i].Delivery.Verdict == track.VerdictMissing {
		l.Lines[i] = fact
		return true
	}
	return false
}

// Append records facts on disk and leaves out those that are known. The caller
// holds the lock.
func Append(p place.Place, facts ...Line) error {
	return p.Edit(p.Evidence(), func(old []byte) ([]byte, error) {
		l, err := parse(p.Evidence(), old)
		if err != nil {
			return nil, err
		}
		if n := len(old); n > 0 && old[n-1] != '\n' {
			if !l.Torn {
				old = append(slices.Clone(old), '\n')
			} else { // cut off what a crash of another program left
				old = slices.Clone(old[:bytes.LastIndexByte(old, '\n')+1])
			}
		}
		return l.extend(old, facts)
	})
}

func (l *Log) extend(old []byte, facts []Line) ([]byte, error) {
	out := slices.Clone(old)
	for _, f := range facts {
		if !l.take(f) {
			continue
		}
		line, err := json.Marshal(f)
		if err != nil {
			return nil, fmt.Errorf("record evidence: %w", err)
		}
		out = append(append(out, line...), '\n')
	}
	if len(out) == 0 {
		return old, nil
	}
	return out, nil
}
