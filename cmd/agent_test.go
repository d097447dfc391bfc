package cmd_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"si/agents"
	"si/track"
)

// runAgent is a coding agent that does what a file says, its only argument.
// Each line is for one task ("*" is any) in one round ("*" is any):
//
//	planner_a 1 plan FAMILY FILE SHELL…   plan a change; executor_a runs SHELL in its workspace
//	critic_b  1 reject REASON…            reject the plan
//	TASK      1 exit CODE                 end like that
//	TASK      1 say TEXT…                 answer that
//	TASK      1 once COMMAND…             fail the first time, by running COMMAND
//
// A task without a line does its work: an empty but valid brief, approval.
func runAgent() int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil || len(prompt) == 0 {
		fmt.Fprintln(os.Stderr, "agent: no prompt on standard input")
		return 9
	}
	task, role := os.Getenv("SI_TASK"), os.Getenv("SI_ROLE")
	lookup := task
	if role == string(agents.Executor) {
		lookup = strings.Replace(task, "executor", "planner", 1)
	}
	own := instruction(os.Args[1], task, os.Getenv("SI_ROUND"))
	switch verb, rest, _ := strings.Cut(own, " "); verb {
	case "exit":
		fmt.Fprintln(os.Stderr, "agent: told to fail")
		var code int
		_, _ = fmt.Sscan(rest, &code)
		return code
	case "say":
		fmt.Println(rest)
		return 0
	case "run":
		return shell(rest)
	}
	return play(role, instruction(os.Args[1], lookup, os.Getenv("SI_ROUND")))
}

func play(role, line string) int {
	words := strings.Fields(line)
	switch agents.Role(role) {
	case agents.Researcher:
		return answer(brief())
	case agents.Planner:
		if len(words) < 4 || words[0] != "plan" {
			return 8
		}
		return answer(plan(words[1], words[2], strings.Join(words[3:], " ")))
	case agents.Architect:
		return answer(track.ArchitectReview{Verdict: "approve", StructuralConcerns: []string{}})
	case agents.Critic:
		return answer(critic(line))
	case agents.Executor:
		return shell(strings.Join(words[3:], " "))
	case agents.Clarifier, agents.Builder, agents.Reviewer, agents.Retrospective:
	}
	return 7
}

func brief() track.Brief {
	idea := func(family string) track.Idea {
		return track.Idea{Title: family + " idea", Source: "test", Evidence: "none", ApproachFamily: family, Confidence: "low", EstimatedImpact: "unknown"}
	}
	return track.Brief{RepoAnalysisSummary: "a number in a file", Ideas: []track.Idea{idea("data"), idea("optimization"), idea("architecture")}}
}

func plan(family, file, command string) track.Plan {
	return track.Plan{
		Hypothesis: "Running " + command + " improves the score.", ApproachFamily: family, TargetFiles: []string{file},
		Steps:           []track.PlanStep{{Step: 1, File: file, Change: "create or change it: " + command}},
		ExpectedOutcome: track.ExpectedOutcome{Metric: "primary", EstimatedImpact: "unknown", Rationale: "it is a test"},
		HistoryReference: track.HistoryReference{
			BuildsOn: []string{}, Avoids: []string{},
		},
	}
}

// critic gives what the prompt asks for and no more.
func critic(line string) map[string]any {
	r := map[string]any{"h001_hypothesis_count": "pass", "history_aware": "pass", "verdict": "approved", "rejection_reason": nil}
	if reason, ok := strings.CutPrefix(line, "reject "); ok {
		r["verdict"], r["h001_hypothesis_count"], r["rejection_reason"] = "rejected", "fail", reason
	}
	return r
}

func answer(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 6
	}
	fmt.Printf("Here it is:\n```json\n%s\n```\n", data)
	return 0
}

func shell(line string) int {
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return cmd.ProcessState.ExitCode()
	}
	return 0
}

// instruction is what the file says for a task in a round, "" when nothing.
func instruction(path, task, round string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 3 || words[0] != task && words[0] != "*" || words[1] != round && words[1] != "*" {
			continue
		}
		return strings.Join(words[2:], " ")
	}
	return ""
}
