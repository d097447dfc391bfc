package httpmodel

import "strings"

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
		if name != "" && n == name || key != "" && strings.Contains(value, key) {
			continue
		}
		out = append(out, e)
	}
	return out
}
