package cmd

import (
	"fmt"
	"slices"
	"strings"
)

// agentSpec names an agent in a flag, in settings or in the user's configuration:
// KIND, KIND:MODEL, KIND:MODEL@EFFORT, command:LINE or acp:LINE.
type agentSpec struct {
	text   string // as it was written
	kind   string
	model  string
	effort string
	line   string // of command and acp
}

// The kinds that take a line for the shell, or a program with its arguments, instead
// of a model.
const (
	kindTuner   = "tuner"
	kindCommand = "command"
	kindACP     = "acp"
)

// modelKinds are the kinds that can be given a model. The last six speak the Agent
// Client Protocol or are servers.
func modelKinds() []string {
	return []string{"claude", "codex", "pi", "openai", "anthropic", "ollama", "gemini", "opencode", "qwen", "copilot", "goose"}
}

// efforts are what can stand behind an @: a model's own name may hold one.
func efforts() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

func parseAgent(text string) (agentSpec, error) {
	kind, rest, has := strings.Cut(text, ":")
	s := agentSpec{text: text, kind: kind}
	switch {
	case kind == kindCommand || kind == kindACP:
		if s.line = strings.TrimSpace(rest); s.line == "" {
			return s, usagef("%q lacks its command: write %s:COMMAND", text, kind)
		}
		return s, nil
	case kind == kindTuner:
		if has {
			return s, usagef("the built-in tuner has no model, found %q", text)
		}
		return s, nil
	case !slices.Contains(modelKinds(), kind):
		return s, usagef("no agent is called %q; there are %s, %q and a program with its arguments, and %q and a line for the shell",
			text, strings.Join(append([]string{kindTuner}, modelKinds()...), ", "), kindACP+":", kindCommand+":")
	case has && strings.TrimSpace(rest) == "":
		return s, usagef("%q lacks the model behind its colon", text)
	}
	s.model = rest
	if i := strings.LastIndexByte(rest, '@'); i > 0 && slices.Contains(efforts(), rest[i+1:]) {
		s.model, s.effort = rest[:i], rest[i+1:]
	}
	if s.model == "" && (kind == "openai" || kind == "anthropic" || kind == "ollama") {
		return s, usagef("%s needs a model: write %s:MODEL", kind, kind)
	}
	return s, nil
}

// agentHelp is how an agent is named, for the help of flags.
func agentHelp() string {
	return fmt.Sprintf("%s (built in), %s; with a model and an effort as codex:gpt-5@high; acp:PROGRAM ARGUMENTS; or command:LINE for the shell", kindTuner, strings.Join(modelKinds(), ", "))
}
