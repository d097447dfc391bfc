package track

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"si/internal/durable"
)

// seedTracks are tracks as the seed's tool writes them: json.dump of Python,
// null lists, unknown keys, no newline at the end.
func seedTracks() map[string]ResolveInput {
	return map[string]ResolveInput{
		"topic":   {Topic: "Parser"},
		"flat":    {},
		"session": {SessionID: "s-42"},
	}
}

// copyTrack gives a writable copy of a track of testdata.
func copyTrack(t *testing.T, name string, in ResolveInput) Paths {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	in.WorkDir, in.Env = dir, env("OMC_STATE_DIR", dir)
	p, err := Resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSeedTracksLoad(t *testing.T) {
	for name, in := range seedTracks() {
		t.Run(name, func(t *testing.T) {
			p := copyTrack(t, name, in)
			settings, err := LoadSettings(p)
			if err != nil || !settings.Exists || settings.Value.PrimaryMetric != "latency_ms" || settings.Value.PlateauThreshold.Relative {
				t.Errorf("settings %+v, %v", settings.Value, err)
			}
			progress, err := LoadProgress(p)
			if err != nil || progress.Value.Status != StatusUserStopped || *progress.Value.BestScore != 18 {
				t.Errorf("progress %+v, %v", progress.Value, err)
			}
			state, err := LoadIteration(p)
			if err != nil || state.Value.CurrentStep != StepExecution || len(state.Value.Planning.Plans) != 2 {
				t.Errorf("iteration %+v, %v", state.Value, err)
			}
			history, err := LoadHistory(p, progress.Value.Iterations)
			if err != nil || len(history) != progress.Value.Iterations || history[0].Winner == nil {
				t.Errorf("history %+v, %v", history, err)
			}
			if b, err := LoadBaseline(p); err != nil || b.Value.Score != 24 {
				t.Errorf("baseline %+v, %v", b.Value, err)
			}
			goal, _, err := LoadGoal(p)
			if err != nil || goal.Metric != "latency_ms" || len(goal.InScope) != 2 || len(goal.Milestones) != 2 {
				t.Errorf("goal %+v, %v", goal, err)
			}
			harness, _, err := LoadHarness(p)
			if err != nil || len(harness.Rules) != 3 || len(harness.Custom) != 1 || len(harness.Families) != 2 {
				t.Errorf("harness %+v, %v", harness, err)
			}
			if data, err := LoadIdeas(p); err != nil || Ideas(data) != "" {
				t.Errorf("ideas %q, %v", data, err)
			}
			n := state.Value.Iteration
			if faults, err := Validate(ValidateInput{Plan: p.PlanPath(n, "planner_a"), Families: harness.AllFamilies()}); err != nil || len(faults) > 0 {
				t.Errorf("plan: %v, %v", faults, err)
			}
		})
	}
}

// saveAll loads and saves each document of a track, unchanged.
func saveAll(t *testing.T, p Paths) {
	t.Helper()
	s := &durable.Store{}
	resave[Settings](t, s, p.SettingsPath)
	resave[AgentSettings](t, s, p.AgentSettingsPath)
	resave[IterationState](t, s, p.IterationStatePath)
	resave[Baseline](t, s, p.BaselinePath)
	resave[Brief](t, s, p.BriefPath(1))
	resave[History](t, s, p.HistoryPath(1))
	resave[MergeReport](t, s, p.MergeReportPath(1))
	resave[Plan](t, s, p.ArchivedPlanPath(1, "planner_a"))
	raw, err := LoadList[RawRecord](p.RawDataPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := AppendList(s, p.RawDataPath, raw.Items...); err != nil {
		t.Fatal(err)
	}
	events, err := LoadList[ChangeEvent](p.EventsPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := AppendList(s, p.EventsPath, events.Items...); err != nil {
		t.Fatal(err)
	}
}

func resave[T any](t *testing.T, s *durable.Store, path string) {
	t.Helper()
	var zero T
	f, err := Load(path, zero)
	if err != nil || !f.Exists {
		t.Fatalf("load %s: %v", path, err)
	}
	if err := f.Save(s); err != nil {
		t.Fatal(err)
	}
}

// TestSeedTracksKeepEverything saves every document and wants each key, each
// value and their order as they were; our own keys may have been added.
func TestSeedTracksKeepEverything(t *testing.T) {
	for name, in := range seedTracks() {
		t.Run(name, func(t *testing.T) {
			p := copyTrack(t, name, in)
			before := jsonFiles(t, p.Root)
			saveAll(t, p)
			for path, was := range before {
				now, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				assertKept(t, path, was, now)
			}
		})
	}
}

func jsonFiles(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".json" {
			files[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// assertKept wants all of before in after, in its order and its spelling.
func assertKept(t *testing.T, at string, before, after json.RawMessage) {
	t.Helper()
	was, err := parseObject(before)
	if err == nil {
		now, err := parseObject(after)
		if err != nil {
			t.Errorf("%s: %v", at, err)
			return
		}
		for i, m := range was {
			if i >= len(now) || now[i].key != m.key {
				t.Errorf("%s: key %d is not %s any more", at, i, m.key)
				return
			}
			assertKept(t, at+"."+m.key, m.value, now[i].value)
		}
		return
	}
	var wasList, nowList []json.RawMessage
	if json.Unmarshal(before, &wasList) == nil && wasList != nil {
		if err := json.Unmarshal(after, &nowList); err != nil || len(nowList) != len(wasList) {
			t.Errorf("%s: the list is now %s", at, after)
			return
		}
		for i := range wasList {
			assertKept(t, at, wasList[i], nowList[i])
		}
		return
	}
	if !bytes.Equal(before, after) {
		t.Errorf("%s: was %s, is %s", at, before, after)
	}
}

func TestSaveChangesOnlyWhatChanged(t *testing.T) {
	p := copyTrack(t, "topic", ResolveInput{Topic: "Parser"})
	s := &durable.Store{}
	f, err := LoadIteration(p)
	if err != nil {
		t.Fatal(err)
	}
	e := f.Value.Execution.Executors["executor_a"]
	score := 17.5
	e.Status, e.BenchmarkScore = MarkCompleted, &score
	f.Value.Execution.Executors["executor_a"] = e
	if err := f.Save(s); err != nil {
		t.Fatal(err)
	}
	again, err := LoadIteration(p)
	if err != nil || *again.Value.Execution.Executors["executor_a"].BenchmarkScore != 17.5 {
		t.Errorf("got %+v, %v", again.Value.Execution, err)
	}
	data, err := os.ReadFile(p.IterationStatePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"agent": "researcher"`, `"retries": 1`, `"user_ideas_consumed": null`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("%s is lost:\n%s", want, data)
		}
	}
}
