package track

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"si/internal/durable"
)

// loaders load each kind of document from a path.
func loaders() map[string]struct {
	load func(path string) error
	good string
} {
	type loader = struct {
		load func(path string) error
		good string
	}
	return map[string]loader{
		"settings":  {loadAs[Settings](adoptedSettings()), `{"number_of_agents": 3}`},
		"progress":  {loadAs[AgentSettings](AgentSettings{}), `{"iterations": 3, "status": "idle"}`},
		"iteration": {loadAs[IterationState](IterationState{}), `{"iteration": 3, "status": "completed"}`},
		"brief":     {loadAs[Brief](Brief{}), `{"iteration": 3, "researcher_id": "r", "repo_analysis_summary": "s"}`},
		"history":   {loadAs[History](History{}), `{"iteration": 3}`},
		"merge":     {loadAs[MergeReport](MergeReport{}), `{"iteration": 3, "goal_slug": "g", "status": "no_winner"}`},
		"baseline":  {loadAs[Baseline](Baseline{}), `{"baseline_score": 3}`},
		"raw":       {loadListAs[RawRecord], `[{"iteration": 3, "plan_id": "p"}]`},
		"events":    {loadListAs[ChangeEvent], `[{"iteration": 3, "timestamp": "2026-03-14T15:09:26Z", "event_type": "config_change"}]`},
		"plan":      {loadAs[Plan](Plan{}), goodPlan()},
		"result":    {loadAs[Result](Result{}), goodResult()},
	}
}

func loadAs[T any](def T) func(string) error {
	return func(path string) error {
		_, err := Load(path, def)
		return err
	}
}

func loadListAs[T Keyed](path string) error {
	_, err := LoadList[T](path)
	return err
}

func goodPlan() string {
	return `{"plan_id": "round_1_planner_a", "planner_id": "planner_a", "round": 1, "hypothesis": "h",
"approach_family": "data", "critic_approved": false, "target_files": ["a.go"], "steps": [{"step": 1, "file": "a.go", "change": "c"}],
"expected_outcome": {"metric": "m", "estimated_impact": "i", "rationale": "r", "sub_score_expectations": {}},
"history_reference": {"builds_on": [], "avoids": []}}`
}

func goodResult() string {
	return `{"executor_id": "executor_a", "plan_id": "round_1_planner_a", "benchmark_score": 3, "benchmark_raw": "3",
"status": "success", "sub_scores": null, "failure_analysis": null, "timestamp": "2026-03-14T15:09:26Z"}`
}

// mangle makes broken variants of a good document; line is where the damage is,
// 0 where no line can be named.
func mangle(good string) map[string]struct {
	text string
	line int
} {
	open, rest := good[:1], good[1:]
	if open == "[" {
		open, rest = good[:2], good[2:]
	}
	type variant = struct {
		text string
		line int
	}
	put := func(member string) variant { return variant{open + "\n\"zz_unknown\": " + member + ",\n" + rest, 2} }
	return map[string]variant{
		"truncated":          {good[:len(good)-2], 1 + strings.Count(good, "\n")},
		"empty":              {"", 0},
		"blank":              {" \n ", 0},
		"byte order mark":    {"\ufeff" + good, 1},
		"binary":             {"\x7fELF\x00\x01\xff\xfe", 1},
		"broken utf-8":       {open + "\n\"a\xff\": 1, " + rest, 2},
		"nan":                put("NaN"),
		"infinity":           put("Infinity"),
		"minus infinity":     put("-Infinity"),
		"too large":          put("1e999"),
		"digits without end": put("1" + strings.Repeat("0", 400)),
		"duplicate keys":     put(`{"a": 1, "a": 2}`),
		"deep nesting":       put(strings.Repeat("[", 200) + strings.Repeat("]", 200)),
		"very deep nesting":  {strings.Repeat("[", 100_000), 1},
		"trailing garbage":   {good + "\n}", 2 + strings.Count(good, "\n")},
		"two documents":      {good + "\n" + good, 2 + strings.Count(good, "\n")},
		"another type":       {`"text"`, 1},
		"a number":           {`3`, 1},
		"wrong member":       {strings.Replace(good, ": 3", ": {}", 1), 1},
	}
}

func TestMangledDocuments(t *testing.T) {
	for kind, l := range loaders() {
		t.Run(kind, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), kind+".json")
			write(t, path, l.good)
			if err := l.load(path); err != nil {
				t.Fatalf("the good document is refused: %v", err)
			}
			for name, m := range mangle(l.good) {
				if m.text == l.good {
					continue // no whole number in this document
				}
				write(t, path, m.text)
				err := l.load(path)
				var fe *FileError
				if !errors.As(err, &fe) || fe.Path != path || fe.What == "" || fe.Hint == "" {
					t.Errorf("%s: got %v, want a FileError", name, err)
					continue
				}
				if m.line > 0 && fe.Line != m.line && name != "wrong member" {
					t.Errorf("%s: line %d, want %d (%v)", name, fe.Line, m.line, err)
				}
				if now, _ := os.ReadFile(path); string(now) != m.text {
					t.Errorf("%s: the file on disk was touched", name)
				}
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"null document", "null", ":1: the document is null"},
		{"a key in other letters", "{\n\n\"Number_Of_Agents\": 9}", ":3: Number_Of_Agents: the key is written number_of_agents"},
		{"the same below", "{\"si\": {\n\"budget\": {\"WALL_hours\": 9}}}", ":2: WALL_hours: the key is written wall_hours"},
		{"a wrong type", "{\n\"max_iterations\": \"ten\"}", ":2: max_iterations: want a whole number, found string"},
		{"a fraction for a count", "{\n\"max_iterations\": 1.5}", ":2: max_iterations: want a whole number"},
		{"a bad threshold", "{\n\n\"plateau_threshold\": \"some\"}", `:3: plateau_threshold: "some" is neither`},
		{"a null sub-score", "", ""},
		{"the line of a list's element", "{\"sealed_files\": [\n\"a\",\n\"b\",\n\"/c\"]}", ":4: sealed_files[2]: the path \"/c\" cannot be used"},
		{"the line of a nested key", "{\"max_runs\": 1, \"si\": {\n\"measure\": {\n\"max_runs\": -1}}}", ":3: si.measure.max_runs: -1 is less than 0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.text == "" {
				checkNullSubScore(t)
				return
			}
			path := filepath.Join(t.TempDir(), "settings.json")
			write(t, path, c.text)
			_, err := Load(path, adoptedSettings())
			if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func checkNullSubScore(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "result.json")
	write(t, path, strings.Replace(goodResult(), `"sub_scores": null`, `"sub_scores": {"p99": null}`, 1))
	_, err := Load(path, Result{})
	if err == nil || !strings.Contains(err.Error(), ":2: sub_scores: p99: want a number, found null") {
		t.Errorf("got %v", err)
	}
}

func TestLoadTimeWithoutZone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline.json")
	write(t, path, "{\"baseline_score\": 1,\n\"recorded_at\": \"2026-03-14 15:09\"}")
	_, err := Load(path, Baseline{})
	if err == nil || !strings.Contains(err.Error(), `:2: "2026-03-14 15:09" is not a time such as`) {
		t.Errorf("got %v", err)
	}
}

func TestLoadNotAFile(t *testing.T) {
	dir := t.TempDir()
	var fe *FileError
	if _, err := Load(dir, Baseline{}); !errors.As(err, &fe) {
		t.Errorf("a folder: got %v", err)
	}
	big := filepath.Join(dir, "big.json")
	write(t, big, "{}")
	if err := os.Truncate(big, maxDocument+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(big, Baseline{}); !errors.As(err, &fe) {
		t.Errorf("a huge file: got %v", err)
	}
}

func TestSettingsDefaults(t *testing.T) {
	dir := t.TempDir()
	p, err := Resolve(ResolveInput{WorkDir: dir, Slug: "x"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := LoadSettings(p)
	if err != nil || f.Exists || f.Value.PlateauThreshold.String() != "0.5%" || f.Value.TopicSlug != "x" {
		t.Errorf("new track: %+v, %v", f.Value, err)
	}
	if faults := f.Value.Faults(); len(faults) > 0 {
		t.Errorf("the defaults are at fault: %v", faults)
	}
	write(t, p.SettingsPath, "{}")
	f, err = LoadSettings(p)
	if err != nil || !f.Exists || f.Value.PlateauThreshold.String() != "0.01" || f.Value.NumberOfAgents != 3 {
		t.Errorf("old track: %+v, %v", f.Value, err)
	}
}

// TestOverlay changes a document in memory and wants in the file what was set,
// and everything else as it was.
func TestOverlay(t *testing.T) {
	type item struct {
		ID string `json:"id"`
		N  int    `json:"n,omitempty"`
	}
	type part struct {
		A int   `json:"a,omitempty"`
		B *item `json:"b,omitempty"`
	}
	type doc struct {
		Name string          `json:"name"`
		Part part            `json:"part,omitempty"`
		List []item          `json:"list"`
		Map  map[string]item `json:"map"`
		At   time.Time       `json:"at"`
	}
	cases := []struct {
		name, before string
		change       func(*doc)
		want         string
	}{
		{"nothing", `{"z":1,"name":"\u00e9","part":{"x":1.0},"list":null,"at":"2026-01-01T00:00:00+00:00"}`, func(*doc) {}, `{"z":1,"name":"\u00e9","part":{"x":1.0},"list":null,"at":"2026-01-01T00:00:00+00:00","map":null}`},
		{"unknown keys of an empty part stay", `{"name":"a","part":{"a":1,"x":2}}`, func(d *doc) { d.Part.A = 0 }, `{"name":"a","part":{"x":2},"list":null,"map":null,"at":"0001-01-01T00:00:00Z"}`},
		{"an empty part goes", `{"name":"a","part":{"a":1}}`, func(d *doc) { d.Part.A = 0 }, `{"name":"a","list":null,"map":null,"at":"0001-01-01T00:00:00Z"}`},
		{"a removed object goes", `{"name":"a","part":{"x":1,"b":{"id":"i","y":2}}}`, func(d *doc) { d.Part.B = nil }, `{"name":"a","part":{"x":1},"list":null,"map":null,"at":"0001-01-01T00:00:00Z"}`},
		{"an element that moved keeps its own", `{"name":"a","list":[{"id":"1","x":1},{"id":"2","x":2},{"id":"3"}]}`, func(d *doc) { d.List = []item{{ID: "0"}, {ID: "2", N: 5}} }, `{"name":"a","list":[{"id":"0"},{"id":"2","x":2,"n":5}],"map":null,"at":"0001-01-01T00:00:00Z"}`},
		{"a map keeps its order", `{"name":"a","map":{"q":{"id":"1","x":1},"b":{"id":"2"}}}`, func(d *doc) { delete(d.Map, "b"); d.Map["a"] = item{ID: "3"} }, `{"name":"a","map":{"q":{"id":"1","x":1},"a":{"id":"3"}},"list":null,"at":"0001-01-01T00:00:00Z"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var d doc
			if err := json.Unmarshal([]byte(c.before), &d); err != nil {
				t.Fatal(err)
			}
			c.change(&d)
			got, err := overlay(json.RawMessage(c.before), reflect.ValueOf(&d))
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s\nwant %s (%v)", got, c.want, err)
			}
		})
	}
}

func TestSaveRefusesNaN(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline.json")
	f := File[Baseline]{Path: path, Value: Baseline{Score: nan()}}
	if err := f.Save(&durable.Store{}); err == nil {
		t.Error("NaN was written")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was left behind")
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func TestAppendListIsIdempotent(t *testing.T) {
	p := copyTrack(t, "topic", ResolveInput{Topic: "Parser"})
	s := &durable.Store{}
	score := 17.0
	fresh := RawRecord{Iteration: 3, PlanID: "round_3_planner_a", BenchmarkScore: &score, ApproachFamily: "data"}
	for range 2 {
		if err := AppendList(s, p.RawDataPath, fresh); err != nil {
			t.Fatal(err)
		}
	}
	changed := RawRecord{Iteration: 1, PlanID: "round_1_planner_a", BenchmarkScore: &score, ApproachFamily: "optimization"}
	if err := AppendList(s, p.RawDataPath, changed); err != nil {
		t.Fatal(err)
	}
	l, err := LoadList[RawRecord](p.RawDataPath)
	if err != nil || len(l.Items) != 5 || l.Items[4].PlanID != fresh.PlanID || *l.Items[0].BenchmarkScore != 17 {
		t.Errorf("got %+v, %v", l.Items, err)
	}
	if !strings.Contains(string(l.raw[0]), `"host": "night"`) {
		t.Errorf("the unknown key of a record is lost: %s", l.raw[0])
	}
}
