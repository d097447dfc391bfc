package agents

import (
	"slices"
	"strings"
)

// AgentEnv builds an agent's environment from a white list: what a program
// needs to find its files, its language and the network, and the variables
// named in allow (keys of a model's provider, mostly). lookup is os.LookupEnv
// or like it. Variables that would bind an agent to the session that si itself
// runs in are left out: GIT_*, SI_* and CLAUDECODE even when allowed,
// CLAUDE_CODE_* unless allowed by name, since a login token has such a name.
// The result is sorted and says TERM=dumb.
func AgentEnv(lookup func(string) (string, bool), allow []string) []string {
	env := []string{"TERM=dumb"}
	for _, name := range append(inheritedNames(), allow...) {
		if !mayInherit(name) {
			continue
		}
		if value, ok := lookup(name); ok && !strings.ContainsRune(value, 0) {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	return slices.Compact(env)
}

func inheritedNames() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR",
		"LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
		"XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
	}
}

func mayInherit(name string) bool {
	if name == "" || name == "TERM" || name == "CLAUDECODE" || strings.ContainsAny(name, "=\x00") {
		return false
	}
	return !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "SI_")
}
