package knowledge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/internal/durable"
	"si/learn/place"
)

// repository is a checkout with the given files.
func repository(tb testing.TB, files map[string]string) place.Place {
	tb.Helper()
	top := tb.TempDir()
	for name, text := range files {
		full := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return opened(tb, top)
}

func opened(tb testing.TB, top string) place.Place {
	tb.Helper()
	p, err := place.Open(&durable.Store{}, top)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func loaded(tb testing.TB, p place.Place) *Store {
	tb.Helper()
	s, err := Load(p)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// one is the YAML of an entry with further lines.
func one(id, text string, more ...string) string {
	s := fmt.Sprintf("  - id: %s\n    kind: fact\n    text: %q\n    confidence: 0.8\n    provenance: [{source: human, reference: r}]\n", id, text)
	for _, line := range more {
		s += "    " + line + "\n"
	}
	return s
}

func store(tb testing.TB, entries ...string) *Store {
	tb.Helper()
	return loaded(tb, repository(tb, map[string]string{".si/knowledge/a.yaml": "entries:\n" + strings.Join(entries, "")}))
}

func briefed(tb testing.TB, s *Store, r Request) Brief {
	tb.Helper()
	b, err := s.Brief(r)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
