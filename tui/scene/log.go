package scene

import (
	"strings"
	"time"

	"si/internal/clean"
	"si/track"
	"si/tui"
)

// Log is one line of what happened.
type Log struct {
	At    time.Time
	Round int
	Text  string
	Mood  Mood
}

// Mood says how a line of the log is to be read.
type Mood int

// The moods of a line.
const (
	Plain Mood = iota
	Quiet
	Good
	Poor
	Warn
)

func (s *Scene) note(e track.Event) {
	if e.Ev == track.EvRunEnded {
		s.Log.Put(Log{At: e.TS, Text: "the run has ended: " + s.Doing(), Mood: Good})
		return
	}
	what := tui.Sentence(e)
	if what == "" {
		return
	}
	what = clean.Line(strings.ReplaceAll(what, "\n", " | "), mostRunes)
	s.Log.Put(Log{At: e.TS, Round: e.Round, Text: what, Mood: moodOf(e)})
}

func moodOf(e track.Event) Mood {
	switch e.Ev { //nolint:exhaustive // the others are plain
	case track.EvMerged, track.EvRunStarted:
		return Good
	case track.EvVerdict:
		if decoded[track.VerdictEvent](e).Accepted {
			return Good
		}
		return Poor
	case track.EvAgentFailed, track.EvAgentSkipped:
		return Poor
	case track.EvWarning, track.EvCheckout, track.EvParked, track.EvControl, track.EvJournalRepair:
		return Warn
	case track.EvAgentStarted, track.EvAgentEnded, track.EvCleanup, track.EvArchived, track.EvMeasured:
		return Quiet
	}
	return Plain
}
