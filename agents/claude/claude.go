// Package claude plays roles with Claude Code, the program claude (2.1 and its
// likes), by its stream of JSON lines. It knows the program's flags and the words
// of its stream; how a program is run and held to limits is for package stream.
package claude

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"si/agents"
	"si/agents/stream"
)

// Options say which program plays, and with what.
type Options = stream.Options

// New returns a backend that plays with claude.
func New(o Options) *stream.Backend {
	o = o.WithDefaults("claude")
	return stream.New(program{o}, o)
}

type program struct{ o Options }

// Dialect is as promised by stream.Program.
func (p program) Dialect(_ agents.Task, now func() time.Time) stream.Dialect {
	return &dialect{now: now, zone: p.o.Zone}
}

// Order starts claude without a terminal and with no one to ask: what is not
// allowed by its flags is denied, and the run goes on.
func (p program) Order(t agents.Task, _ string) (stream.Order, error) {
	args := []string{"-p", "--output-format", "stream-json", "--verbose"}
	args = append(args, p.access(t)...)
	for _, f := range []struct{ flag, value string }{{"--model", t.Model}, {"--effort", t.Effort}, {"--json-schema", string(t.Schema)}} {
		if f.value != "" {
			args = append(args, f.flag, f.value)
		}
	}
	if t.Limits.CostUSD > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(t.Limits.CostUSD, 'f', -1, 64))
	}
	servers, err := servers(t.MCP)
	if err != nil {
		return stream.Order{}, err
	}
	// Strict also without a server of ours: those of the user's set-up are started
	// for every agent, and often outlive it.
	args = append(args, "--strict-mcp-config", "--mcp-config", servers)
	return stream.Order{Args: args, Env: p.env(t), Stdin: t.Prompt}, nil
}

// access chooses what the program may do. A role that edits may do everything
// where the task's containment holds it; elsewhere its file tools stay in the
// workspace, but a shell can do what the user can. The others have no tool that
// writes or runs anything.
func (p program) access(t agents.Task) []string {
	switch {
	case t.Role.Edits() && p.o.Contained(t):
		return []string{"--permission-mode", "bypassPermissions"}
	case t.Role.Edits():
		return []string{"--permission-mode", "acceptEdits", "--allowedTools", strings.Join(append(editTools(t), readTools(t)...), ",")}
	}
	return []string{"--tools", "Read,Grep,Glob,WebFetch,WebSearch", "--allowedTools", strings.Join(readTools(t), ",")}
}

func editTools(_ agents.Task) []string {
	return []string{"Bash", "Edit", "Write", "NotebookEdit"}
}

func readTools(t agents.Task) []string {
	tools := []string{"Read", "Grep", "Glob", "WebFetch", "WebSearch"}
	for _, s := range t.MCP {
		tools = append(tools, "mcp__"+s.Name)
	}
	return tools
}

// servers is the configuration of the MCP servers.
func servers(all []agents.MCPServer) (string, error) {
	type server struct {
		Type    string            `json:"type"`
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env,omitempty"`
	}
	named := map[string]server{}
	for _, s := range all {
		env := map[string]string{}
		for _, e := range s.Env {
			name, value, _ := strings.Cut(e, "=")
			env[name] = value
		}
		named[s.Name] = server{"stdio", s.Command, append([]string{}, s.Args...), env}
	}
	data, err := json.Marshal(map[string]any{"mcpServers": named})
	if err != nil {
		return "", fmt.Errorf("write the list of MCP servers: %w", err)
	}
	return string(data), nil
}

// env turns off what a run in the background has no use for: updates, telemetry,
// the search by which MCP tools are hidden from the model, work that goes on after
// the answer, notes that one run leaves to the next past si's own, and files that
// are read because the prompt, which others wrote in, names them behind an @.
func (p program) env(t agents.Task) []string {
	set := []string{
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ENABLE_TOOL_SEARCH=false",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "CLAUDE_CODE_DISABLE_CRON=1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "CLAUDE_CODE_DISABLE_FILE_MENTIONS=1",
	}
	if p.o.Root && p.o.Contained(t) {
		set = append(set, "IS_SANDBOX=1") // else it refuses to edit as root
	}
	return p.o.Environment(t, keys(), set...)
}

func keys() stream.Keys {
	return stream.Keys{
		Own: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_MODEL",
			"ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_SMALL_FAST_MODEL",
			"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "MAX_THINKING_TOKENS",
			"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL",
			"ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "NODE_EXTRA_CA_CERTS",
		},
		Foreign: []string{"OPENAI_", "CODEX_", "GEMINI_", "GOOGLE_API_KEY", "CURSOR_"},
		Session: []string{
			"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION",
			"CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE",
		},
	}
}

// Folders are what the program needs of the user's home.
func Folders() agents.Folders {
	return agents.Folders{
		Writable: []string{".claude", ".claude.json", ".config/claude", ".cache/claude", ".local/state/claude"},
		Readable: []string{".local/share/claude", ".local/bin"},
	}
}
