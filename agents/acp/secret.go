package acp

import (
	"cmp"
	"slices"
	"strings"
)

const (
	hidden    = "[secret]"
	minSecret = 8 // bytes; what is shorter is part of many words
)

// secrets are values that must not be repeated: programs print their environment.
type secrets struct {
	all []string // the longest first
}

func secretsOf(envs ...[]string) secrets {
	var s secrets
	for _, env := range envs {
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			if len(value) >= minSecret && namesSecret(name) && !slices.Contains(s.all, value) {
				s.all = append(s.all, value)
			}
		}
	}
	slices.SortFunc(s.all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return s
}

func namesSecret(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func (s secrets) mask(text string) string {
	for _, secret := range s.all {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return text
}

// unsure is how many bytes at the end of text may be the beginning of a secret.
func (s secrets) unsure(text string) int {
	longest := 0
	for _, secret := range s.all {
		for n := min(len(secret)-1, len(text)); n > longest; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				longest = n
			}
		}
	}
	return longest
}
