package loop

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"si/benchmark/duel"
	"si/loop/report"
	"si/track"
)

// Bounds on what a report holds of one gain.
const (
	maxGainDiff = 256 << 10 // bytes
	mostNear    = 8         // refused candidates that are named
)

// writeReport writes the report in both forms.
func (l *Loop) writeReport(ctx context.Context, d *Delivery, o DeliverOptions) error {
	r, err := l.reportOf(ctx, d)
	if err != nil {
		return err
	}
	page, err := report.HTML(r)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	dir := o.Out
	if dir == "" {
		dir = l.cfg.Paths.TrackingDir
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("find the folder of the report: %w", err)
	}
	d.Markdown, d.HTML = filepath.Join(dir, "report.md"), filepath.Join(dir, "report.html")
	if err := l.cfg.Store.Replace(d.Markdown, report.Markdown(r), 0o644); err != nil {
		return err
	}
	return l.cfg.Store.Replace(d.HTML, page, 0o644)
}

// checkOut finds out before anything is measured whether the report can be written
// where the user wants it, and that it replaces no file but another report.
func (l *Loop) checkOut(dir string) error {
	if dir == "" {
		return nil
	}
	for name, ours := range map[string]string{"report.md": "Can it be believed?", "report.html": "Written by si"} {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		switch {
		case err == nil && !bytes.Contains(data, []byte(ours)):
			return fmt.Errorf("write the report: %s is there and is no report of si's; name another folder with --out", path)
		case err != nil && !os.IsNotExist(err):
			return fmt.Errorf("write the report: %w", err)
		}
	}
	probe, err := os.CreateTemp(dir, ".si-report-*")
	if os.IsNotExist(err) {
		return nil // it is made
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// reportOf gathers what is known of the track.
func (l *Loop) reportOf(ctx context.Context, d *Delivery) (report.Report, error) {
	s, p := l.settings.Value, l.progress.Value
	told, err := readTold(l.cfg.Paths.JournalPath())
	if err != nil {
		return report.Report{}, err
	}
	summary, err := l.summarize(ctx)
	if err != nil {
		return report.Report{}, err
	}
	r := report.Report{
		Title: subject(l.goal.Objective), Goal: l.goalText, Repository: filepath.Base(l.cfg.Repo.Toplevel()),
		Benchmark: report.Benchmark{Command: s.BenchmarkCommand, Setup: s.SI.Setup, Metric: s.PrimaryMetric, Direction: s.BenchmarkDirection, Sealed: s.SealedFiles},
		Source: report.Source{
			Target: s.TargetBranch, Improve: l.refs.improve(), Delivery: d.Branch, Start: d.Start, Champion: d.Champion, Tip: d.Commit,
		},
		Run: report.Run{
			Started: told.started, Ended: told.ended, Rounds: p.Iterations, StopReason: cmp.Or(p.SI.Reason, strings.ReplaceAll(string(p.Status), "_", " ")),
			BenchmarkRuns: summary.Runs, AgentTasks: summary.AgentTasks,
		},
		Rules: l.rules(summary.Rate), NotEnforced: told.notHeld(), Warnings: told.warnings,
		Machine: report.Machine{OS: runtime.GOOS + "/" + runtime.GOARCH, CPU: processor(), Cores: runtime.NumCPU()}, Versions: []report.Version{{Name: "si", Version: l.cfg.Version}},
	}
	if w := d.Whole; w != nil {
		r.Whole = &report.Duel{Effect: w.Effect, Before: w.Before, After: w.After, Samples: told.duel(p.Iterations, "end/", "champion")}
		if d.wholeKey != "" {
			r.Whole.Samples = told.duel(p.Iterations, d.wholeKey+"/", "delivered")
		}
	} else {
		r.WholeWhy = "the benchmark was not run for this report"
	}
	if r.Gains, err = l.gainsOf(ctx, d, told); err != nil {
		return r, err
	}
	if r.Refused, err = l.refusedOf(); err != nil {
		return r, err
	}
	if r.Progress, err = os.ReadFile(l.cfg.Paths.ProgressSVGPath()); err != nil {
		d.Notes = append(d.Notes, fmt.Sprintf("the report has no chart: %v", err))
	}
	return r, nil
}

func (l *Loop) rules(rate string) report.Rules {
	p := l.progress.Value.SI
	cfg := l.duelConfig(comparison{}).WithDefaults()
	rules := report.Rules{MinEffect: cfg.MinEffect, MaxRuns: cfg.MaxRuns, NoiseMode: p.NoiseMode, Sigma: cfg.Sigma, ErrorRate: rate}
	if cfg.Mode == duel.Noisy || cfg.Mode == duel.Expensive {
		rules.Alpha = cfg.Alpha
	}
	return rules
}

func (l *Loop) gainsOf(ctx context.Context, d *Delivery, told told) ([]report.Gain, error) {
	var out []report.Gain
	for _, g := range d.Gains {
		m := g.Merged
		one := report.Gain{
			Round: g.Round, Executor: m.Executor, PlanID: m.PlanID, Hypothesis: g.Hypothesis, Family: g.Family, Commit: g.Commit, Merge: m.Merge,
			Duel:   report.Duel{Effect: m.Effect, Before: m.Before, After: m.After, Samples: told.duel(g.Round, "duel/"+m.Executor+"/", m.Executor)},
			Guards: told.guards[subjectIn{g.Round, m.Executor}], Validation: m.Validation,
			Warnings: doubted(m, told.candidateWarnings[subjectIn{g.Round, m.Executor}]),
			LeftOut:  report.LeftOut{Worth: g.Worth, Effect: g.LeftOut, Reason: g.Reason},
		}
		before := told.subScores(g.Round, "duel/"+m.Executor+"/", "champion")
		for _, name := range sortedUnion(before, m.SubScores) {
			one.SubScores = append(one.SubScores, report.SubScore{Name: name, Before: valueOf(before, name), After: valueOf(m.SubScores, name)})
		}
		patch, cut, err := l.cfg.Repo.Patch(ctx, m.TipBefore, m.Merge, maxGainDiff)
		if err != nil {
			return nil, err
		}
		changes, err := l.cfg.Repo.Diff(ctx, m.TipBefore, m.Merge)
		if err != nil {
			return nil, err
		}
		var paths []string
		for _, c := range changes {
			paths = append(paths, c.Path)
		}
		one.Diff, one.DiffCut, one.Files = patch, cut, countLines(paths, patch, cut)
		out = append(out, one)
	}
	return out, nil
}

// doubted are the warnings about a gain, with what could not be made sure of first.
func doubted(m track.Merged, warnings []string) []string {
	if m.Doubt == "" {
		return warnings
	}
	return append([]string{m.Doubt}, warnings...)
}

func valueOf(scores track.SubScore, name string) *float64 {
	if v, ok := scores[name]; ok {
		return &v
	}
	return nil
}

// countLines counts the lines that a patch adds to and takes from each file. The
// patch has a section for each path, in the same order; where it does not, or was
// cut, the counts are left out.
func countLines(paths []string, patch []byte, cut bool) []report.File {
	files := make([]report.File, len(paths))
	for i, p := range paths {
		files[i].Path = p
	}
	sections := bytes.Split(append([]byte("\n"), patch...), []byte("\ndiff --git "))[1:]
	if cut || len(sections) != len(files) {
		return files
	}
	for i, section := range sections {
		hunks := bytes.Index(section, []byte("\n@@ "))
		files[i].Binary = hunks < 0 && bytes.Contains(section, []byte("\nBinary files "))
		if hunks < 0 {
			continue
		}
		for line := range bytes.Lines(section[hunks+1:]) {
			switch line[0] {
			case '+':
				files[i].Added++
			case '-':
				files[i].Removed++
			}
		}
	}
	return files
}

// refusedOf lists in short what was not kept.
func (l *Loop) refusedOf() (report.Refused, error) {
	var r report.Refused
	histories, err := track.LoadHistory(l.cfg.Paths, l.progress.Value.Iterations)
	if err != nil {
		return r, err
	}
	counts := map[string]int{}
	for _, h := range histories {
		for _, item := range h.Losers {
			r.Total++
			c := refusedCandidate(h, item)
			counts[refusalKind(item)]++
			switch {
			case item.SI != nil && strings.HasPrefix(item.SI.Verdict, "refused: "+conflicts):
				r.Ideas = append(r.Ideas, c)
			case c.Effect != nil:
				r.Near = append(r.Near, c)
			}
		}
	}
	for kind, n := range counts {
		r.Counts = append(r.Counts, report.Count{Category: kind, N: n})
	}
	slices.SortFunc(r.Counts, func(a, b report.Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Category, b.Category))
	})
	slices.SortStableFunc(r.Near, func(a, b report.Candidate) int { return cmp.Compare(b.Effect.Value, a.Effect.Value) })
	r.Near = r.Near[:min(mostNear, len(r.Near))]
	return r, nil
}

func refusedCandidate(h track.History, item track.HistoryItem) report.Candidate {
	k := refusedItem(h, item)
	c := report.Candidate{Round: h.Iteration, PlanID: item.PlanID, Hypothesis: item.Hypothesis, Effect: k.Effect, Reason: strings.TrimPrefix(k.Reason, "refused: ")}
	if item.SI != nil {
		c.Executor = item.SI.Executor
	}
	return c
}

func refusalKind(item track.HistoryItem) string {
	switch {
	case item.FailureAnalysis != nil:
		return strings.ReplaceAll(string(item.FailureAnalysis.Category), "_", " ")
	case item.SI != nil && item.SI.Unjudged:
		return "not judged"
	}
	return "no better"
}

// processor is the name of the machine's processor, "" when it is not told.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
