package loop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"si/benchmark"
	"si/benchmark/duel"
	"si/track"
)

// refresh re-reads what the user may have edited since the last round. Each
// changed setting is an event; a broken file ends the run before anything is
// spent.
func (l *Loop) refresh() error {
	old := l.settings
	stopped := l.progress.Value.Status
	if err := l.load(); err != nil {
		return err
	}
	if missing := MissingGates(l.progress.Value); len(missing) > 0 {
		return fmt.Errorf("%w: missing %s; run 'si init'", ErrNotSetUp, join(missing))
	}
	if l.progress.Value.Status == track.StatusUserStopped && stopped == track.StatusRunning {
		l.stop.asked.Store(true) // another tool asked by writing the status
	}
	if err := checkSettings(l.settings.Value); err != nil {
		return fmt.Errorf("%s: %w", l.settings.Path, err)
	}
	return l.reportChanges(old.Value, l.settings.Value)
}

func (l *Loop) reportChanges(old, now track.Settings) error {
	before, err := settingsByKey(old)
	if err != nil {
		return err
	}
	after, err := settingsByKey(now)
	if err != nil {
		return err
	}
	var changes []track.ChangeDetails
	for _, key := range sortedUnion(before, after) {
		if !bytes.Equal(before[key], after[key]) {
			changes = append(changes, track.ChangeDetails{Field: key, OldValue: before[key], NewValue: after[key], Source: "user"})
		}
	}
	if err := l.recordChanges(changes); err != nil {
		return err
	}
	return refuseUnattended(changes, l.settings.Path)
}

// refuseUnattended stops a loop in which what decides about scores was changed
// while agents could write there: nobody can tell the user's edit from theirs. A
// person who starts the loop again has seen it.
func refuseUnattended(changes []track.ChangeDetails, path string) error {
	var guarded []string
	for _, c := range changes {
		switch c.Field {
		case "benchmark_command", "benchmark_format", "benchmark_direction", "primary_metric", "sealed_files", "si":
			guarded = append(guarded, c.Field)
		}
	}
	if len(guarded) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s changed while the loop ran, and an agent could have done that; look at the file, then start the loop again to go on with it", path, join(guarded))
}

func (l *Loop) recordChanges(changes []track.ChangeDetails) error {
	if len(changes) == 0 {
		return nil
	}
	round := l.progress.Value.Iterations + 1
	var list []track.ChangeEvent
	for _, c := range changes {
		if err := l.events.emit(track.EvConfigChange, round, "user", c); err != nil {
			return err
		}
		list = append(list, track.ChangeEvent{Timestamp: l.cfg.Now().UTC(), EventType: "config_change", Iteration: round, Details: c})
	}
	return track.AppendList(l.cfg.Store, l.cfg.Paths.EventsPath, list...)
}

func settingsByKey(s track.Settings) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var m map[string]json.RawMessage
	err = json.Unmarshal(raw, &m)
	return m, err
}

func sortedUnion(a, b map[string]json.RawMessage) []string {
	all := make(map[string]bool, len(a))
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return sortedKeys(all)
}

// checkSettings finds what the settings' own types cannot: patterns, bounds and
// the numbers of the duel.
func checkSettings(s track.Settings) error {
	_, specErr := benchmark.SpecOf(s)
	_, sealErr := benchmark.NewSeals(s.SealedFiles)
	if sealErr != nil {
		sealErr = fmt.Errorf("sealed_files: %w", sealErr)
	}
	_, guardErr := benchmark.GuardsOf(s)
	m := s.SI.Measure
	duelErr := duel.Config{
		Mode: duel.Noisy, Sigma: 0.01, Alpha: m.Alpha, MinEffect: m.MinEffect, Target: m.Target, MaxRuns: m.MaxRuns,
	}.WithDefaults().Validate()
	if duelErr != nil {
		duelErr = fmt.Errorf("si.measure: %w", duelErr)
	}
	var selErr error
	if m.Selection != "" && m.Selection != "seed" {
		selErr = fmt.Errorf("si.measure.selection: %q is neither empty (the duel) nor \"seed\"", m.Selection)
	}
	return errors.Join(specErr, sealErr, guardErr, duelErr, selErr)
}
