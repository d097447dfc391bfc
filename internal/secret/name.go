package secret

import (
	"os"
	"slices"
	"strings"
)

const digits = "0123456789"

// Named tells whether a variable, or a header, of this name may hold a credential. It is
// the one list of such names: what is kept from benchmarks, and what is taken out of
// texts, must not differ.
func Named(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range []string{"PASSWORD", "PASSWD", "PASSPHRASE", "TOKEN", "SECRET", "CREDENTIAL", "AUTHORIZATION", "COOKIE", "APIKEY", "ACCESSKEY", "PRIVATEKEY"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == ' ' })
	return slices.ContainsFunc(words, func(w string) bool {
		return strings.HasSuffix(w, "KEY") || strings.HasSuffix(w, "KEYS") || strings.HasSuffix(w, "PASS") || slices.Contains([]string{"HEADERS", "AUTH", "PAT"}, w)
	})
}

// holds tells whether a variable holds a secret by its name, and nothing that only
// looks so: a number of tokens, or the place of a file.
func holds(name, value string) bool {
	if !Named(name) {
		return false
	}
	upper := strings.ToUpper(name)
	if strings.Contains(upper, "PASSW") || strings.Contains(upper, "PASSPHRASE") {
		return true
	}
	if len(value) < 12 && strings.Trim(value, digits) == "" {
		return false
	}
	if !strings.HasPrefix(value, "/") { // many keys are base64, which has slashes, too
		return true
	}
	_, err := os.Lstat(value)
	return err != nil && !strings.HasSuffix(upper, "FILE") && !strings.HasSuffix(upper, "PATH") && !strings.HasSuffix(upper, "SOCK")
}
