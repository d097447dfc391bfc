// Package codex plays roles with OpenAI's Codex, the program codex (0.171 and its
// likes), by the JSON lines of codex exec. It knows the program's flags and the
// words of its stream; how a program is run and held to limits is for package
// stream.
package codex

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"si/agents"
	"si/agents/stream"
)

// Options say which program plays, and with what.
type Options = stream.Options

// New returns a backend that plays with codex.
func New(o Options) *stream.Backend {
	o = o.WithDefaults("codex")
	return stream.New(program{o}, o)
}

type program struct{ o Options }

// schemaFile is the name of the answer's schema in the folder of a run.
const schemaFile = "answer.schema.json"

// Dialect is as promised by stream.Program.
func (p program) Dialect(t agents.Task, now func() time.Time) stream.Dialect {
	return &dialect{now: now, zone: p.o.Zone, model: t.Model}
}

// Order starts codex exec, which asks nobody. Settings are given by -c, where a
// version that does not know one passes over it.
func (p program) Order(t agents.Task, dir string) (stream.Order, error) {
	args := []string{
		"exec", "--json", "--skip-git-repo-check", "--color", "never",
		"-c", "analytics.enabled=false", // else it lingers for seconds at its end
		"-c", "features.plugins=false", // else it looks for plugins on the network
		"-c", "check_for_update_on_startup=false",
	}
	args = append(args, p.access(t)...)
	if t.Model != "" {
		args = append(args, "-m", t.Model)
	}
	if t.Effort != "" {
		args = append(args, "-c", "model_reasoning_effort="+quoted(t.Effort))
	}
	servers, err := servers(t.MCP)
	if err != nil {
		return stream.Order{}, err
	}
	o := stream.Order{Env: p.o.Environment(t, keys()), Stdin: t.Prompt}
	if len(t.Schema) > 0 {
		schema, err := agents.StrictSchema(t.Schema)
		if err != nil {
			return stream.Order{}, err
		}
		o.Files = map[string][]byte{schemaFile: schema}
		args = append(args, "--output-schema", filepath.Join(dir, schemaFile))
	}
	if t.Limits.CostUSD > 0 {
		o.Notes = append(o.Notes, "codex does not say what it costs: its limit of cost holds by the table of prices, at the end of the task")
	}
	o.Args = append(append(args, servers...), "-") // the prompt is on stdin
	return o, nil
}

// access chooses what the program's commands may do. Inside of si's containment
// its own sandbox is not sure to work, and not needed.
func (p program) access(t agents.Task) []string {
	switch {
	case p.o.Contained(t):
		return []string{"--dangerously-bypass-approvals-and-sandbox"}
	case t.Role.Edits():
		return []string{"-s", "workspace-write", "-c", "sandbox_workspace_write.network_access=true"}
	}
	return []string{"-s", "read-only"}
}

// servers are the settings of the MCP servers.
func servers(all []agents.MCPServer) ([]string, error) {
	var out []string
	for _, s := range all {
		if s.Name == "" || strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			return nil, fmt.Errorf("the name %q of an MCP server has other characters than letters, digits, _ and -", s.Name)
		}
		key := "mcp_servers." + s.Name
		out = append(out, "-c", key+".command="+quoted(s.Command))
		if len(s.Args) > 0 {
			out = append(out, "-c", key+".args="+list(s.Args))
		}
		if len(s.Env) > 0 {
			out = append(out, "-c", key+".env="+table(s.Env))
		}
		// Nobody is there to be asked, so codex would refuse every tool of it that writes.
		out = append(out, "-c", key+`.default_tools_approval_mode="approve"`)
	}
	return out, nil
}

// quoted is a basic string of TOML. Those of JSON are that too, but for DEL.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil { // a text can always be written
		return `""`
	}
	return strings.ReplaceAll(string(data), "\x7f", `\u007f`)
}

func list(items []string) string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = quoted(item)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func table(env []string) string {
	var out []string
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		out = append(out, quoted(name)+" = "+quoted(value))
	}
	sort.Strings(out)
	return "{" + strings.Join(out, ", ") + "}"
}

// keys leaves most names alone: which variable holds the key of a provider is
// for the user's own config.toml to say.
func keys() stream.Keys {
	return stream.Keys{
		Own: []string{
			"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "CODEX_HOME", "CODEX_CA_CERTIFICATE",
		},
		Foreign: []string{"ANTHROPIC_", "CLAUDE_"},
		Session: []string{
			"CLAUDECODE", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE", "CODEX_CI",
		},
	}
}

// Folders are what the program needs of the user's home.
func Folders() agents.Folders {
	return agents.Folders{Writable: []string{".codex"}, Readable: []string{".local/bin"}}
}
