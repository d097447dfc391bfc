package realagents

import (
	"fmt"
	"os"
	"path/filepath"
)

// Key is the key that the agents send to the scripted server.
const Key = "sk-scripted-not-a-key"

// Home writes into home the settings by which each agent finds the model server at
// url, its address without a path. A home is thrown away after a test.
func Home(home, url string) error {
	for path, text := range map[string]string{
		".codex/config.toml": fmt.Sprintf(`model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false
`, url),
		".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}`,
		".pi/agent/models.json": fmt.Sprintf(`{"providers": {"scripted": {"baseUrl": "%s/v1", "api": "openai-completions", "apiKey": "%s",
  "models": [{"id": "scripted", "name": "scripted", "contextWindow": 128000, "maxTokens": 8000}]}}}`, url, Key),
		".config/opencode/opencode.json": fmt.Sprintf(`{"model": "scripted/scripted", "autoupdate": false, "share": "disabled",
  "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "%s/v1", "apiKey": "%s"}, "models": {"scripted": {"name": "scripted"}}}}}`, url, Key),
		".pi/agent/settings.json": `{"defaultProvider": "scripted", "defaultModel": "scripted"}`,
	} {
		path = filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("make the agents' home: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("make the agents' home: %w", err)
		}
	}
	return nil
}

// Env is the whole environment of the agents: their programs in bin, their home,
// and the server at url.
func Env(bin, home, url string) []string {
	return []string{
		"PATH=" + bin + ":" + nodeFolders(), "HOME=" + home, "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + filepath.Join(home, "tmp"),
		"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=" + Key, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_MAX_RETRIES=1", "IS_SANDBOX=1", "ENABLE_TOOL_SEARCH=false",
		"SCRIPTED_KEY=" + Key,
		"GEMINI_API_KEY=" + Key, "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true",
		"PI_OFFLINE=1", "PI_TELEMETRY=0",
		"OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=" + Key, "OPENAI_MODEL=scripted",
		"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=" + Key, "COPILOT_MODEL=scripted", "COPILOT_OFFLINE=true",
	}
}

// nodeFolders are where node and the usual commands are.
func nodeFolders() string { return "/usr/local/bin:/usr/bin:/bin" }

// KeyNames are the variables of Env that a white list has to let through.
func KeyNames() []string {
	return []string{
		"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_MAX_RETRIES",
		"IS_SANDBOX", "ENABLE_TOOL_SEARCH", "SCRIPTED_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_CLI_TRUST_WORKSPACE",
		"PI_OFFLINE", "PI_TELEMETRY",
		"OPENCODE_DISABLE_MODELS_FETCH", "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL",
		"COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_API_KEY", "COPILOT_MODEL", "COPILOT_OFFLINE",
	}
}

// Client is one agent program and the arguments with which it takes a prompt on
// its standard input and may edit its folder.
type Client struct {
	Name string
	Args []string
}

// Clients are the programs of Packages.
func Clients() []Client {
	return []Client{
		{"codex", []string{"exec", "--json", "--skip-git-repo-check", "--disable", "plugins", "--dangerously-bypass-approvals-and-sandbox", "-"}},
		{"claude", []string{"-p", "--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5", "--permission-mode", "bypassPermissions"}},
		{"gemini", []string{"-m", "gemini-2.5-pro", "--output-format", "stream-json", "--approval-mode", "yolo"}},
		{"pi", []string{"--provider", "scripted", "--model", "scripted", "--offline", "--mode", "json", "-p"}},
	}
}
