package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"si/track"
)

// modeFresh is how long a live mode of the seed's own tool counts as alive
// without being refreshed.
const modeFresh = 30 * time.Minute

// modeState is what that tool writes for a mode that is running, and what this
// one writes while a loop runs so that it refuses too.
type modeState struct {
	Mode        string    `json:"mode"`
	Active      bool      `json:"active"`
	Iteration   int       `json:"iteration"`
	StartedAt   time.Time `json:"started_at"`
	RefreshedAt time.Time `json:"refreshed_at"`
}

// refuseOtherModes refuses to start beside a live mode of the seed's own tool:
// both would edit the repository.
func refuseOtherModes(cfg Config) error {
	for _, mode := range []string{"autopilot", "ralph"} {
		files, err := filepath.Glob(filepath.Join(cfg.Paths.StateBase(), "state", "sessions", "*", mode+"-state.json"))
		if err != nil {
			return fmt.Errorf("look for a live %s: %w", mode, err)
		}
		for _, f := range files {
			if alive(f, cfg.Now()) {
				return fmt.Errorf("%w: %s is active in this repository (%s); end it, or wait 30 minutes after it died", ErrNotSetUp, mode, f)
			}
		}
	}
	return nil
}

func alive(path string, now time.Time) bool {
	info, err := os.Stat(path)
	if err != nil || now.Sub(info.ModTime()) > modeFresh || info.Size() > 1<<20 {
		return false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var s struct {
		Active bool `json:"active"`
	}
	return json.Unmarshal(data, &s) == nil && s.Active
}

// modePath is this run's own mark for the other tool.
func (l *Loop) modePath() string {
	session := "si-" + l.cfg.RunID
	if id := l.cfg.Paths.SessionID; id != nil {
		session = *id
	}
	return filepath.Join(l.cfg.Paths.StateBase(), "state", "sessions", session, "self-improve-state.json")
}

// refreshMode says that the loop is alive, once a round.
func (l *Loop) refreshMode(iteration int) error {
	doc, err := track.Load(l.modePath(), modeState{})
	if err != nil {
		return err
	}
	doc.Value = modeState{Mode: "self-improve", Active: true, Iteration: iteration, StartedAt: l.started.UTC(), RefreshedAt: l.cfg.Now().UTC()}
	return doc.Save(l.cfg.Store)
}

// clearMode takes the mark away, and its folder when nothing else is in it.
func (l *Loop) clearMode() error {
	if err := l.cfg.Store.Remove(l.modePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Remove(filepath.Dir(l.modePath())) // fails when the folder is used, as it should
	return nil
}
