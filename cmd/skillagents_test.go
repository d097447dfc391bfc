package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"si/agents"
	"si/agents/claude"
	"si/agents/codex"
	"si/agents/stream"
	"si/internal/modelserver"
	"si/internal/proc"
	"si/internal/realagents"
	"si/learn/skills"
	"si/learn/skills/mcpserver"
)

// TestRealAgentsUseSkills lets real agent programs list, read and create skills
// through si mcp, with a scripted model.
func TestRealAgentsUseSkills(t *testing.T) {
	realagents.Asked(t)
	for name, player := range map[string]func(stream.Options) *stream.Backend{"claude": claude.New, "codex": codex.New} {
		t.Run(name, func(t *testing.T) { realAgentUsesSkills(t, name, player) })
	}
}

func realAgentUsesSkills(t *testing.T, name string, player func(stream.Options) *stream.Backend) {
	t.Helper()
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, d := range []string{at("home", "tmp"), at("work"), at("tmp"), at("repo", ".si", "skills", "warm-up")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := "---\nname: warm-up\ndescription: Warms the cache up\n---\nRun it once.\n"
	if err := os.WriteFile(at("repo", ".si", "skills", "warm-up", "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	si := at("si")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", si, "./si").CombinedOutput(); err != nil {
		t.Fatalf("build si: %v\n%s", err, out)
	}
	library, err := skills.Open(skills.Standard(skills.Where{Base: at("repo", ".omc"), Top: at("repo"), Learned: ".si/skills", Now: time.Now}))
	if err != nil {
		t.Fatal(err)
	}
	door, err := mcpserver.Open(t.Context(), at("tmp"), mcpserver.Source{Library: library, Version: "test", Caller: skills.Caller{Task: "run/1/executor_a"}})
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	server, err := modelserver.Start(useSkills)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := realagents.Home(at("home"), server.URL()); err != nil {
		t.Fatal(err)
	}
	run := proc.New(proc.Options{Self: si, Mark: "skills-" + name})
	bin := realagents.Need(t, run)
	env := realagents.Env(bin, at("home"), server.URL())
	program, args := door.Command(si)
	answer, err := player(stream.Options{Run: run, Program: filepath.Join(bin, name), Dir: at("tmp"), Model: map[string]string{"claude": "claude-sonnet-4-5"}[name], Root: true, Now: time.Now, Lookup: func(key string) (string, bool) {
		for _, e := range env {
			if v, ok := strings.CutPrefix(e, key+"="); ok {
				return v, true
			}
		}
		return "", false
	}}).Run(t.Context(), agents.Task{
		Role: agents.Executor, ID: "executor_a", Round: 1, Dir: at("work"), Prompt: "Use your skills.", Log: at("log"), Env: env, Wall: 3 * time.Minute,
		MCP: []agents.MCPServer{{Name: mcpserver.Name, Command: program, Args: args}}, Watch: func(agents.Event) {},
	})
	log, _ := os.ReadFile(at("log"))
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, log, toldBy(server))
	}
	made, err := library.Find("found-out")
	if err != nil || made.CreatedBy != skills.ByUser {
		t.Errorf("%+v %v; it said %q\n%s", made, err, answer.Text, toldBy(server))
	}
	if used, err := library.Find("warm-up"); err != nil || used.UseCount != 1 || fmt.Sprint(used.UsedIn) != "[run/1/executor_a]" {
		t.Errorf("%+v %v\n%s", used, err, toldBy(server))
	}
	if !strings.Contains(toldBy(server), "Run it once.") || !strings.Contains(toldBy(server), "- warm-up: Warms the cache up") {
		t.Error("the model was not told:", toldBy(server))
	}
}

// useSkills is a model that lists the skills, reads one and writes one.
func useSkills(r modelserver.Request) modelserver.Reply {
	steps := []struct {
		tool string
		args map[string]any
	}{
		{"skills_list", map[string]any{}},
		{"skill_view", map[string]any{"name": "warm-up"}},
		{"skill_manage", map[string]any{"action": "create", "name": "found-out", "description": "What was found out", "body": "Do it."}},
	}
	done := len(r.Results())
	if done >= len(steps) {
		return modelserver.Reply{Text: "All is done."}
	}
	for _, tool := range r.Tools {
		if strings.HasSuffix(tool.Name, steps[done].tool) {
			data, err := json.Marshal(steps[done].args)
			if err != nil {
				return modelserver.Reply{Text: err.Error()}
			}
			return modelserver.Reply{Calls: []modelserver.Call{{Name: tool.Name, Args: string(data)}}}
		}
	}
	return modelserver.Reply{Text: "There is no tool " + steps[done].tool}
}

func toldBy(s *modelserver.Server) string {
	var out strings.Builder
	for _, r := range s.Requests() {
		fmt.Fprintf(&out, "\n%d %s %s tools=", r.N, r.Format, r.Model)
		for _, tool := range r.Tools {
			out.WriteString(tool.Name + " ")
		}
		fmt.Fprintf(&out, "results=%v", r.Results())
	}
	return out.String()
}
