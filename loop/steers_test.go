package loop

import "testing"

// TestSteersAgents: what agents follow by themselves is changed only where the goal
// names it.
func TestSteersAgents(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		scope   []string
		refused bool
	}{
		"a source file of all files":        {"src/a.go", []string{"."}, false},
		"rules of all files":                {"CLAUDE.md", []string{"."}, true},
		"rules in a folder of all files":    {"src/AGENTS.md", []string{"**"}, true},
		"in another case":                   {"src/agents.MD", []string{"src"}, true},
		"rules by a glob of texts":          {"CLAUDE.md", []string{"*.md"}, true},
		"rules that are named":              {"CLAUDE.md", []string{"src/**", "CLAUDE.md"}, false},
		"rules that are named in any place": {"src/CLAUDE.md", []string{"**/CLAUDE.md"}, false},
		"hooks of all files":                {".claude/settings.json", nil, true},
		"skills of all files":               {".agents/skills/x/SKILL.md", []string{"."}, true},
		"hooks that are named":              {".claude/hooks/x.sh", []string{".claude/hooks"}, false},
		"a folder of that name further in":  {"lib/.claude/x", []string{"."}, false},
		"a file called as the folder is":    {".claude", []string{"."}, false},
	} {
		t.Run(name, func(t *testing.T) {
			part := steersAgents(c.path)
			if got := part != "" && !named(c.scope, part); got != c.refused {
				t.Errorf("refused: %v", got)
			}
		})
	}
}
