package httpmodel

import "strings"

// hidden stands where a key stood.
const hidden = "[key]"

// without takes the key out of a text: servers repeat it in their complaints.
func without(key, text string) string {
	if len(key) < 4 {
		return text // too short to be a secret, and part of many words
	}
	return strings.ReplaceAll(text, key, hidden)
}

// lookup finds a variable in an environment, whose last value counts.
func lookup(env []string, name string) (value string, found bool) {
	if name == "" {
		return "", false
	}
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value, found = v, true
		}
	}
	return value, found
}

// withoutKey is the environment of what the model starts: it has no variable of
// the name of the key, nor another one with the key in it.
func withoutKey(env []string, name, key string) []string {
	var out []string
	for _, e := range env {
		n, value, _ := strings.Cut(e, "=")
		if name != "" && n == name || len(key) >= 4 && strings.Contains(value, key) {
			continue
		}
		out = append(out, e)
	}
	return out
}
