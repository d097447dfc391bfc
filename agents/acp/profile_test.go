package acp

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"si/agents"
	"si/internal/proc"
)

func TestFind(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"gemini", "gemini --acp"},
		{"opencode", "opencode acp"},
		{"qwen", "qwen --acp"},
		{"copilot", "copilot --acp --no-auto-update"},
		{"goose", "goose acp"},
		{"acp:gemini", "gemini --acp"},
		{"acp: kimi acp --verbose", "/bin/sh -c kimi acp --verbose"},
		{"acp:", ""},
		{"kimi", ""},
		{"", ""},
	} {
		p, found := Find(tc.name)
		if got := strings.TrimSpace(p.Program + " " + strings.Join(p.Args, " ")); got != tc.want || found != (tc.want != "") {
			t.Errorf("Find(%q) = %q, %v; want %q", tc.name, got, found, tc.want)
		}
	}
}

func TestProfilesAreWhole(t *testing.T) {
	for _, p := range Profiles() {
		writable := p.Folders().Writable
		if p.LoginHint == "" || len(p.Keys) == 0 || len(writable) == 0 || len(p.Quirks) == 0 {
			t.Errorf("%s: %+v", p.Name, p)
		}
		for _, path := range writable {
			if !slices.Contains(agents.AllFolders().Writable, path) {
				t.Errorf("%s keeps %s, which benchmarks can read", p.Name, path)
			}
			if !filepath.IsLocal(path) {
				t.Errorf("%s may write %s", p.Name, path)
			}
		}
	}
}

func TestTheEnvironmentHasTheKeysOfTheProfileOnly(t *testing.T) {
	have := map[string]string{"GEMINI_API_KEY": "one", "OPENAI_API_KEY": "two", "GOOGLE_API_KEY": "of the machine", "NUL": "\x00"}
	lookup := func(name string) (string, bool) { v, ok := have[name]; return v, ok }
	task := agents.Task{Role: agents.Planner, Env: []string{"PATH=/bin", "GOOGLE_API_KEY=of the task", "OPENCODE_PERMISSION=mine"}}
	for _, tc := range []struct {
		program string
		role    agents.Role
		want    []string
	}{
		{"gemini", agents.Planner, append(slices.Clone(task.Env), "GEMINI_API_KEY=one", "GEMINI_CLI_TRUST_WORKSPACE=true")},
		{"acp:x", agents.Planner, task.Env},
		{"qwen", agents.Planner, append(slices.Clone(task.Env), "OPENAI_API_KEY=two")},
		{"opencode", agents.Planner, append(slices.Clone(task.Env), "OPENAI_API_KEY=two", "GEMINI_API_KEY=one", "OPENCODE_DISABLE_AUTOUPDATE=1",
			`OPENCODE_PERMISSION={"edit":"deny","bash":"deny","external_directory":"deny"}`)},
		{"opencode", agents.Executor, append(slices.Clone(task.Env), "OPENAI_API_KEY=two", "GEMINI_API_KEY=one", "OPENCODE_DISABLE_AUTOUPDATE=1")},
	} {
		p, _ := Find(tc.program)
		task.Role = tc.role
		if got := p.environment(task, lookup); !slices.Equal(got, tc.want) {
			t.Errorf("%s, %s: %q, want %q", tc.program, tc.role, got, tc.want)
		}
	}
}

// versions is a program that says its version, and otherwise is an agent.
type versions struct {
	inProcess
	said  string
	asked int
}

func (v *versions) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	if slices.Equal(c.Args, []string{"--version"}) {
		v.asked++
		return proc.Result{Outcome: proc.Exited, Stdout: proc.Captured{Head: []byte(v.said)}}, nil
	}
	return v.inProcess.Run(ctx, c)
}

func TestFlagsFollowTheVersion(t *testing.T) {
	for _, tc := range []struct{ said, want string }{
		{"0.61.0\n", "--acp"},
		{"0.33.0-preview.11", "--acp"},
		{"gemini 0.32.9 (abc)", "--experimental-acp"},
		{"0.9.100", "--experimental-acp"},
		{"1.0.0", "--acp"},
		{"unknown", "--acp"},
		{"", "--acp"},
	} {
		t.Run(tc.said, func(t *testing.T) {
			s := newStage(t)
			s.o.Profile, _ = Find("gemini")
			v := &versions{said: tc.said}
			v.play = func(a *agent) { a.withSession("", "") }
			b := New(v, s.o)
			for range 2 {
				if _, err := b.Run(t.Context(), s.task); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(v.command.Args, []string{tc.want}) {
					t.Errorf("args %q", v.command.Args)
				}
			}
			if v.asked != 1 {
				t.Errorf("its version was asked %d times", v.asked)
			}
		})
	}
}
