package slurm

import (
	"context"

	"si/internal/proc"
)

// Bound runs one command at one place, and remembers how it went: a proc.Runner
// for a caller that has no room for a key.
type Bound struct {
	launch func(context.Context, proc.Command) (Report, error)
	report Report
}

var _ proc.Runner = (*Bound)(nil)

// At returns the runner of one run at a place.
func (l *Launcher) At(p Place) *Bound {
	return &Bound{launch: func(ctx context.Context, c proc.Command) (Report, error) { return l.Launch(ctx, p, c) }}
}

// OnNode returns the runner of one run, without a key, on that node.
func (l *Launcher) OnNode(node string) *Bound { return l.At(Place{Node: node}) }

// Run runs c and keeps its Report. Calls must not overlap.
func (b *Bound) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	report, err := b.launch(ctx, c)
	b.report = report
	return report.Result, err
}

// Report is that of the last Run.
func (b *Bound) Report() Report { return b.report }
