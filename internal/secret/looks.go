package secret

import "si/internal/lazyre"

// forms are what keys of well-known services look like, as the services describe them:
// each has a mark that other texts do not have.
var forms = []struct {
	kind string
	form *lazyre.Regexp
}{
	{"a private key", lazyre.New(`(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*-----|\z)`)},
	{"a key of AWS", lazyre.New(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a token of GitHub", lazyre.New(`\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})`)},
	{"a token of GitLab", lazyre.New(`\bglpat-[A-Za-z0-9_-]{20}`)},
	{"a key of a model's server", lazyre.New(`\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_]*[0-9][A-Za-z0-9_-]{19}`)},
	{"a key of Google", lazyre.New(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"a token of Slack", lazyre.New(`\bxox[abeoprs]-[0-9A-Za-z-]{20}`)},
	{"a key of Stripe", lazyre.New(`\b[rs]k_live_[0-9A-Za-z]{16}`)},
	{"a token of npm", lazyre.New(`\bnpm_[A-Za-z0-9]{36}`)},
	{"a token of PyPI", lazyre.New(`\bpypi-[A-Za-z0-9_-]{50}`)},
	{"a token of Hugging Face", lazyre.New(`\bhf_[A-Za-z0-9]{34}`)},
	{"a signed token (JWT)", lazyre.New(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}`)},
	{"an address with a password", lazyre.New(`\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'"]+:[^\s/:@'"${}<>]{6,}@[A-Za-z0-9]`)},
}

// Looks says what kind of secret a text seems to hold, "" for none. It knows keys by
// their form alone, so it finds those of well-known services, which nobody has told it,
// and no others.
func Looks(text string) string {
	for _, f := range forms {
		if f.form.MatchString(text) {
			return f.kind
		}
	}
	return ""
}

// Mask puts Hidden in the place of all that Looks finds.
func Mask(text string) string {
	for _, f := range forms {
		text = f.form.ReplaceAllString(text, Hidden)
	}
	return text
}
