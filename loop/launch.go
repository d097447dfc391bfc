package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"si/benchmark"
	"si/benchmark/slurm"
	"si/internal/proc"
	"si/track"
)

// blockTime bounds how long the job of one block may live: its runs, and the time
// between them.
const blockTime = 24 * time.Hour

// JobsDir is where a launcher of the track keeps its jobs. It lies beside the folder
// of the workspaces, which is swept at each start.
func JobsDir(workDir string) string { return workDir + ".jobs" }

// runner is what takes one run: this machine, or a job of a scheduler. The runs of
// a block of a duel are taken by one job, on one node.
func (b *lab) runner(req request, tree string) proc.Runner {
	if b.l.cfg.Launch == nil {
		return b.l.cfg.Runner
	}
	key := fmt.Sprintf("%s/%d/%s/%s/%d", b.l.cfg.RunID, req.round, req.key, short(tree), b.runs)
	if b.block != nil {
		return b.block.At(key)
	}
	return b.l.cfg.Launch.At(slurm.Place{Key: key})
}

// openBlock has the next runs taken by one job, until closeBlock.
func (b *lab) openBlock(ctx context.Context, key string) error {
	if b.l.cfg.Launch == nil {
		return nil
	}
	if err := b.closeBlock(ctx); err != nil {
		return err
	}
	block, err := b.l.cfg.Launch.Block(slurm.Place{Key: b.l.cfg.RunID + "/" + key}, blockTime)
	if err != nil {
		return err
	}
	b.block = block
	return nil
}

func (b *lab) closeBlock(ctx context.Context) error {
	if b.block == nil {
		return nil
	}
	block := b.block
	b.block = nil
	return block.Close(ctx)
}

// sweepJobs cancels the jobs that an earlier run of this track left: they run in
// folders that are about to be laid anew.
func (l *Loop) sweepJobs(ctx context.Context) error {
	if l.cfg.Launch == nil {
		return nil
	}
	n, err := l.cfg.Launch.Sweep(ctx, func(string) bool { return false })
	if err != nil {
		return fmt.Errorf("cancel the jobs of an earlier run: %w", err)
	}
	if n > 0 {
		return l.events.emit(track.EvCleanup, 0, "si", track.Note{Text: fmt.Sprintf("cancelled %d jobs of an earlier run", n)})
	}
	return nil
}

// lost turns a run that the scheduler lost into one that nobody is to blame for.
func lost(m benchmark.Measurement, err error) (benchmark.Measurement, error) {
	if !errors.Is(err, slurm.ErrUndecided) {
		return m, err
	}
	return benchmark.Measurement{Load: -1, Fault: &benchmark.Fault{Category: track.CategoryInfrastructure, What: err.Error()}}, nil
}

// onNode notes where a run was taken, and how loaded it was there.
func onNode(s *track.Sample, run proc.Runner) {
	if bound, ok := run.(*slurm.Bound); ok {
		report := bound.Report()
		s.Node, s.Load = report.Node, report.Load
	}
}
