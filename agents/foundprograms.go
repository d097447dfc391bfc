package agents

// knownProgram is how an agent program is found, and how its login is seen.
type knownProgram struct {
	name    string
	program string
	install string
	keys    []string   // variables that are as good as a login
	logins  []homeFile // files that a login leaves
	// settings may name a provider that needs no login, a local server for one.
	settings []homeFile
	hint     string // what to do when nobody is logged in
	other    string // how another program of this name begins to tell its version, in lower case
}

// homeFile is a file of the user's: below the folder that a variable names, or
// below a folder of HOME.
type homeFile struct{ variable, home, inside string }

// knownPrograms are the agent programs of the end of 2026.
func knownPrograms() []knownProgram {
	return []knownProgram{
		{
			name: "claude", program: "claude", install: "npm install -g @anthropic-ai/claude-code",
			keys:     []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"},
			logins:   []homeFile{{"CLAUDE_CONFIG_DIR", ".claude", ".credentials.json"}},
			settings: []homeFile{{"CLAUDE_CONFIG_DIR", ".claude", "settings.json"}}, // and a Mac's login is in its keychain
			hint:     "run claude once and log in, or set ANTHROPIC_API_KEY",
		},
		{
			name: "codex", program: "codex", install: "npm install -g @openai/codex",
			keys: []string{"CODEX_API_KEY"}, logins: []homeFile{{"CODEX_HOME", ".codex", "auth.json"}}, settings: []homeFile{{"CODEX_HOME", ".codex", "config.toml"}},
			hint: "run codex login, or set CODEX_API_KEY",
		},
		{
			name: "gemini", program: "gemini", install: "npm install -g @google/gemini-cli",
			keys: []string{"GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"}, logins: []homeFile{{"", ".gemini", "oauth_creds.json"}},
			hint: "run gemini once and log in, or set GEMINI_API_KEY",
		},
		{
			name: "opencode", program: "opencode", install: "npm install -g opencode-ai",
			keys:     []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY", "OPENCODE_CONFIG"},
			logins:   []homeFile{{"XDG_DATA_HOME", ".local/share", "opencode/auth.json"}},
			settings: []homeFile{{"XDG_CONFIG_HOME", ".config", "opencode/opencode.json"}, {"XDG_CONFIG_HOME", ".config", "opencode/opencode.jsonc"}},
			hint:     "run opencode auth login",
		},
		{
			name: "qwen", program: "qwen", install: "npm install -g @qwen-code/qwen-code",
			keys: []string{"OPENAI_API_KEY", "DASHSCOPE_API_KEY"}, logins: []homeFile{{"", ".qwen", "oauth_creds.json"}},
			hint: "run qwen once and log in, or set OPENAI_API_KEY and OPENAI_BASE_URL",
		},
		{
			name: "copilot", program: "copilot", install: "npm install -g @github/copilot",
			keys: []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"}, logins: []homeFile{{"", ".copilot", "config.json"}},
			hint: "run copilot once and log in with /login", other: "copilot version", // a cloud's deployment tool
		},
		{
			name: "goose", program: "goose", install: "see block.github.io/goose",
			keys: []string{"GOOSE_PROVIDER"}, logins: []homeFile{{"XDG_CONFIG_HOME", ".config", "goose/config.yaml"}},
			hint: "run goose configure", other: "goose version", // a tool for migrations of databases
		},
		{
			name: "pi", program: "pi", install: "npm install -g @earendil-works/pi-coding-agent",
			keys:     []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"},
			logins:   []homeFile{{"PI_CODING_AGENT_DIR", ".pi/agent", "auth.json"}},
			settings: []homeFile{{"PI_CODING_AGENT_DIR", ".pi/agent", "models.json"}},
			hint:     "run pi once and log in with /login",
		},
	}
}
