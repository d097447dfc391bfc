package established

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"si/internal/durable"
	"si/learn/place"
)

func opened(t *testing.T) place.Place {
	t.Helper()
	p, err := place.Open(&durable.Store{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func seed(t *testing.T, p place.Place, f Facts) bool {
	t.Helper()
	written, err := Seed(t.Context(), p, f)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

func text(t *testing.T, p place.Place) string {
	t.Helper()
	data, err := p.Read(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSeed: what is known is written, once, as YAML that says the same again.
func TestSeed(t *testing.T) {
	p := opened(t)
	if seed(t, p, Facts{}) || text(t, p) != "" {
		t.Fatal("it said that nothing is known")
	}
	if !seed(t, p, Facts{Test: "go test ./... # all: of it", Benchmark: "sh bench.sh\x1b[2J\n&& true"}) {
		t.Fatal("it was not written")
	}
	var got map[string]string
	if err := yaml.Unmarshal([]byte(text(t, p)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got["test_command"] != "go test ./... # all: of it" || got["benchmark_command"] != "sh bench.sh && true" {
		t.Errorf("%q", got)
	}
	first := text(t, p)
	if seed(t, p, Facts{Test: "other"}) || text(t, p) != first || !strings.HasPrefix(first, "# ") {
		t.Errorf("it was written again: %q", text(t, p))
	}
}
