// Package pi plays roles with the coding agent pi (1.6 and 0.73), by the JSON
// lines of its print mode. It knows the program's flags and the words of its
// stream; how a program is run and held to limits is for package stream.
package pi

import (
	"strings"
	"time"

	"si/agents"
	"si/agents/stream"
)

// Options say which program plays, and with what.
type Options = stream.Options

// New returns a backend that plays with pi.
func New(o Options) *stream.Backend {
	o = o.WithDefaults("pi")
	return stream.New(program{o}, o)
}

type program struct{ o Options }

// Dialect is as promised by stream.Program.
func (p program) Dialect(_ agents.Task, now func() time.Time) stream.Dialect {
	return &dialect{now: now, zone: p.o.Zone}
}

// Order starts pi in print mode. It has no sandbox and asks nobody: a role that
// does not edit gets the tools alone that read.
func (p program) Order(t agents.Task, _ string) (stream.Order, error) {
	args := []string{"--mode", "json", "-p", "--offline"}
	if !t.Role.Edits() {
		args = append(args, "--tools", "read,grep,find,ls")
	}
	// A model is named as provider/model, or by a pattern of pi's own.
	if t.Model != "" {
		args = append(args, "--model", t.Model)
	}
	if t.Effort != "" {
		args = append(args, "--thinking", t.Effort)
	}
	o := stream.Order{Args: args, Env: p.o.Environment(t, keys(), "PI_OFFLINE=1", "PI_TELEMETRY=0"), Stdin: t.Prompt}
	if len(t.MCP) > 0 {
		var names []string
		for _, s := range t.MCP {
			names = append(names, s.Name)
		}
		o.Notes = append(o.Notes, "pi takes no MCP server by a flag: it is not offered "+strings.Join(names, ", "))
	}
	return o, nil
}

// keys are those of every provider that pi can ask: which one it asks is for the
// user's own set-up, or the model's name, to say.
func keys() stream.Keys {
	return stream.Keys{
		Own: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_BASE_URL",
			"AZURE_OPENAI_RESOURCE_NAME", "AZURE_OPENAI_API_VERSION", "AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "DEEPSEEK_API_KEY", "NVIDIA_API_KEY",
			"GEMINI_API_KEY", "GROQ_API_KEY", "CEREBRAS_API_KEY", "XAI_API_KEY", "FIREWORKS_API_KEY", "TOGETHER_API_KEY", "OPENROUTER_API_KEY",
			"AI_GATEWAY_API_KEY", "ZAI_API_KEY", "MISTRAL_API_KEY", "MINIMAX_API_KEY", "MOONSHOT_API_KEY", "OPENCODE_API_KEY", "KIMI_API_KEY",
			"PI_CODING_AGENT_DIR", "PI_PACKAGE_DIR",
		},
		Session: []string{"CLAUDECODE", "PI_CODING_AGENT_SESSION_DIR"},
	}
}

// Folders are what the program needs of the user's home.
func Folders() agents.Folders {
	return agents.Folders{Writable: []string{".pi"}, Readable: []string{".local/bin"}}
}
