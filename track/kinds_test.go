package track

import (
	"os"
	"strings"
	"testing"
)

// TestEveryKindIsDocumented: who reads the journal finds what each event holds.
func TestEveryKindIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		if kinds, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok {
			for kind := range strings.SplitSeq(kinds, ", ") {
				rows[kind] = true
			}
		}
	}
	for _, kind := range Kinds() {
		if !rows["`"+string(kind)+"`"] {
			t.Errorf("docs/formats.md has no row for %s", kind)
		}
	}
}
