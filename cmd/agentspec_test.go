package cmd

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"si/agents"
	"si/track"
)

func TestNamesOfAgents(t *testing.T) {
	for _, c := range []struct {
		text string
		want agentSpec
		err  string
	}{
		{text: "tuner", want: agentSpec{kind: "tuner"}},
		{text: "claude", want: agentSpec{kind: "claude"}},
		{text: "codex:gpt-5@high", want: agentSpec{kind: "codex", model: "gpt-5", effort: "high"}},
		{text: "openai:qwen2.5-coder:7b", want: agentSpec{kind: "openai", model: "qwen2.5-coder:7b"}},
		{text: "openai:vendor/model@2025-01", want: agentSpec{kind: "openai", model: "vendor/model@2025-01"}},
		{text: "command:python agent.py --model a:b@high", want: agentSpec{kind: "command", line: "python agent.py --model a:b@high"}},
		{text: "acp:my-agent --acp", want: agentSpec{kind: "acp", line: "my-agent --acp"}},
		{text: "claude:", err: "lacks the model"},
		{text: "command: ", err: "lacks its command"},
		{text: "tuner:fast", err: "no model"},
		{text: "openai", err: "openai:MODEL"},
		{text: "clade", err: `no agent is called "clade"`},
		{text: "", err: "no agent is called"},
	} {
		got, err := parseAgent(c.text)
		c.want.text = c.text
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: error %v, want %q", c.text, err, c.err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
}

func TestWhoPlaysWhat(t *testing.T) {
	user := track.AgentOptions{Default: "claude", Roles: map[string]string{"planner": "codex"}, Fallbacks: map[string][]string{"default": {"pi", "claude"}}}
	for _, c := range []struct {
		name     string
		flags    agentFlags
		settings track.AgentOptions
		planner  []string
		critic   []string
	}{
		{name: "the user's own", planner: []string{"codex", "pi", "claude"}, critic: []string{"claude", "pi"}},
		{name: "settings name a default, and put the user's roles aside", settings: track.AgentOptions{Default: "pi"}, planner: []string{"pi", "claude"}, critic: []string{"pi", "claude"}},
		{name: "a flag for one role", flags: agentFlags{agentFor: map[string]string{"critic": "openai:m"}}, planner: []string{"codex", "pi", "claude"}, critic: []string{"openai:m", "pi", "claude"}},
		{name: "a flag for all", flags: agentFlags{agent: "tuner"}, settings: track.AgentOptions{Roles: map[string]string{"critic": "pi"}}, planner: []string{"tuner", "pi", "claude"}, critic: []string{"tuner", "pi", "claude"}},
		{name: "no stand-in for one role", settings: track.AgentOptions{Fallbacks: map[string][]string{"planner": {}}}, planner: []string{"codex"}, critic: []string{"claude", "pi"}},
	} {
		o := c.flags.merge(user, c.settings)
		if p, r := playersOf(o, agents.Planner), playersOf(o, agents.Critic); !slices.Equal(p, c.planner) || !slices.Equal(r, c.critic) {
			t.Errorf("%s: planner %v, critic %v", c.name, p, r)
		}
	}
}

func TestEachRoleSeesItsOwnPlayersFoldersOnly(t *testing.T) {
	w := World{Lookup: func(string) (string, bool) { return "", false }}
	f := factory{world: w, dir: t.TempDir()}
	who, err := buildCast(f, track.AgentOptions{Default: "claude", Roles: map[string]string{"critic": "codex"}, Fallbacks: map[string][]string{"planner": {"pi"}}})
	if err != nil {
		t.Fatal(err)
	}
	has := func(role agents.Role, name string) bool {
		return slices.ContainsFunc(who.folders[role].Writable, func(p string) bool { return strings.HasPrefix(p, name) })
	}
	if has(agents.Critic, ".claude") || !has(agents.Critic, ".codex") || !has(agents.Planner, ".claude") || !has(agents.Planner, ".pi") {
		t.Errorf("%+v", maps.Collect(maps.All(who.folders)))
	}
	for _, bad := range []track.AgentOptions{
		{Default: "tuner", Roles: map[string]string{"planer": "tuner"}},
		{Default: "tuner", Fallbacks: map[string][]string{"planer": {"tuner"}}},
		{Default: "nobody"},
	} {
		if _, err := buildCast(f, bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
