package policy

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxHook bounds what a hook reads: a tool may write a large file.
const maxHook = 64 << 20

// The answers to a coding agent that asks before it uses a tool. Silence leaves the
// decision to the agent's own settings, so that AUTO never widens them.
const (
	HookSilent = ""
	HookAsk    = "ask"
	HookDeny   = "deny"
)

// Answer is what the hook says.
type Answer struct {
	Decision string
	Reason   string
	Broken   bool // the question could not be understood, so it is denied
}

type hookInput struct {
	Cwd   string          `json:"cwd"`
	Event string          `json:"hook_event_name"`
	Tool  string          `json:"tool_name"`
	Input json.RawMessage `json:"tool_input"`
}

// Hook answers a coding agent's question, read from in, whether a tool may be used.
// What cannot be understood is denied.
func (p *Policy) Hook(in io.Reader) Answer {
	data, err := io.ReadAll(io.LimitReader(in, maxHook+1))
	var q hookInput
	switch {
	case err != nil:
		return broken("it cannot be read: %v", err)
	case len(data) > maxHook:
		return broken("it is larger than %d bytes", maxHook)
	}
	if err := json.Unmarshal(data, &q); err != nil {
		return broken("it is no JSON object: %v", err)
	}
	if q.Tool == "" {
		return broken("it names no tool")
	}
	if reads(q.Tool) {
		return Answer{}
	}
	var input any
	if err := json.Unmarshal(q.Input, &input); err != nil {
		return broken("tool_input cannot be read: %v", err)
	}
	return p.judge(q, input)
}

func broken(format string, args ...any) Answer {
	return Answer{HookDeny, "si policy: the question is not understood, so the answer is no: " + fmt.Sprintf(format, args...), true}
}

// reads reports tools that are known to write no file.
func reads(tool string) bool {
	return slices.Contains([]string{
		"Read", "Glob", "Grep", "LS", "NotebookRead", "WebFetch", "WebSearch", "TodoWrite", "TodoRead", "Task", "Agent", "BashOutput", "KillShell", "ExitPlanMode", "AskUserQuestion", "ToolSearch", "Skill",
	}, tool)
}

// writes are the tools that must name a path.
func writes(tool string) bool {
	return slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit"}, tool)
}

func (p *Policy) judge(q hookInput, input any) Answer {
	paths, commands := named(input, "", 0)
	if writes(q.Tool) && len(paths) == 0 {
		return broken("the tool %.40q names no path", q.Tool)
	}
	var worst Decision
	consider := func(d Decision) {
		if worst.Class == "" || d.Class.strictness() > worst.Class.strictness() {
			worst = d
		}
	}
	for _, name := range paths {
		if !filepath.IsAbs(name) && q.Cwd != "" {
			name = filepath.Join(q.Cwd, name)
		}
		consider(p.Decide(name))
	}
	for _, text := range commands {
		if d, found := p.command(q.Cwd, text); found {
			consider(d)
		}
	}
	switch worst.Class {
	case Kernel:
		return Answer{Decision: HookDeny, Reason: fmt.Sprintf("si policy: %s is KERNEL by %s: %s", worst.Path, worst.Rule, worst.Reason)}
	case Gated:
		return Answer{Decision: HookAsk, Reason: fmt.Sprintf("si policy: %s is GATED by %s: %s", worst.Path, worst.Rule, worst.Reason)}
	case Auto:
	}
	return Answer{}
}

// named collects the paths and the shell commands in a tool's input, by the names of
// their keys.
func named(v any, key string, depth int) (paths, commands []string) {
	if depth > 10 {
		return nil, nil
	}
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			p, c := named(item, k, depth+1)
			paths, commands = append(paths, p...), append(commands, c...)
		}
	case []any:
		for _, item := range v {
			p, c := named(item, key, depth+1)
			paths, commands = append(paths, p...), append(commands, c...)
		}
	case string:
		k := strings.ToLower(key)
		switch {
		case k == "command" || k == "cmd" || k == "script":
			commands = append(commands, v)
		case v != "" && (strings.HasSuffix(k, "path") || strings.HasSuffix(k, "file") || k == "paths" || k == "files" || k == "destination" || k == "target"):
			paths = append(paths, v)
		}
	}
	slices.Sort(paths) // of a map, whose order is random
	slices.Sort(commands)
	return paths, commands
}

var wordEnds = regexp.MustCompile("[\\s'\"`;|&<>()=,:]+")

// command looks for KERNEL paths among the words of a shell command; sealed ones may
// be named, since the benchmark is run that way.
// A shell has other ways to name a file, so this is a fence and no wall: what holds
// is that the program classifies the difference of the trees itself.
func (p *Policy) command(cwd, text string) (Decision, bool) {
	for _, word := range wordEnds.Split(text, -1) {
		if word == "" || strings.HasPrefix(word, "-") || !strings.ContainsAny(word, "/.") {
			continue
		}
		full := word
		if !filepath.IsAbs(word) && cwd != "" {
			full = filepath.Join(cwd, word)
		}
		d := p.Decide(full)
		if d.Class == Kernel && !d.sealed && d.Rule != "outside" && d.Rule != "default" {
			return d, true
		}
	}
	return Decision{}, false
}

// JSON is the answer in the form that coding agents read, "" for silence.
func (a Answer) JSON() string {
	if a.Decision == HookSilent {
		return ""
	}
	type output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	}
	data, err := json.Marshal(struct {
		Output output `json:"hookSpecificOutput"`
	}{output{"PreToolUse", a.Decision, a.Reason}})
	if err != nil { // texts can always be written
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`
	}
	return string(data)
}
