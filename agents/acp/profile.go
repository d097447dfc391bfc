package acp

import (
	"slices"
	"strings"

	"si/agents"
)

// Profile is what si knows of one agent program. Its facts age: what it names is
// tried, never relied on.
type Profile struct {
	Name    string // what people call it
	Program string // looked up in PATH
	Args    []string
	Old     *Flags // of versions that want other ones

	ModelFlag []string // names a model at the start, before its value; nil when only the protocol can
	Keys      []string // variables that it is given: keys, and where its model's server is
	Set       []string // KEY=value that it is given always
	SetEdit   []string // … in roles that edit
	SetRead   []string // … in the others

	Writable []string // folders and files below the home folder that it must be able to write: logins, sessions, caches
	Readable []string // … and to read

	Logins        []Login
	LoginHint     string // what a person does when it is not logged in
	LastStepUsage bool   // it counts the tokens of its last step only
	Quirks        []string
}

// Flags are those of the versions before one.
type Flags struct {
	Before string // 1.2.3
	Args   []string
}

// Login is a way to log in that needs nothing but a variable.
type Login struct{ Variable, Method string }

// Profiles are the programs that are known, in the order of their names.
func Profiles() []Profile {
	return []Profile{copilot(), gemini(), goose(), opencode(), qwen()}
}

// Find gives the profile of a known program by its name, or of any program by
// "acp:" and a command line for the shell, or "acp:" and a known name.
func Find(name string) (Profile, bool) {
	line, other := strings.CutPrefix(name, "acp:")
	line = strings.TrimSpace(line)
	for _, p := range Profiles() {
		if p.Name == line {
			return p, true
		}
	}
	if !other || line == "" {
		return Profile{}, false
	}
	return Command(line), true
}

// Command is the profile of a program that is started by a command line for
// /bin/sh. It gets the variables that the task names, and no others.
func Command(line string) Profile {
	return Profile{Name: "acp:" + line, Program: "/bin/sh", Args: []string{"-c", line}}
}

func gemini() Profile {
	return Profile{
		Name: "gemini", Program: "gemini", Args: []string{"--acp"}, ModelFlag: []string{"-m"},
		Old: &Flags{Before: "0.33.0", Args: []string{"--experimental-acp"}},
		Keys: []string{
			"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
			"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS",
		},
		Set:       []string{"GEMINI_CLI_TRUST_WORKSPACE=true"},
		Writable:  []string{".gemini"},
		Logins:    []Login{{"GEMINI_API_KEY", "gemini-api-key"}, {"GOOGLE_GENAI_USE_VERTEXAI", "vertex-ai"}},
		LoginHint: "start gemini once and log in, or set GEMINI_API_KEY",
		Quirks: []string{
			"a tool call that it asks permission for is told by the request only",
			"it tries again for minutes when its server is at a limit, and says so on stderr only, which explains its end",
			"it notes the way to log in that si chose, a key, in its settings",
		},
	}
}

func opencode() Profile {
	return Profile{
		Name: "opencode", Program: "opencode", Args: []string{"acp"},
		Keys:          append([]string{"OPENCODE_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_DISABLE_MODELS_FETCH"}, providerKeys()...),
		Set:           []string{"OPENCODE_DISABLE_AUTOUPDATE=1"},
		SetRead:       []string{`OPENCODE_PERMISSION={"edit":"deny","bash":"deny","external_directory":"deny"}`},
		Writable:      []string{".config/opencode", ".local/share/opencode", ".local/state/opencode"},
		LoginHint:     "run opencode auth login, or set the key of its provider",
		LastStepUsage: true,
		Quirks:        []string{"it counts the tokens of its last step only: after a tool call they are unknown, what it cost is not"},
	}
}

func qwen() Profile {
	return Profile{
		Name: "qwen", Program: "qwen", Args: []string{"--acp"}, ModelFlag: []string{"-m"},
		Keys:      []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY"},
		Writable:  []string{".qwen"},
		Logins:    []Login{{"OPENAI_API_KEY", "openai"}},
		LoginHint: "start qwen once and log in, or set OPENAI_API_KEY and OPENAI_BASE_URL",
		Quirks:    []string{"it waits for a minute when its server is busy, and says nothing meanwhile"},
	}
}

func copilot() Profile {
	return Profile{
		Name: "copilot", Program: "copilot", Args: []string{"--acp", "--no-auto-update"}, ModelFlag: []string{"--model"},
		Keys: []string{
			"COPILOT_GITHUB_TOKEN", "COPILOT_MODEL", "COPILOT_OFFLINE",
			"COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_TYPE",
		},
		Writable:  []string{".copilot", ".config/github-copilot"},
		LoginHint: "start copilot once and log in, or set COPILOT_GITHUB_TOKEN",
		Quirks:    []string{"some versions do what they like without asking (github/copilot-cli#845): only containment holds them"},
	}
}

func goose() Profile {
	return Profile{
		Name: "goose", Program: "goose", Args: []string{"acp"},
		Keys:      append([]string{"GOOSE_PROVIDER", "GOOSE_MODEL", "OPENAI_HOST", "OPENAI_BASE_PATH", "OLLAMA_HOST"}, providerKeys()...),
		SetEdit:   []string{"GOOSE_MODE=auto"},
		SetRead:   []string{"GOOSE_MODE=approve"},
		Writable:  []string{".config/goose", ".local/share/goose", ".local/state/goose"},
		LoginHint: "run goose configure, or set GOOSE_PROVIDER, GOOSE_MODEL and the key of the provider",
		Quirks:    []string{"some versions refuse to change their mode in a session; the variable GOOSE_MODE sets it at the start"},
	}
}

func providerKeys() []string {
	return []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY",
		"GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY",
	}
}

// Folders are what the program needs of the user's home.
func (p Profile) Folders() agents.Folders {
	return agents.Folders{Writable: p.Writable, Readable: p.Readable}
}

// environment is the task's, with the profile's keys and settings.
func (p Profile) environment(t agents.Task, lookup func(string) (string, bool)) []string {
	env := slices.Clone(t.Env)
	for _, name := range p.Keys {
		if value, found := lookup(name); found && !has(env, name) && !strings.ContainsRune(value, 0) {
			env = append(env, name+"="+value)
		}
	}
	set := slices.Concat(p.Set, p.SetRead)
	if t.Role.Edits() {
		set = slices.Concat(p.Set, p.SetEdit)
	}
	return append(env, set...) // of several values the last one counts
}

func has(env []string, name string) bool {
	return slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
}

// valueOf is the last value of a variable.
func valueOf(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, found := strings.CutPrefix(env[i], name+"="); found {
			return value
		}
	}
	return ""
}

func (p Profile) flags(args []string, model string) []string {
	if model == "" || len(p.ModelFlag) == 0 {
		return args
	}
	return slices.Concat(args, p.ModelFlag, []string{model})
}

// login is the method that needs nothing but what is in env, "" when there is none.
func (p Profile) login(offered []authMethod, env []string) string {
	for _, m := range offered {
		for _, l := range p.Logins {
			if m.ID == l.Method && valueOf(env, l.Variable) != "" {
				return m.ID
			}
		}
		missing := len(m.Vars) == 0
		for _, v := range m.Vars {
			missing = missing || valueOf(env, v.Name) == ""
		}
		if m.Type == "env_var" && !missing {
			return m.ID
		}
	}
	return ""
}
