package modelserver

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// prompted is a request with a prompt and tools, each a name and a schema.
func prompted(prompt string, tools ...Tool) Request {
	return Request{N: 1, Turns: []Turn{{Role: "user", Text: "Context of the client.\n\n" + prompt}}, Tools: tools}
}

const plannerPrompt = `You are planner_b, a planner of round 2. You write one plan.

# Approach families
- architecture
- data
- other

# Who looks at what
- planner_a: data
- planner_b (you): architecture, other

"metric": "ops_per_second",
`

func TestThePlayerKnowsItsRole(t *testing.T) {
	p := DemoPlayer()
	for _, tc := range []struct{ name, prompt, want string }{
		{"researcher", "You are researcher, the researcher of round 1. You look.\n\n# Approach families\n- data\n- other\n", `"ideas":[{"approach_family":"data"`},
		{"planner", plannerPrompt, `"approach_family":"architecture"`},
		{"planner's metric", plannerPrompt, `"metric":"ops_per_second"`},
		{"planner's change", plannerPrompt, `Set the constant bloomBits in store/options.go to the value 9.`}, // the fourth after planner_a of round 1, and so the first again
		{"architect", "You are architect, the architect who advises on a plan of round 3. Read.", `"verdict":"approve"`},
		{"critic", "You are critic_a, the critic of a plan of round 3. Read.", `"verdict":"approved"`},
		{"a repair", "Your answer as critic_a of round 3 cannot be used. What is wrong", `"verdict":"approved"`},
		{"nobody", "Write a title for this session.", "Fine."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if r := p.Play(prompted(tc.prompt)); !strings.Contains(r.Text, tc.want) || r.Usage != p.Usage {
				t.Errorf("reply %+v, want %q", r, tc.want)
			}
		})
	}
}

const executorPrompt = `You are executor_a, an executor of round 1. You carry out one plan.
"change": "Set the constant blockBytes in store/options.go to the value 4 * 1024."
`

func TestThePlayerUsesTheToolsThatItIsOffered(t *testing.T) {
	p := DemoPlayer()
	for _, tc := range []struct{ name, schema, arg string }{
		{"Bash", `{"properties":{"command":{"type":"string"},"description":{"type":"string"}},"required":["command","description"]}`, "command"},
		{"exec_command", `{"properties":{"cmd":{"type":"string"},"yield_time_ms":{"type":"number"}},"required":["cmd"]}`, "cmd"},
		{"shell", `{"properties":{"command":{"type":"array"}},"required":["command"]}`, "command"},
		{"run_shell_command", `{"properties":{"command":{"type":"STRING"},"is_background":{"type":"BOOLEAN"}},"required":["command","is_background"]}`, "command"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tool := Tool{Name: tc.name, Schema: json.RawMessage(tc.schema)}
			r := p.Play(prompted(executorPrompt, Tool{Name: "other"}, tool))
			if len(r.Calls) != 1 || r.Calls[0].Name != tc.name {
				t.Fatalf("reply %+v", r)
			}
			runCall(t, r.Calls[0], tc.arg)
			var args map[string]any
			if err := json.Unmarshal([]byte(r.Calls[0].Args), &args); err != nil {
				t.Fatal(err)
			}
			for _, name := range tool.schema().Required {
				if args[name] == nil {
					t.Errorf("%s is missing in %s", name, r.Calls[0].Args)
				}
			}
			done := prompted(executorPrompt, tool)
			done.Turns = append(done.Turns, Turn{Role: "tool", Results: []Result{{"c", "ok"}}})
			if r := p.Play(done); len(r.Calls) > 0 || !strings.Contains(r.Text, "I set blockBytes") {
				t.Errorf("after the call: %+v", r)
			}
		})
	}
	if r := p.Play(prompted(executorPrompt)); len(r.Calls) > 0 || !strings.Contains(r.Text, "no tool") {
		t.Errorf("without tools: %+v", r)
	}
}

// runCall runs the command of a call and looks at what became of the file.
func runCall(t *testing.T, c Call, arg string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "store", "options.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("const (\n\tblockBytes = 8 * 1024\n\tother = 1\n)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var args map[string]any
	if err := json.Unmarshal([]byte(c.Args), &args); err != nil {
		t.Fatal(err)
	}
	line, is := args[arg].(string)
	if words, list := args[arg].([]any); list {
		line, is = words[2].(string)
	}
	if !is {
		t.Fatalf("arguments %s", c.Args)
	}
	command := exec.CommandContext(t.Context(), "/bin/sh", "-c", line)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
	text, err := os.ReadFile(file)
	left, lerr := os.ReadDir(dir)
	if err != nil || lerr != nil || string(text) != "const (\n\tblockBytes = 4 * 1024\n\tother = 1\n)\n" || len(left) != 1 {
		t.Errorf("file %q, folder %v, %v, %v", text, left, err, lerr)
	}
}

func TestThePlayerCanEditWithoutAShell(t *testing.T) {
	p := DemoPlayer()
	p.Edit = true
	r := prompted(executorPrompt,
		Tool{Name: "Read", Schema: json.RawMessage(`{"properties":{"file_path":{"type":"string"}},"required":["file_path"]}`)},
		Tool{Name: "Edit", Schema: json.RawMessage(`{"properties":{"file_path":{},"old_string":{},"new_string":{}},"required":["file_path","old_string","new_string"]}`)})
	first := p.Play(r)
	if len(first.Calls) != 1 || first.Calls[0] != (Call{Name: "Read", Args: `{"file_path":"store/options.go"}`}) {
		t.Fatalf("reply %+v", first)
	}
	r.Turns = append(r.Turns, Turn{Role: "tool", Results: []Result{{"c", "  5\tblockBytes = 8 * 1024\n  6\tother"}}})
	second := p.Play(r)
	if len(second.Calls) != 1 || second.Calls[0] != (Call{Name: "Edit", Args: `{"file_path":"store/options.go","new_string":"blockBytes = 4 * 1024","old_string":"blockBytes = 8 * 1024"}`}) {
		t.Fatalf("reply %+v", second)
	}
	r.Turns = append(r.Turns, Turn{Role: "tool", Results: []Result{{"d", "edited"}}})
	if third := p.Play(r); len(third.Calls) > 0 || !strings.Contains(third.Text, "The tool said: edited") {
		t.Errorf("reply %+v", third)
	}
}

func TestThePlayerGivesItsAnswerByTheClientsTool(t *testing.T) {
	r := prompted("You are critic_a, the critic of a plan of round 3.", Tool{Name: "StructuredOutput"})
	first := DemoPlayer().Play(r)
	if len(first.Calls) != 1 || first.Calls[0].Name != "StructuredOutput" || !strings.Contains(first.Calls[0].Args, `"approved"`) {
		t.Errorf("reply %+v", first)
	}
}

func TestATestMayStepInBeforeThePlayer(t *testing.T) {
	p := DemoPlayer()
	p.Before = func(role, id string, _ Request) (Reply, bool) {
		return Reply{Text: role + " " + id}, role == "critic"
	}
	if r := p.Play(prompted("You are critic_a, the critic of a plan of round 3.")); r.Text != "critic critic_a" {
		t.Errorf("reply %+v", r)
	}
	if r := p.Play(prompted(plannerPrompt)); !strings.Contains(r.Text, "hypothesis") {
		t.Errorf("reply %+v", r)
	}
}
