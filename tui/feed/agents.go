package feed

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"si/internal/clean"
	"si/track"
)

// mostTails bounds the files that are followed at once.
const mostTails = 64

// activity is what is followed of one agent.
type activity struct {
	key   Key
	doing tail // what it did, one JSON object a line
	log   tail // what it printed: only when it writes no activity
	plain bool // a program without events of its own: what it prints is all there is
	ended bool
}

// agents follows the files of the agents at work.
type agents struct {
	paths track.Paths
	open  []*activity
}

// see opens what belongs to an agent that starts, and marks what belongs to one
// that ends: it is read once more and then let go.
func (g *agents) see(e track.Event) {
	var d track.AgentEvent
	switch e.Ev { //nolint:exhaustive // agents only
	case track.EvAgentStarted:
		if e.Decode(&d) == nil && g.room() {
			g.open = append(g.open, g.files(e.Round, d))
		}
	case track.EvAgentEnded, track.EvAgentFailed:
		if e.Decode(&d) != nil {
			return
		}
		for _, a := range g.open {
			if a.key.Round == e.Round && a.key.ID == d.ID {
				a.ended = true
			}
		}
	case track.EvRunStarted, track.EvRunEnded:
		for _, a := range g.open {
			a.ended = true
		}
	}
}

// room makes room for one more: the oldest one that has ended gives way. A journal
// that is read from its start tells of thousands.
func (g *agents) room() bool {
	if len(g.open) < mostTails {
		return true
	}
	for i, a := range g.open {
		if a.ended {
			a.close()
			g.open = append(g.open[:i], g.open[i+1:]...)
			return true
		}
	}
	return false
}

// files names the files of an agent: those that its event names, in the folder of
// its round whatever the event says, since a track can have been moved and a
// journal can lie.
func (g *agents) files(round int, d track.AgentEvent) *activity {
	attempt := max(1, d.Attempt)
	doing := g.paths.ActivityPath(round, filepath.Base(d.ID), attempt)
	if d.Doing != "" {
		doing = filepath.Join(g.paths.LogDir(round), filepath.Base(d.Doing))
	}
	log := g.paths.LogPath(round, d.ID)
	if d.Log != "" {
		log = filepath.Join(g.paths.LogDir(round), filepath.Base(d.Log))
	}
	return &activity{
		key: Key{round, d.ID, attempt}, doing: tail{path: doing}, log: tail{path: log}, plain: strings.HasPrefix(d.Backend, "command:"),
	}
}

// read reads what the agents have done since the last call.
func (g *agents) read() (out []Doing) {
	left := g.open[:0]
	for _, a := range g.open {
		if d, any := a.read(); any {
			out = append(out, d)
		}
		if a.ended {
			a.close()
			continue
		}
		left = append(left, a)
	}
	g.open = left
	return out
}

// read gives what is new of one agent. A file that cannot be read has nothing: the
// pane stays empty and the loop goes on.
func (a *activity) read() (d Doing, any bool) {
	d.Agent = a.key
	lines, dropped, err := a.doing.lines()
	d.Dropped = dropped
	for _, l := range lines {
		var v track.Activity
		if json.Unmarshal(l, &v) == nil {
			d.Did = append(d.Did, v)
		}
	}
	if a.plain || err == nil && a.doing.f == nil { // no activity is written
		lines, dropped, _ := a.log.lines()
		d.Dropped += dropped
		for _, l := range lines {
			d.Printed = append(d.Printed, clean.Text(l))
		}
	}
	return d, len(d.Did) > 0 || len(d.Printed) > 0 || d.Dropped > 0
}

func (g *agents) close() {
	for _, a := range g.open {
		a.close()
	}
}

func (a *activity) close() {
	a.doing.close()
	a.log.close()
}
