package gitops

import "testing"

func TestOwnerOf(t *testing.T) {
	for url, want := range map[string]string{
		"git@example.org:ada/engine.git":       "ada",
		"https://example.org/ada/engine":       "ada",
		"ssh://git@example.org:22/ada/e.git":   "ada",
		"https://example.org/":                 "",
		"":                                     "",
		"/srv/git/engine.git":                  "",
		"https://example.org/group/sub/engine": "group",
	} {
		if got := OwnerOf(url); got != want {
			t.Errorf("OwnerOf(%q) = %q, want %q", url, got, want)
		}
	}
}
