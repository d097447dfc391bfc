package loop

import (
	"slices"

	"si/agents"
	"si/internal/secret"
)

// keyNames are the variables that hold keys of model servers.
func keyNames() []string {
	return []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "OPENROUTER_API_KEY"}
}

// redact takes the values of the variables that agents are handed, and of known keys,
// out of a text: what one agent was told is not for the next one.
func (l *Loop) redact(text string) string {
	handed := agents.AgentEnv(l.cfg.Lookup, nil)
	var values []string
	for _, name := range slices.Concat(keyNames(), l.cfg.Env, l.settings.Value.SI.Agents.Env) {
		if value, ok := l.cfg.Lookup(name); ok {
			values = append(values, value)
		}
	}
	return l.secrets().And(secret.Of(handed).With(values...)).Mask(text)
}

// secrets are what no agent says and no commit holds, wherever it was read: without a
// sandbox an agent can look into the environment of this process. Those that anybody
// may write by chance are not among them, or a change of "password" would be refused.
func (l *Loop) secrets() secret.Set {
	env := agents.AgentEnv(l.cfg.Lookup, slices.Concat(keyNames(), l.cfg.Env, l.settings.Value.SI.Agents.Env))
	return l.cfg.Secrets.And(secret.Of(env)).Hard()
}
