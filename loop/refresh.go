package loop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"si/benchmark"
	"si/benchmark/duel"
	"si/track"
)

// refresh re-reads what the user may have edited since the last round. Each
// change is an event; a broken file ends the run before anything is spent.
func (l *Loop) refresh() error {
	settings, goal, harness, held := l.settings, l.goalText, l.harnText, l.progress.Value
	oldScope := [][]string{l.goal.InScope, l.goal.OutScope}
	if err := l.load(); err != nil {
		return err
	}
	if err := l.holdProgress(held); err != nil {
		return err
	}
	if err := checkSettings(l.settings.Value); err != nil {
		return fmt.Errorf("%s: %w", l.settings.Path, err)
	}
	old, err := settingsByKey(settings.Value)
	if err != nil {
		return err
	}
	changes, err := l.settingsSince(old)
	if err != nil {
		return err
	}
	scope := [][]string{l.goal.InScope, l.goal.OutScope}
	changes = append(changes, textChange("goal.md", goal, l.goalText)...)
	changes = append(changes, textChange("harness.md", harness, l.harnText)...)
	if err := firstOf(l.recordChanges(changes), l.rememberSettings()); err != nil {
		return err
	}
	if err := refuseUnattended(changes, l.settings.Path); err != nil {
		return err
	}
	if !slices.EqualFunc(oldScope, scope, slices.Equal) || strings.TrimSpace(l.goal.Objective) == "" {
		return unattended(l.cfg.Paths.GoalPath, "the scope or the objective")
	}
	return nil
}

// holdProgress keeps what this loop knows of its own progress: while it holds the
// lock nobody else may write agent-settings.json, but for the seed's way of asking
// for a stop. What an agent wrote there is told and written over.
func (l *Loop) holdProgress(held track.AgentSettings) error {
	now := l.progress.Value
	if now.Status == track.StatusUserStopped && held.Status == track.StatusRunning {
		l.helm.askStop() // another tool asked by writing the status
		now.Status = held.Status
	}
	before, err := json.Marshal(held)
	if err != nil {
		return err
	}
	after, err := json.Marshal(now)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	l.progress.Value = held
	if err := l.progress.Save(l.cfg.Store); err != nil {
		return err
	}
	return l.note("%s was changed by something else while the loop ran; what the loop knows was written back", l.progress.Path)
}

// textChange is the event of a document that is text: its hash, since the text
// may be long.
func textChange(name, old, now string) []track.ChangeDetails {
	if old == now {
		return nil
	}
	id := func(text string) json.RawMessage { return json.RawMessage(fmt.Sprintf("\"%016x\"", hash(text))) }
	return []track.ChangeDetails{{Field: name, OldValue: id(old), NewValue: id(now), Source: "user"}}
}

// tellEdits tells the settings that a person changed between two runs.
func (l *Loop) tellEdits() error {
	data, err := os.ReadFile(l.cfg.Paths.SeenSettingsPath())
	if errors.Is(err, os.ErrNotExist) {
		return l.rememberSettings()
	}
	if err != nil {
		return fmt.Errorf("read the settings of the last run: %w", err)
	}
	var seen map[string]json.RawMessage
	if json.Unmarshal(data, &seen) != nil {
		return l.rememberSettings() // damaged: it only ever says what to tell
	}
	changes, err := l.settingsSince(seen)
	if err != nil {
		return err
	}
	return firstOf(l.recordChanges(changes), l.rememberSettings())
}

// rememberSettings keeps the settings as they are now.
func (l *Loop) rememberSettings() error {
	now, err := settingsByKey(l.settings.Value)
	if err != nil {
		return err
	}
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	path := l.cfg.Paths.SeenSettingsPath()
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return l.cfg.Store.Replace(path, data, 0o644)
}

// settingsSince lists the settings whose values differ from old.
func (l *Loop) settingsSince(old map[string]json.RawMessage) ([]track.ChangeDetails, error) {
	now, err := settingsByKey(l.settings.Value)
	if err != nil {
		return nil, err
	}
	var changes []track.ChangeDetails
	for _, key := range sortedUnion(old, now) {
		if !bytes.Equal(old[key], now[key]) {
			changes = append(changes, track.ChangeDetails{Field: key, OldValue: old[key], NewValue: now[key], Source: "user"})
		}
	}
	return changes, nil
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
	return unattended(path, join(guarded))
}

func unattended(path, what string) error {
	return fmt.Errorf("%s: %s changed while the loop ran, and an agent could have done that; look at the file, then start the loop again to go on with it", path, what)
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

func sortedUnion[V any](a, b map[string]V) []string {
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
	_, _, validErr := validationSpec(s)
	m := s.SI.Measure
	duelErr := duel.Config{
		Mode: duel.Noisy, Sigma: 0.01, Alpha: m.Alpha, MinEffect: m.MinEffect, Target: m.Target, MaxRuns: m.MaxRuns,
	}.WithDefaults().Validate()
	if duelErr != nil {
		duelErr = fmt.Errorf("si.measure: %w", duelErr)
	}
	var selErr error
	if m.Selection != "" && m.Selection != "duel" && m.Selection != "seed" {
		selErr = fmt.Errorf("si.measure.selection: %q is neither \"duel\" nor \"seed\"", m.Selection)
	}
	return errors.Join(specErr, sealErr, guardErr, validErr, duelErr, selErr, checkBudget(s.SI.Budget))
}

// checkBudget finds budgets in which no agent could ever start: as much as one task
// may cost is set aside first.
func checkBudget(b track.BudgetOptions) error {
	var errs []error
	for _, c := range []struct {
		field       string
		task, limit float64
	}{
		{"round.cost_usd", b.Task.CostUSD, b.Round.CostUSD},
		{"round.tokens", float64(b.Task.Tokens), float64(b.Round.Tokens)},
		{"cost_usd", b.Task.CostUSD, b.CostUSD},
		{"tokens", float64(b.Task.Tokens), float64(b.Tokens)},
	} {
		if name := strings.TrimPrefix(c.field, "round."); c.limit > 0 && c.task > c.limit {
			errs = append(errs, fmt.Errorf("si.budget: no agent fits: si.budget.task.%s is %g, and si.budget.%s only %g; lower the one or raise the other", name, c.task, c.field, c.limit))
		}
	}
	return errors.Join(errs...)
}
