package cmd_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"si/internal/modelserver"
	"si/internal/proc"
	"si/internal/realagents"
	"si/track"
)

// TestRealAgents lets real agent programs play a whole round of the demo against a
// scripted model server: research, plans, reviews, edits; the gain lands on the
// improve branch. The programs have a home that is thrown away, and no network but the
// loopback is needed.
func TestRealAgents(t *testing.T) {
	realagents.Asked(t)
	bin := realagents.Need(t, proc.New(proc.Options{Self: program(t, "si"), Mark: "test-agents"}))
	for _, agent := range []string{"claude:claude-sonnet-4-5", "codex:scripted", "pi:scripted/scripted", "gemini:gemini-2.5-pro", "opencode", "qwen", "copilot"} {
		name, _, _ := strings.Cut(agent, ":")
		t.Run(name, func(t *testing.T) { playDemo(t, bin, "--agent", agent) })
	}
	t.Run("together", func(t *testing.T) {
		dir := playDemo(t, bin, "--agent", "claude:claude-sonnet-4-5", "--agent-for", "planner=codex:scripted", "--agent-for", "architect=gemini:gemini-2.5-pro",
			"--agent-for", "executor=pi:scripted/scripted")
		keepJournal(t, dir)
	})
	for _, agent := range []string{"claude:claude-sonnet-4-5", "codex:scripted"} {
		name, _, _ := strings.Cut(agent, ":")
		t.Run("interview "+name, func(t *testing.T) { playInterview(t, bin, agent) })
	}
}

// playDemo lets agents play one round of the demo. It returns the folder of it all.
func playDemo(t *testing.T, bin string, agents ...string) string {
	t.Helper()
	server, err := modelserver.Start(modelserver.DemoPlayer().Play)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	home := realHome(t, server.URL())
	demo := filepath.Join(home, "demo")
	cmd := exec.CommandContext(t.Context(), program(t, "si"), append([]string{"demo", demo, "--no-tui", "--max-iterations", "1"}, agents...)...)
	cmd.Env = append(realagents.Env(bin, home, server.URL()), "XDG_STATE_HOME="+filepath.Join(home, "state"), "GIT_CONFIG_NOSYSTEM=1")
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "failed") || !strings.Contains(string(out), "round 1: merged") {
		t.Errorf("no gain, or an agent failed:\n%s", out)
	}
	if !strings.Contains(string(out), " tokens") {
		t.Errorf("nothing is known of what it used:\n%s", out)
	}
	kept := gitIn(t, demo, "log", "--merges", "--format=%s", "--branches=improve/*")
	if !strings.Contains(kept, "Iteration 1: Setting ") {
		t.Errorf("the improve branch has %q\n%s", kept, out)
	}
	return home
}

// realHome is a home that is thrown away, in which the agents find the server.
func realHome(t *testing.T, url string) string {
	t.Helper()
	home := t.TempDir()
	if err := realagents.Home(home, url); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, ".config/si/config.yaml"), "agent_env: ["+strings.Join(realagents.KeyNames(), ", ")+"]\n")
	return home
}

// playInterview lets one agent ask about the goal, and write a benchmark where there
// is none. The server answers as a model would that knows what it wants.
func playInterview(t *testing.T, bin, agent string) {
	t.Helper()
	server, err := modelserver.Start(func(r modelserver.Request) modelserver.Reply {
		switch prompt := r.Text("user"); {
		case strings.Contains(prompt, "You clarify what a person wants") && strings.Contains(prompt, "answer: 5"):
			return modelserver.Document(r, `{"objective": "Lower the steps of table", "metric": "steps", "target": "5", "in_scope": ["table/table.go"], "out_of_scope": [],
				"scores": {"objective": 90, "metric": 90, "target": 100, "scope": 100}, "about": "", "missing": "", "question": "", "offers": []}`)
		case strings.Contains(prompt, "You clarify what a person wants"):
			return modelserver.Document(r, `{"objective": "Lower the steps of table", "metric": "steps", "target": "", "in_scope": ["table/table.go"], "out_of_scope": [],
				"scores": {"objective": 90, "metric": 90, "target": 10, "scope": 100}, "about": "target", "missing": "no number",
				"question": "How few steps of table/table.go:5 are enough?", "offers": ["5", "as far as it goes"]}`)
		case strings.Contains(prompt, "You write a benchmark for this repository") && len(r.Results()) == 0:
			if call, can := modelserver.ShellCall(r, `mkdir -p bench && echo "sed -n 's/^const Steps = //p' table/table.go" > bench/steps.sh`); can {
				return modelserver.Reply{Text: "I write it.", Calls: []modelserver.Call{call}}
			}
		case strings.Contains(prompt, "You write a benchmark for this repository"):
			reply := modelserver.Document(modelserver.Request{}, builtBySteps)
			for _, tool := range r.Tools { // one that takes the answer
				if strings.EqualFold(strings.ReplaceAll(tool.Name, "_", ""), "structuredoutput") && len(r.Results()) == 1 {
					reply = modelserver.Reply{Calls: []modelserver.Call{{Name: tool.Name, Args: builtBySteps}}}
				}
			}
			return reply
		}
		return modelserver.Reply{Text: "Fine."}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	repo, _ := countingRepo(t)
	if err := os.Remove(filepath.Join(repo, "bench.sh")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qam", "no benchmark")
	home := realHome(t, server.URL())
	config, err := os.ReadFile(filepath.Join(home, ".config/si/config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, ".config/si/config.yaml"), string(config)+"agent: \""+agent+"\"\n")
	env := append(realagents.Env(bin, home, server.URL()), "TERM=xterm-256color", "PATH="+bin+":"+os.Getenv("PATH"))
	s := sitWith(t, env, repo, home)
	s.toBuilt()
	s.press(ctrlC)
	s.ends(3)
	if got := gitIn(t, repo, "show", "si/benchmark:bench/steps.sh"); !strings.Contains(got, "const Steps") {
		t.Errorf("the branch holds %q", got)
	}
	if out := gitIn(t, repo, "status", "--porcelain") + gitIn(t, repo, "log", "--oneline", "si/benchmark..main"); out != "" {
		t.Errorf("the user's side changed: %s", out)
	}
}

const builtBySteps = `{"command": "sh bench/steps.sh", "format": "number", "metric": "steps", "direction": "lower_is_better", "files": ["bench/steps.sh"], "why": "it counts steps"}`

// keptJournal is the journal of a round that four programs played together.
const keptJournal = "testdata/realagents/journal.jsonl"

// keepJournal checks the journal of a round, and keeps it when SI_AGENTS_KEEP is set,
// without what is this machine's.
func keepJournal(t *testing.T, home string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(home, "demo/.omc/self-improve/topics/default/state/journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), home, "/home/user")
	playedTogether(t, text)
	if os.Getenv("SI_AGENTS_KEEP") != "" {
		writeFile(t, keptJournal, text)
	}
}

// playedTogether wants each role to have been played by its own program, which said
// what it used.
func playedTogether(t *testing.T, journal string) {
	t.Helper()
	seen := map[string]string{}
	for line := range strings.Lines(journal) {
		var e track.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Ev != track.EvAgentEnded {
			continue
		}
		var a track.AgentEvent
		if err := json.Unmarshal(e.Data, &a); err != nil {
			t.Fatal(err)
		}
		if a.Spent == nil || a.Spent.Usage == nil || a.Spent.Usage.Total() == 0 {
			t.Errorf("%s cost %+v", a.ID, a.Spent)
		}
		seen[a.Role], _, _ = strings.Cut(a.Backend, ":")
	}
	want := map[string]string{"researcher": "claude", "planner": "codex", "architect": "gemini", "critic": "claude", "executor": "pi"}
	for role, program := range want {
		if seen[role] != program {
			t.Errorf("the %s was %q, not %s", role, seen[role], program)
		}
	}
}

// TestARoundOfFourProgramsIsReadAgain reads the journal that was kept: versions to
// come have to tell it.
func TestARoundOfFourProgramsIsReadAgain(t *testing.T) {
	data, err := os.ReadFile(keptJournal)
	if err != nil {
		t.Fatal(err)
	}
	playedTogether(t, string(data))
	repo, home := countingRepo(t)
	si := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), program(t, "si"), args...)
		cmd.Dir, cmd.Env = repo, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "SI_SANDBOX=off"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("si %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	si("init", "--trust", "--no-canary", "--objective", "Fewer steps", "--scope", "table", "--benchmark", "sh bench.sh", "--metric", "steps_per_s")
	writeFile(t, filepath.Join(repo, ".omc/self-improve/topics/default/state/journal.jsonl"), string(data))
	out := si("replay", "--no-tui", "--speed", "256")
	for _, want := range []string{"planner_a", "executor_a", "round 1: merged"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
}
