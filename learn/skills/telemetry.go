package skills

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	telemetryFile = ".telemetry.json"
	maxTelemetry  = 64 << 20 // bytes
	maxUsedIn     = 20       // tasks remembered of a skill
)

// record is what is counted of one skill.
type record struct {
	UseCount   int        `json:"use_count"`
	ViewCount  int        `json:"view_count"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	CreatedAt  *time.Time `json:"created_at,omitempty"`
	State      State      `json:"state"`
	StaleAt    *time.Time `json:"stale_at,omitempty"` // when it became stale
	Pinned     bool       `json:"pinned"`
	UsedIn     []string   `json:"used_in,omitempty"` // the last tasks, oldest first
}

// telemetry is the file beside the skills: by name. It is never needed to know which
// skills there are.
type telemetry struct {
	Skills map[string]*record `json:"skills"`
}

func (t *telemetry) of(name string) *record {
	r := t.Skills[name]
	if r == nil {
		r = &record{State: Active}
		t.Skills[name] = r
	}
	return r
}

// used counts a use; any use makes a skill active again.
func (r *record) used(at time.Time, task string) {
	r.UseCount++
	r.LastUsedAt, r.State, r.StaleAt = &at, Active, nil
	if task != "" && !slices.Contains(r.UsedIn, task) {
		r.UsedIn = append(r.UsedIn, task)
		r.UsedIn = r.UsedIn[max(0, len(r.UsedIn)-maxUsedIn):]
	}
}

// loadTelemetry reads the counters; a file that is not there has none. fault tells
// of a file that cannot be read.
func loadTelemetry(r *rooted) (t *telemetry, fault error) {
	t = &telemetry{}
	data, err := r.read(telemetryFile, maxTelemetry)
	if err == nil {
		err = json.Unmarshal(data, t)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t, fault = &telemetry{}, fmt.Errorf("the counters of the skills in %s cannot be read and start anew: %w", filepath.Join(r.dir, telemetryFile), err)
	}
	if t.Skills == nil {
		t.Skills = map[string]*record{}
	}
	for name, rec := range t.Skills {
		if rec == nil {
			delete(t.Skills, name)
		}
	}
	return t, fault
}

func (t *telemetry) save(r *rooted) error {
	data, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("count the use of skills: %w", err)
	}
	if err := r.replace(telemetryFile, append(data, '\n')); err != nil {
		return fmt.Errorf("count the use of skills: write %s: %w", filepath.Join(r.dir, telemetryFile), err)
	}
	return nil
}

// setAside keeps a broken file for people, since the next write replaces it.
func setAside(r *rooted) error {
	err := r.rename(telemetryFile, telemetryFile+".broken")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
