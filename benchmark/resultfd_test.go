package benchmark

import (
	"os"
	"strings"
	"testing"

	"si/track"
)

// hostileChild is a harness that runs hostile code without its descriptor, and then
// reports.
func hostileChild(code string) string {
	return "sh -c '" + strings.ReplaceAll(code, "'", `'\''`) + "' 3>&- 2>/dev/null; echo '{\"primary\": 1}' >&3"
}

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
		"opened again at the harness":      {hostileChild(`for f in /proc/$PPID/fd/*; do echo "{\"primary\": 99}" > $f; done`), 1, ""},
		"opened again at every process":    {hostileChild(`for f in /proc/[0-9]*/fd/*; do case $(readlink $f) in socket:*|*result*) echo "{\"primary\": 99}" > $f;; esac; done`), 1, ""},
		"a link to it in the tree":         {hostileChild(`for f in /proc/$PPID/fd/*; do ln -sf $f l; echo "{\"primary\": 99}" >> l; done`), 1, ""},
		"nothing to read there":            {`cat <&3; echo '{"primary": 1}' >&3`, 1, ""},
		"written twice":                    {`echo '{"primary": 1}' >&3; echo '{"primary": 2}' >&3`, 2, "odd"},
		"a process left with it":           {`(setsid sleep 1000 >/dev/null 2>&1 &); echo '{"primary": 1}' >&3`, 1, "odd"},
	} {
		spec.Command = c.command
		b := newBench(t, spec)
		got := b.measure(t)
		switch {
		case c.fault == "odd":
			if got.Fault != nil || len(got.Reading.Odd) == 0 {
				t.Errorf("%s: %v, fault %v, nothing odd", name, got.Reading.Score, got.Fault)
			}
		case c.fault != "" && (got.Fault == nil || got.Fault.Category != c.fault):
			t.Errorf("%s: fault %v, want %s", name, got.Fault, c.fault)
		case c.fault == "" && (got.Fault != nil || got.Reading.Score != c.score || len(got.Reading.Odd) > 0):
			t.Errorf("%s: %v, fault %v, odd %q, want %v", name, got.Reading.Score, got.Fault, got.Reading.Odd, c.score)
		}
		if left, err := os.ReadDir(b.job.Tmp); err != nil || len(left) > 0 {
			t.Errorf("%s: TMPDIR holds %v, %v", name, left, err)
		}
	}
}
