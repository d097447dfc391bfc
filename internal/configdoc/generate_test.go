package main

import (
	"os"
	"strings"
	"testing"
)

// TestDocsFollowTheCode compares docs/configuration.md with what the code says.
func TestDocsFollowTheCode(t *testing.T) {
	want, err := Generate("../../track/settings.go")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/configuration.md is not what the code says; run: go run ./internal/configdoc > docs/configuration.md")
	}
}

// TestEveryKeyIsExplained wants a comment at each field of the settings.
func TestEveryKeyIsExplained(t *testing.T) {
	text, err := Generate("../../track/settings.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `") && strings.HasSuffix(strings.TrimSpace(line), "|  |") {
			t.Errorf("no meaning: %s", line)
		}
	}
}
