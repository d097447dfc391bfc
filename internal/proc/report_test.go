package proc

import (
	"bytes"
	"strings"
	"testing"
)

// What a command writes to descriptor 3 is apart from its output, and only who was
// given the descriptor can write there. With a pipe or a file in the socket's place
// the hostile ones get through.
func TestReport(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, want string }{
		"apart from the output":        {`echo out; echo err >&2; echo report >&3`, "report\n"},
		"nothing said":                 {`echo out`, ""},
		"given to a child":             {`sh -c 'echo child >&3'; echo parent >&3`, "child\nparent\n"},
		"opened again at the parent":   {`sh -c 'for f in /proc/$PPID/fd/*; do echo forged > $f; done' 3>&- 2>/dev/null; echo report >&3`, "report\n"},
		"opened again through a link":  {`sh -c 'for f in /proc/$PPID/fd/*; do ln -sf $f l; echo forged >> l; done' 3>&- 2>/dev/null; echo report >&3`, "report\n"},
		"opened again at its own name": {`echo forged 2>/dev/null > /dev/fd/3; echo report >&3`, "report\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			res := b.run(t, Command{
				Path: "/bin/sh", Args: []string{"-c", tc.script}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"},
				Report: &Output{}, Supervised: true,
			})
			if got := string(res.Report.Head); got != tc.want || res.Report.Total != int64(len(tc.want)) {
				t.Errorf("the report is %q of %d bytes, want %q", got, res.Report.Total, tc.want)
			}
			if out := string(res.Stdout.Head); strings.Contains(out, "report") {
				t.Errorf("the output has the report: %q", out)
			}
		})
	}
}

// A report is bounded like any output, and does not block its writer.
func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.child("flood", "3000000", "one")
	res := b.run(t, Command{
		Path: "/bin/sh", Args: append([]string{"-c", `exec "$0" "$@" >&3`, c.Path}, c.Args...), Report: &Output{HeadMax: 100, TailMax: 10}, Supervised: true,
	})
	if res.Code != 0 || res.Report.Total != 3000000 || len(res.Report.Head) != 100 || !bytes.Equal(res.Report.Tail, bytes.Repeat([]byte("x"), 10)) {
		t.Errorf("code %d, %d bytes, head of %d, tail %q", res.Code, res.Report.Total, len(res.Report.Head), res.Report.Tail)
	}
}

// Who holds the descriptor beyond the command's end is ended, and not waited for.
func TestReportIsNotHeldOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	res := b.run(t, Command{
		Path: "/bin/sh", Args: []string{"-c", `echo report >&3; setsid sleep 1000 >/dev/null 2>&1 & exit 0`, b.token}, Env: []string{"PATH=/usr/bin:/bin"},
		Report: &Output{}, Supervised: true,
	})
	if string(res.Report.Head) != "report\n" || res.Swept != 1 {
		t.Errorf("report %q, %d swept", res.Report.Head, res.Swept)
	}
	b.noneLeft(t)
}

func TestReportNeedsASupervisor(t *testing.T) {
	t.Parallel()
	if _, err := newBench(t).Run(t.Context(), Command{Path: "/bin/true", Report: &Output{}}); err == nil || !strings.Contains(err.Error(), "supervised") {
		t.Errorf("got %v", err)
	}
}
