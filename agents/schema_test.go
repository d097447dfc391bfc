package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// forms are the schemas of all roles that answer with a document.
func forms(t *testing.T) map[string]form {
	t.Helper()
	out := map[string]form{}
	keep := func(name string, f form, err error) {
		if err != nil {
			t.Fatal(err)
		}
		out[name] = f
	}
	task := sampleTask(Planner, "planner_a")
	f, err := briefContract(task).form()
	keep("researcher", f, err)
	f, err = planContract(task).form()
	keep("planner_ideas", f, err)
	task.Facts.UserIdeas = ""
	f, err = planContract(task).form()
	keep("planner", f, err)
	f, err = architectContract().form()
	keep("architect", f, err)
	f, err = criticContract().form()
	keep("critic", f, err)
	return out
}

func TestSchemasGolden(t *testing.T) {
	for name, f := range forms(t) {
		strict, err := StrictSchema(f.wanted)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		for _, schema := range []json.RawMessage{f.wanted, strict} {
			if err := json.Indent(&out, schema, "", "  "); err != nil {
				t.Fatal(err)
			}
			out.WriteByte('\n')
		}
		compareGolden(t, "schema_"+name+".golden", out.String())
	}
}

// What strict mode wants holds at every depth.
func TestStrictSchemasAreStrict(t *testing.T) {
	var walk func(t *testing.T, path string, node map[string]any)
	walk = func(t *testing.T, path string, node map[string]any) {
		t.Helper()
		if properties, ok := node["properties"].(map[string]any); ok {
			var required []string
			for _, name := range node["required"].([]any) {
				required = append(required, name.(string))
			}
			if names := slices.Sorted(maps.Keys(properties)); !slices.Equal(names, slices.Sorted(slices.Values(required))) || node["additionalProperties"] != false {
				t.Errorf("%s: properties %q, required %q, additional %v", path, names, required, node["additionalProperties"])
			}
			for name, p := range properties {
				walk(t, path+"/"+name, p.(map[string]any))
			}
		} else if types, _ := json.Marshal(node["type"]); bytes.Contains(types, []byte("object")) {
			t.Errorf("%s: an object without properties", path)
		}
		if items, ok := node["items"].(map[string]any); ok {
			walk(t, path+"/items", items)
		}
	}
	for name, f := range forms(t) {
		strict, err := StrictSchema(f.wanted)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(strict, &doc); err != nil {
			t.Fatal(err)
		}
		walk(t, name, doc)
	}
}

func TestStrictSchemaOfAnything(t *testing.T) {
	for in, want := range map[string]string{
		`true`: `true`,
		`{"type":"object","properties":{"a":{"type":"string","minLength":3,"enum":["x"]},"b":{"type":"integer"}},"required":["b"]}`: `{"additionalProperties":false,"properties":{"a":{"enum":["x",null],"type":["string","null"]},"b":{"type":"integer"}},"required":["a","b"],"type":"object"}`,
		`{"type":"array","items":{"type":"object","additionalProperties":{"type":"string"}}}`:                                       `{"items":{"additionalProperties":false,"properties":{},"required":[],"type":"object"},"type":"array"}`,
		`{"type":"object","properties":{"default":{"type":"null"}},"required":["default"],"default":{}}`:                            `{"additionalProperties":false,"properties":{"default":{"type":"null"}},"required":["default"],"type":"object"}`,
		`{"anyOf":[{"type":"object","properties":{"a":{"type":["string"]}}}]}`:                                                      `{"anyOf":[{"additionalProperties":false,"properties":{"a":{"type":["string","null"]}},"required":["a"],"type":"object"}]}`,
	} {
		got, err := StrictSchema(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s becomes %s, %v; want %s", in, got, err, want)
		}
	}
	if _, err := StrictSchema(json.RawMessage(`{`)); err == nil {
		t.Error("a broken schema is taken")
	}
}

func TestEveryWrongTypeIsTold(t *testing.T) {
	object := `{"hypothesis": 1, "approach_family": null, "target_files": ["a.go", 2, {}], "critic_approved": "yes",
		"steps": [{"step": "one", "file": "a.go", "change": ["x"]}, 7, {"step": 3, "file": "../x", "change": "y"}],
		"expected_outcome": {"metric": 1, "rationale": true, "sub_score_expectations": {"a": 1, "b": "up"}}, "history_reference": {"builds_on": "x"}}`
	_, f := planContract(sampleTask(Planner, "planner_a")).parse(object)
	want := []string{
		"expected_outcome.metric: want a text, found number, at /expected_outcome/metric",
		"expected_outcome.rationale: want a text, found boolean, at /expected_outcome/rationale",
		"history_reference.builds_on: want a list, found string, at /history_reference/builds_on",
		"hypothesis: want a text, found number, at /hypothesis",
		"steps: want a whole number, found string, at /steps/0/step",
		"steps: want a text, found array, at /steps/0/change",
		"steps: want an object, found number, at /steps/1",
		"target_files: want a text, found number, at /target_files/1",
		"target_files: want a text, found object, at /target_files/2",
		"approach_family: missing",
		"steps[2].file: ",
		"expected_outcome.estimated_impact: missing",
	}
	for _, w := range want {
		if !slices.ContainsFunc(f.faults, func(fault string) bool { return strings.HasPrefix(fault, w) }) {
			t.Errorf("not told: %s", w)
		}
	}
	if len(f.faults) != len(want) {
		t.Errorf("%d faults, want %d:\n%s", len(f.faults), len(want), strings.Join(f.faults, "\n"))
	}
}

func TestPointers(t *testing.T) {
	if got := pointer([]string{"a/b", "~c", "0"}); got != "/a~1b/~0c/0" {
		t.Errorf("pointer %s", got)
	}
}

// document is a backend that gives its answer apart from its text.
type document struct{ answers []Answer }

func (d *document) Run(_ context.Context, t Task) (Answer, error) {
	if len(d.answers) == 0 {
		return Answer{}, errors.New("one run too many")
	}
	a := d.answers[0]
	d.answers = d.answers[1:]
	var s jsonschema.Schema
	if err := json.Unmarshal(t.Schema, &s); err != nil || !slices.Contains(s.Required, "hypothesis") {
		return Answer{}, errors.New("it was not told the schema")
	}
	return a, nil
}

func TestADocumentGivenApartIsPreferred(t *testing.T) {
	good := planJSON(t, nil)
	object := good[strings.Index(good, "{") : strings.LastIndex(good, "}")+1]
	other := planJSON(t, map[string]any{"hypothesis": "Another"})
	for _, tc := range []struct {
		name    string
		answers []Answer
		want    string
	}{
		{"the document", []Answer{{Text: other, JSON: json.RawMessage(object)}}, "Reusing the buffer helps"},
		{"no document", []Answer{{Text: other}}, "Another"},
		{"a broken document", []Answer{{Text: other, JSON: json.RawMessage(`{"hypothesis": 1}`)}}, "Another"},
		{"only a document", []Answer{{JSON: json.RawMessage(object)}}, "Reusing the buffer helps"},
		{"both broken, then repaired", []Answer{{Text: "no", JSON: json.RawMessage(`{"hypothesis": 1, "steps": []}`)}, {Text: other}}, "Another"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := &document{tc.answers}
			p, err := newTeam(t, b).Plan(t.Context(), sampleTask(Planner, "planner_a"))
			if err != nil || p.Hypothesis != tc.want || len(b.answers) > 0 {
				t.Errorf("plan %q, error %v, %d answers left", p.Hypothesis, err, len(b.answers))
			}
		})
	}
}
