package agents

import (
	"slices"
	"testing"
)

func TestAgentEnv(t *testing.T) {
	have := map[string]string{
		"PATH": "/bin", "HOME": "/home/u", "LC_ALL": "C", "XDG_CONFIG_HOME": "/c", "https_proxy": "http://p", "SSL_CERT_FILE": "/x.pem",
		"TERM": "xterm", "AWS_SECRET_ACCESS_KEY": "no", "EDITOR": "vi", "MODEL_KEY": "k", "EMPTY": "", "NUL": "a\x00b",
		"GIT_DIR": "/g", "SI_RUN": "1", "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_OAUTH_TOKEN": "t",
	}
	lookup := func(name string) (string, bool) { v, ok := have[name]; return v, ok }
	allow := []string{"MODEL_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "GIT_DIR", "SI_RUN", "CLAUDECODE", "TERM", "PATH", "EMPTY", "NUL", "ABSENT", "", "A=B"}
	want := []string{
		"CLAUDE_CODE_OAUTH_TOKEN=t", "EMPTY=", "HOME=/home/u", "LC_ALL=C", "MODEL_KEY=k", "PATH=/bin",
		"SSL_CERT_FILE=/x.pem", "TERM=dumb", "XDG_CONFIG_HOME=/c", "https_proxy=http://p",
	}
	if got := AgentEnv(lookup, allow); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
