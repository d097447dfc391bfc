package feed

import (
	"errors"
	"io"
	"sync"
	"time"

	"si/track"
)

// longestGap is the longest that a replay waits for the next event, on the clock
// on the wall: nobody watches a benchmark run that is over.
const longestGap = 1500 * time.Millisecond

// Speeds are the speeds of a replay, in seconds of the loop a second.
func Speeds() []float64 { return []float64{0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256} }

// Replay plays a journal again, with the clock of the loop and no longer wait than
// a person likes. Its methods are safe for concurrent use.
type Replay struct {
	mu      sync.Mutex
	paths   track.Paths
	clock   func() time.Time
	journal *track.JournalReader
	from    int // the round to begin with; what came before is shown at once
	speed   float64
	paused  bool
	jump    int // play at once up to this round
	begun   bool
	over    bool
	next    *track.Event
	now     time.Time // of the loop
	wall    time.Time // of the last Read
	doing   []*replayed
}

// replayed is what one agent did, as far as it was not played yet.
type replayed struct {
	key   Key
	left  []track.Activity
	ended bool
}

// NewReplay plays the journal of the track at paths, from the start of a round; 0 is
// the begin of the journal.
func NewReplay(paths track.Paths, clock func() time.Time, round int, speed float64) (*Replay, error) {
	j, err := track.OpenJournalReader(paths.JournalPath(), 0)
	if err != nil {
		return nil, err
	}
	return &Replay{paths: paths, clock: clock, journal: j, from: round, speed: speed}, nil
}

// Now is the time of the loop that is played.
func (r *Replay) Now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Read returns what is due.
func (r *Replay) Read() Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b Batch
	if !r.begun {
		facts := ReadFacts(r.paths)
		facts.Records = nil // they tell the end
		b.Facts = &facts
	}
	b.Err = r.play(&b)
	b.Alive = !r.over
	return b
}

func (r *Replay) play(b *Batch) error {
	if err := r.fetch(); err != nil || r.next == nil {
		return err
	}
	r.tick()
	for r.next != nil && len(b.Events) < mostEvents {
		e := *r.next
		if !r.atOnce(e) && e.TS.After(r.now) {
			break
		}
		if e.TS.After(r.now) {
			r.now = e.TS
		}
		r.see(e)
		b.Events = append(b.Events, e)
		r.next = nil
		if err := r.fetch(); err != nil {
			return err
		}
	}
	b.More = len(b.Events) == mostEvents
	b.Doing = r.due()
	return nil
}

// tick moves the clock of the loop by the time that has passed, and over a gap
// that is too long.
func (r *Replay) tick() {
	wall := r.clock()
	if !r.begun {
		r.begun, r.wall, r.now = true, wall, r.next.TS
	}
	passed := wall.Sub(r.wall)
	r.wall = wall
	if r.paused {
		return
	}
	r.now = r.now.Add(time.Duration(float64(passed) * r.speed))
	gap := time.Duration(float64(longestGap) * r.speed)
	if latest := r.next.TS.Add(-gap); r.now.Before(latest) && len(r.doing) == 0 {
		r.now = latest
	}
}

// atOnce says whether an event is not waited for: it lies before the round to begin
// with, or before the one that was jumped to.
func (r *Replay) atOnce(e track.Event) bool {
	if r.from > 0 {
		if e.Ev != track.EvRoundStarted || e.Round < r.from {
			return true
		}
		r.from = 0
		r.now = e.TS
	}
	if r.jump > 0 {
		if e.Ev != track.EvRunEnded && (e.Ev != track.EvRoundStarted || e.Round < r.jump) {
			return true
		}
		r.jump = 0
		r.now = e.TS
	}
	return false
}

// fetch reads the next event when none waits.
func (r *Replay) fetch() error {
	for r.next == nil && !r.over {
		e, err := r.journal.Next()
		var damage *track.FileError
		switch {
		case errors.Is(err, io.EOF):
			r.over = true
		case errors.As(err, &damage):
			continue
		case err != nil:
			r.over = true
			return err
		default:
			r.next = &e
		}
	}
	return nil
}

// see reads what an agent that starts will do.
func (r *Replay) see(e track.Event) {
	switch e.Ev { //nolint:exhaustive // agents only
	case track.EvAgentStarted:
		var d track.AgentEvent
		if e.Decode(&d) != nil {
			return
		}
		g := agents{paths: r.paths}
		a := g.files(e.Round, d)
		did, _ := a.read()
		a.close()
		r.doing = append(r.doing, &replayed{key: a.key, left: append(did.Did, printed(did.Printed, e.TS)...)})
	case track.EvAgentEnded, track.EvAgentFailed:
		var d track.AgentEvent
		if e.Decode(&d) != nil {
			return
		}
		for _, p := range r.doing {
			p.ended = p.ended || p.key.ID == d.ID
		}
	}
}

// printed makes activity of the lines of a log.
func printed(lines []string, at time.Time) (out []track.Activity) {
	for _, l := range lines {
		out = append(out, track.Activity{At: at, Kind: "text", Text: l + "\n"})
	}
	return out
}

// due is what the agents have done by now.
func (r *Replay) due() (out []Doing) {
	left := r.doing[:0]
	for _, p := range r.doing {
		n := 0
		for n < len(p.left) && (p.ended || !p.left[n].At.After(r.now)) {
			n++
		}
		if n > 0 {
			out = append(out, Doing{Agent: p.key, Did: p.left[:n]})
			p.left = p.left[n:]
		}
		if !p.ended {
			left = append(left, p)
		}
	}
	r.doing = left
	return out
}

// Over reports whether everything was played.
func (r *Replay) Over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over && r.next == nil
}

// Toggle pauses the replay, or goes on with it.
func (r *Replay) Toggle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused = !r.paused
}

// Turn makes it faster or slower by steps of Speeds, within their range.
func (r *Replay) Turn(steps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	speeds, at := Speeds(), 0
	for i, s := range speeds {
		if s <= r.speed {
			at = i
		}
	}
	r.speed = speeds[max(0, min(len(speeds)-1, at+steps))]
}

// Jump plays at once what is left before a round.
func (r *Replay) Jump(round int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jump = round
}

// Pace is how fast it plays, and whether it stands still.
func (r *Replay) Pace() (speed float64, paused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.speed, r.paused
}

// Close lets go of the journal.
func (r *Replay) Close() error { return r.journal.Close() }

var (
	_ Feed = (*Follow)(nil)
	_ Feed = (*Replay)(nil)
)
