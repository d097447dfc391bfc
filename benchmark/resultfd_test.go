package benchmark

import (
	"os"
	"testing"

	"si/track"
)

func TestResultOnADescriptor(t *testing.T) {
	spec := Spec{Format: FormatJSON, Metric: "primary", Direction: track.HigherIsBetter, ResultFD: true}
	for name, c := range map[string]struct {
		command string
		score   float64
		fault   track.Category
	}{
		"the harness writes":               {`echo '{"primary": 1}' >&3`, 1, ""},
		"what is printed is not read":      {`echo '{"primary": 99}'; echo '{"primary": 1}' >&3; echo '{"primary": 99}'`, 1, ""},
		"not given to the code under test": {`sh -c 'echo "{\"primary\": 99}" >&3' 3>&- 2>/dev/null; echo '{"primary": 1}' >&3`, 1, ""},
		"only printed":                     {`echo '{"primary": 99}'`, 0, track.CategoryParseError},
		"written, and the command fails":   {`echo '{"primary": 1}' >&3; exit 3`, 0, track.CategoryLogicError},
		"quotes and blanks in the command": {`printf '{"primary": %s}\n' "$(printf '%s' '1')" >&3`, 1, ""},
		"a name in TMPDIR shows no result": {`cat "$TMPDIR"/* >/dev/null 2>&1 && exit 5; echo '{"primary": 1}' >&3`, 1, ""},
	} {
		spec.Command = c.command
		b := newBench(t, spec)
		got := b.measure(t)
		switch {
		case c.fault != "" && (got.Fault == nil || got.Fault.Category != c.fault):
			t.Errorf("%s: fault %v, want %s", name, got.Fault, c.fault)
		case c.fault == "" && (got.Fault != nil || got.Reading.Score != c.score):
			t.Errorf("%s: %v, fault %v, want %v", name, got.Reading.Score, got.Fault, c.score)
		}
		if left, err := os.ReadDir(b.job.Tmp); err != nil || len(left) > 0 {
			t.Errorf("%s: TMPDIR holds %v, %v", name, left, err)
		}
	}
}
