package loop

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"si/benchmark"
	"si/benchmark/slurm"
	"si/gitops"
	"si/internal/clean"
	"si/internal/proc"
	"si/track"
)

// sampleID names a run of the benchmark in a track.
type sampleID struct {
	round int
	key   string
}

// lab takes the runs of the benchmark: it lays a clean checkout of a commit,
// prepares it once, runs the command and writes the sample down. A run that the
// journal holds is not taken again. It is used by the loop's goroutine alone.
type lab struct {
	l           *Loop
	known       map[sampleID]track.Sample
	past        []pastSample // in the order in which they were taken
	meter       benchmark.Measurer
	slot        *benchmark.Slot
	arms        []*arm
	clock       int // counts uses, to find the arm that was idle longest
	runs        int // taken by this process
	homeVersion int // of the first HOME, which is replaced once the guards have run
	// The benchmark changes tracked files, so that each run has a checkout of its
	// own and warming one up is in vain.
	dirties bool
	told    bool // that there is too much to copy
	tmp     string
	block   *slurm.Block // the job that takes the runs of a duel's block; nil beside one, and on this machine
}

// arm is a measuring worktree and what is laid in it.
type arm struct {
	path  string
	ws    *gitops.Workspace
	tree  string // "" when nothing that can be used is laid
	used  int
	runs  int    // since it was laid
	fault string // why the tree that is laid cannot be measured

	homeVersion int       // of the first HOME that its HOME is a copy of
	laid, home  *snapshot // as the set-up left them
}

// pastSample is a run with its round.
type pastSample struct {
	round int
	track.Sample
}

// remember keeps a run. Its output is kept only where a document may still need
// it: that of a long campaign would not fit in memory.
func (b *lab) remember(round int, s track.Sample) {
	kept := s
	if s.Purpose != "check" {
		kept.Raw = ""
	}
	b.known[sampleID{round, s.Key}] = kept
	s.Raw = ""
	b.past = append(b.past, pastSample{round, s})
}

// forget drops what only a round before n could ask for.
func (b *lab) forget(n int) {
	for id := range b.known {
		if id.round > 0 && id.round < n {
			delete(b.known, id)
		}
	}
}

// request asks for one run.
type request struct {
	round   int
	key     string // unique in its round
	purpose string
	subject string // champion, start, or an executor's id
	commit  string
	decides bool // the run decides what is kept, so it owns the machine's slot
	twin    bool // in another checkout than that of the same commit's other runs
	warm    bool // the tree has as many earlier runs as its rival has
	// The run is of the validation, not of the benchmark.
	validation bool
}

// newLab opens the lab of a loop; past are the runs that its journal holds.
func newLab(l *Loop, past []pastSample) (*lab, error) {
	slot, err := benchmark.OpenSlot(l.cfg.SlotDir)
	if err != nil {
		return nil, err
	}
	run := l.cfg.Runner
	if l.cfg.Launch != nil {
		run = l.cfg.Launch
	}
	b := &lab{
		l: l, known: map[sampleID]track.Sample{}, slot: slot, meter: benchmark.Measurer{Run: run, Host: l.cfg.Lookup},
	}
	b.tmp = filepath.Join(b.folder(), "tmp")
	if err := b.dropHomes(); err != nil {
		return nil, err
	}
	id := benchmarkID(l.settings.Value)
	for _, p := range past {
		if p.Benchmark == "" || p.Benchmark == id { // older journals do not say it
			b.remember(p.round, p.Sample)
		}
	}
	return b, nil
}

// share holds the machine's slot as one whose agents work: another loop's deciding
// runs wait for it, and it waits for theirs.
func (b *lab) share(ctx context.Context, who string) (*benchmark.SlotHold, error) {
	return b.acquire(ctx, benchmark.SlotShared, who)
}

func (b *lab) acquire(ctx context.Context, mode benchmark.SlotMode, who string) (*benchmark.SlotHold, error) {
	return b.slot.Acquire(ctx, benchmark.SlotRequest{
		Mode: mode, Who: who + " of si run in " + b.l.cfg.Repo.Toplevel(),
		Waiting: func(others []benchmark.Ticket) {
			text := make([]string, 0, len(others))
			for _, t := range others {
				text = append(text, t.String())
			}
			// An event that cannot be written is seen by the next one that must be.
			_ = b.l.events.emit(track.EvWarning, 0, "si", track.Note{Text: who + " waits for the machine's benchmark slot: " + strings.Join(text, "; ")})
		},
	})
}

// folder is where the measuring worktrees lie.
func (b *lab) folder() string { return filepath.Join(b.l.cfg.WorkDir, "measure") }

// close removes the measuring worktrees.
func (b *lab) close(ctx context.Context) {
	_ = b.closeBlock(ctx) // a job that is left is cancelled by the next start
	for _, a := range b.arms {
		_ = a.ws.Remove(ctx) // a leftover is removed by the next start
		for _, dir := range []string{b.homeOf(a), b.copiesOf(b.homeOf(a)), b.copiesOf(a.path)} {
			_ = removeAll(dir) // as above
		}
	}
	b.arms = nil
}

// take returns the sample that req asks for.
func (b *lab) take(ctx context.Context, req request) (track.Sample, error) {
	tree, err := b.l.cfg.Repo.TreeOf(ctx, req.commit)
	if err != nil {
		return track.Sample{}, err
	}
	id := sampleID{req.round, req.key}
	if s, ok := b.known[id]; ok && s.Tree == tree {
		return s, nil
	}
	if err := b.l.helm.pending(); err != nil {
		return track.Sample{}, err
	}
	s, err := b.measure(ctx, req, tree)
	if err != nil {
		return track.Sample{}, err
	}
	b.runs++
	if err := b.l.events.emit(track.EvMeasured, req.round, "benchmark", s); err != nil {
		return track.Sample{}, err
	}
	b.remember(req.round, s)
	return s, nil
}

func (b *lab) measure(ctx context.Context, req request, tree string) (track.Sample, error) {
	s := track.Sample{
		Key: req.key, Purpose: req.purpose, Subject: req.subject, Commit: req.commit, Tree: tree,
		Benchmark: benchmarkID(b.l.settings.Value),
	}
	key := layKey(tree, req.twin)
	a, err := b.lay(ctx, req.commit, key)
	if err != nil {
		return s, err
	}
	if a.fault != "" {
		s.Category, s.Fault = track.CategoryLogicError, a.fault
		return s, nil
	}
	if req.decides && b.l.cfg.Launch == nil { // elsewhere, the scheduler sees to it
		hold, err := b.acquire(ctx, benchmark.SlotExclusive, "a run that decides")
		if err != nil {
			return s, err
		}
		defer hold.Release()
	}
	if a, err = b.warmUp(ctx, a, req, key); err != nil {
		return s, err
	}
	run := b.runner(req, tree)
	m, err := lost(b.run(ctx, a, b.logPath(req), ranBy{run, req.validation}))
	if err != nil {
		return s, err
	}
	b.fill(&s, m)
	onNode(&s, run)
	if err := b.keepFirstHome(a, s); err != nil {
		return s, err
	}
	if req.validation {
		b.inspect(ctx, a, &s)
		return s, nil
	}
	if req.subject != "champion" && req.subject != "start" && req.subject != "twin" {
		b.refuseIncomparable(&s)
	}
	b.inspect(ctx, a, &s)
	return s, nil
}

// layKey names what is laid in an arm.
func layKey(tree string, twin bool) string {
	if twin {
		return tree + "/twin"
	}
	return tree
}

func (b *lab) logPath(req request) string {
	return filepath.Join(b.l.cfg.Paths.LogDir(req.round), "benchmark_"+strings.ReplaceAll(req.key, "/", "_")+".log")
}

// warmRuns is how many earlier runs a tree has before one that decides: unequal
// numbers of them would be an unfair start, and after two nothing changes any more.
const warmRuns = 2

// warmUp gives the arm the earlier runs that it lacks, and throws them away with what
// they left.
func (b *lab) warmUp(ctx context.Context, a *arm, req request, key string) (*arm, error) {
	need := b.l.settings.Value.SI.Measure.Warmup
	if req.warm {
		need = max(need, warmRuns)
	}
	for a.runs < need && !b.dirties {
		b.runs++
		if _, err := lost(b.run(ctx, a, b.logPath(req), ranBy{run: b.runner(req, a.tree)})); err != nil {
			return nil, err
		}
		next, err := b.lay(ctx, req.commit, key)
		if err != nil {
			return nil, err
		}
		b.dirties = next.runs == 0 // what it changed could not be put back
		a = next
	}
	return a, nil
}

// ranBy says what takes a run, and of which of the two benchmarks.
type ranBy struct {
	run        proc.Runner
	validation bool
}

// run runs the benchmark, or the validation, once in a laid arm.
func (b *lab) run(ctx context.Context, a *arm, log string, by ranBy) (benchmark.Measurement, error) {
	job, err := b.job(a, log, access{heldOut: by.validation})
	if err != nil {
		return benchmark.Measurement{}, err
	}
	if by.validation {
		if job.Spec, _, err = validationSpec(b.l.settings.Value); err != nil {
			return benchmark.Measurement{}, err
		}
	}
	a.runs++
	meter := b.meter
	meter.Run = by.run
	return meter.Measure(ctx, job)
}

// job is what the benchmark, the set-up command and the guards have in common:
// the place, the limit, and an environment with an empty TMPDIR.
func (b *lab) job(a *arm, log string, may access) (benchmark.Job, error) {
	spec, err := b.l.spec()
	if err != nil {
		return benchmark.Job{}, err
	}
	if err := removeAll(b.tmp); err != nil {
		return benchmark.Job{}, fmt.Errorf("empty the benchmark's TMPDIR: %w", err)
	}
	if err := b.l.cfg.Store.Folder(filepath.Dir(log)); err != nil {
		return benchmark.Job{}, fmt.Errorf("prepare the benchmark: %w", err)
	}
	job := benchmark.Job{Spec: spec, Dir: a.path, Home: b.homeOf(a), Tmp: b.tmp, Log: log, Timeout: b.timeout(), MaxLoad: b.l.settings.Value.SI.Measure.MaxLoad}
	for _, name := range b.l.settings.Value.SI.Measure.Env {
		if value, ok := b.l.cfg.Lookup(name); ok {
			job.Env = append(job.Env, name+"="+value)
		}
	}
	if err := b.contain(&job, a, may); err != nil {
		return job, fmt.Errorf("prepare the benchmark's sandbox: %w", err)
	}
	return job, nil
}

// timeout is the limit of one run: ten times the longest of the baseline, at
// least a minute.
func (b *lab) timeout() time.Duration {
	longest := b.l.progress.Value.SI.LongestRun
	return seconds(b.l.settings.Value.SI.Measure.TimeoutSeconds, max(time.Minute, time.Duration(10*longest*float64(time.Second))))
}

// patience is the limit of a set-up command or a guard: it may build from a cold
// cache, or run a whole test suite, so that a run's time says nothing about it.
func (b *lab) patience() time.Duration { return max(10*time.Minute, b.timeout()) }

func (b *lab) fill(s *track.Sample, m benchmark.Measurement) {
	s.Wall, s.CPU, s.MaxRSS, s.Load = m.Wall.Seconds(), m.CPU.Seconds(), m.MaxRSS, m.Load
	s.Raw, s.Log = m.Raw, b.l.cfg.Paths.Relative(m.Log)
	if m.Fault != nil {
		s.Category, s.Fault = m.Fault.Category, m.Fault.String()
		return
	}
	r := m.Reading
	s.Score, s.Metric, s.SubScores, s.Basis, s.Odd = &r.Score, r.Metric, r.SubScores, r.Basis, r.Odd
}

// refuseIncomparable takes the score from a candidate whose output is unusual
// in a way that the baseline's is not: two lines with the metric, or output
// after it, is how a forged result looks.
func (b *lab) refuseIncomparable(s *track.Sample) {
	reference := b.l.progress.Value.SI.Baseline
	if reference == nil || s.Score == nil {
		return
	}
	if fault := benchmark.Incomparable(readingOf(*reference), readingOf(*s)); fault != nil {
		s.Score, s.Category, s.Fault = nil, fault.Category, fault.String()
	}
}

// readingOf is the reading that a sample was made from.
func readingOf(s track.Sample) benchmark.Reading {
	r := benchmark.Reading{Metric: s.Metric, SubScores: s.SubScores, Basis: s.Basis, Odd: s.Odd}
	if s.Score != nil {
		r.Score = *s.Score
	}
	return r
}

// inspect gives up an arm whose tracked files the run has changed: the next run
// there would measure something else. A run that has damaged the checkout so
// that git cannot even tell gives no score.
func (b *lab) inspect(ctx context.Context, a *arm, s *track.Sample) {
	dirty, err := b.dirty(ctx, a)
	switch {
	case err != nil:
		a.tree = ""
		s.Score, s.Category, s.Fault = nil, track.CategoryLogicError, "the run damaged the checkout that it ran in: "+clean.Line(err.Error(), 300)
	case len(dirty) > 0:
		a.tree, b.dirties = "", true
	}
}

// dirty lists the tracked files that a run has changed. git is asked only where
// something is not as the set-up left it.
func (b *lab) dirty(ctx context.Context, a *arm) ([]string, error) {
	touched, err := a.laid.touched()
	if err != nil || len(touched) == 0 {
		return nil, err
	}
	dirty, err := a.ws.Dirty(ctx)
	return slices.DeleteFunc(dirty, func(path string) bool { return !slices.Contains(touched, path) }), err
}
