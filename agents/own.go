package agents

import "path/filepath"

// OwnFolders are the folders and files in which the known agent programs keep their
// configuration, logins and sessions: what such a program must be able to write,
// and a benchmark must not be able to read.
func OwnFolders(home string) []string {
	if !filepath.IsAbs(home) {
		return nil
	}
	var out []string
	for _, name := range []string{
		".claude", ".claude.json", ".config/claude", ".codex", ".gemini", ".config/opencode", ".local/share/opencode", ".local/state/opencode",
		".pi", ".config/goose", ".local/share/goose", ".aider.conf.yml", ".config/github-copilot", ".copilot", ".cursor", ".qwen", ".config/amp", ".local/share/amp",
	} {
		out = append(out, filepath.Join(home, name))
	}
	return out
}
