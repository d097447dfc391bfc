package secret

import (
	"strings"
	"testing"
)

// TestLooks: a key of each kind is known in the middle of a text; what only resembles
// one is none. The keys are put together here, so that no file holds one.
func TestLooks(t *testing.T) {
	long := strings.Repeat("aB3dE5", 20)
	for text, want := range map[string]string{
		"-----BEGIN " + "OPENSSH PRIVATE KEY-----":               "a private key",
		"-----BEGIN " + "PRIVATE KEY-----":                       "a private key",
		"AKIA" + "ABCDEFGHIJ234567":                              "a key of AWS",
		"ghp_" + long[:36]:                                       "a token of GitHub",
		"github_pat_" + long[:40]:                                "a token of GitHub",
		"glpat-" + long[:20]:                                     "a token of GitLab",
		"sk-ant-api03-" + long:                                   "a key of a model's server",
		"sk-" + long[:48]:                                        "a key of a model's server",
		"AIza" + long[:35]:                                       "a key of Google",
		"xoxb-" + "123456789012-" + long[:12]:                    "a token of Slack",
		"sk_live_" + long[:24]:                                   "a key of Stripe",
		"npm_" + long[:36]:                                       "a token of npm",
		"pypi-" + long[:60]:                                      "a token of PyPI",
		"hf_" + long[:34]:                                        "a token of Hugging Face",
		"eyJ" + long[:20] + ".eyJ" + long[:20] + "." + long[:43]: "a signed token (JWT)",
		"postgres://app:" + "hunter22@db.example.org/x":          "an address with a password",
		"set sk-learn-style-names-in-the-long-configuration":     "",
		"task-force-of-the-very-long-names-in-1999":              "",
		"https://example.org/a@b:c":                              "",
		"postgres://app:${PASSWORD}@db/x":                        "",
		"ssh://git@example.org:2222/x":                           "",
		"AKIA is how they begin":                                 "",
		"the key is in $GITHUB_TOKEN, which begins with ghp_":    "",
		"commit 0123456789abcdef0123456789abcdef01234567":        "",
	} {
		if got := Looks("Use " + text + " for it."); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		masked := Mask("Use " + text + " for it.")
		if Looks(masked) != "" || !strings.HasPrefix(masked, "Use ") || (masked == "Use "+text+" for it.") != (want == "") {
			t.Errorf("%q becomes %q", text, masked)
		}
	}
}
