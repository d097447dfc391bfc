package benchmark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"si/internal/proc"
	"si/track"
)

// logMax is how much of a run's output its log file keeps. The metric is read
// from the end of the output too, which is kept in memory however long it is.
const logMax = 16 << 20

// Measurer runs benchmarks and guards.
type Measurer struct {
	Run  proc.Runner
	Host func(string) (string, bool) // the user's environment, os.LookupEnv
}

// Job is one run in one tree. Nothing is taken from this process but what Host
// lets through, and two jobs that are alike but for Log get equal environments.
type Job struct {
	Spec    Spec
	Dir     string        // a clean checkout, which the run may write to
	Home    string        // HOME of the run; made when missing, kept between runs
	Tmp     string        // TMPDIR of the run; made when missing
	Log     string        // file for standard output; errors go beside it, in Log + ".err"
	Env     []string      // further KEY=value pairs that settings name
	Timeout time.Duration // 0 is no limit
	// Contain holds the commands, nil for none. DirAt and HomeAt are where they see
	// Dir and Home, when it shows them elsewhere.
	Contain       *proc.Containment
	DirAt, HomeAt string
	MaxLoad       float64 // the machine's load from which on no run is taken, 0 for any
	Label         string  // what is measured, for messages
}

// Measurement is what one run gave: a Reading, or the Fault that says why
// there is none.
type Measurement struct {
	Reading Reading
	Fault   *Fault
	Outcome proc.Outcome
	Exit    int
	Wall    time.Duration
	CPU     time.Duration
	MaxRSS  int64   // bytes
	Load    float64 // load average of one minute when the run began, -1 when unknown
	Raw     string  // head and tail of standard output: ≤ 16 KiB, valid UTF-8, control characters escaped
	Log     string
}

// mostAsleep is what two readings of two clocks can differ by without any sleep.
const mostAsleep = 100 * time.Millisecond

// Measure runs the benchmark of the job and reads its result. The error is for
// what is nobody's fault in the tree: the shell could not be started, a folder
// could not be made, the context ended. Everything that the tree can cause is a
// Fault of the measurement.
func (m *Measurer) Measure(ctx context.Context, job Job) (Measurement, error) {
	since, fault, err := clearResults(job.Dir, job.Spec.ResultFiles)
	if err != nil {
		return Measurement{}, fmt.Errorf("measure %s: %w", job.Label, err)
	}
	if fault != nil {
		return Measurement{Fault: fault, Load: loadAverage()}, nil
	}
	if load := loadAverage(); job.MaxLoad > 0 && load > job.MaxLoad {
		return Measurement{Load: load, Fault: &Fault{
			Category: track.CategoryInfrastructure, What: fmt.Sprintf("the machine's load is %.2f, above si.measure.max_load %.2f", load, job.MaxLoad),
		}}, nil
	}
	slept := asleep()
	got, res, err := m.shell(ctx, job, job.Spec.Command, reportOf(job.Spec))
	if err != nil {
		return Measurement{}, fmt.Errorf("measure %s: %w", job.Label, err)
	}
	if slept = asleep() - slept; slept > mostAsleep {
		got.Fault = &Fault{Category: track.CategoryInfrastructure, What: fmt.Sprintf("the machine was asleep for %s of the run", slept.Round(time.Second))}
		return got, nil
	}
	if got.Fault = endFault(res, job); got.Fault != nil && !failedTest(job.Spec, res) {
		return got, nil
	}
	in := Input{Stdout: res.Stdout, Log: job.Log, LogMax: logMax, Dir: job.Dir, ExitCode: res.Code, Since: since}
	if job.Spec.ResultFD {
		in.Stdout, in.Log = res.Report, ""
	}
	got.Reading, got.Fault = Read(job.Spec, in)
	if got.Fault == nil && res.Swept > 0 {
		got.Reading.Odd = sortedSet(append(got.Reading.Odd, OddLeftovers))
	}
	return got, nil
}

// failedTest reports whether the run is a failure that pass_fail measures: an
// exit code of the command's own. 126 and more are the shell's (not found, not
// executable, a signal), which measure nothing.
func failedTest(spec Spec, res proc.Result) bool {
	return spec.Format == FormatPassFail && res.Outcome == proc.Exited && res.Code > 0 && res.Code < 126
}

// shell runs the shell with a command of the settings, in the job's tree and
// environment. Report is nil when only its output counts.
func (m *Measurer) shell(ctx context.Context, job Job, command string, report *proc.Output) (Measurement, proc.Result, error) {
	if err := makeFolders(job); err != nil {
		return Measurement{}, proc.Result{}, err
	}
	load := loadAverage()
	res, err := m.Run.Run(ctx, proc.Command{
		Path: "/bin/sh", Args: []string{"-c", command}, Dir: cmp.Or(job.DirAt, job.Dir), Contain: job.Contain,
		Env:    Environment(m.Host, cmp.Or(job.HomeAt, job.Home), job.Tmp, job.Env),
		Stdout: proc.Output{File: job.Log, FileMax: logMax},
		Stderr: proc.Output{File: errorLog(job.Log), FileMax: logMax},
		Report: report,
		Wall:   job.Timeout, Supervised: true,
	})
	if err != nil {
		return Measurement{}, res, fmt.Errorf("run the command: %w", err)
	}
	if res.Outcome == proc.Cancelled {
		return Measurement{}, res, fmt.Errorf("run the command: %w", cancelCause(ctx))
	}
	return Measurement{
		Outcome: res.Outcome, Exit: res.Code, Wall: res.Wall, CPU: res.CPU, MaxRSS: res.MaxRSS,
		Load: load, Raw: rawText(res.Stdout), Log: job.Log,
	}, res, nil
}

func cancelCause(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return errors.New("it was cancelled")
}

func errorLog(log string) string {
	if log == "" {
		return ""
	}
	return log + ".err"
}

func makeFolders(job Job) error {
	for _, dir := range []string{job.Home, job.Tmp} {
		if dir == "" {
			return errors.New("no HOME or TMPDIR was given for the run")
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make a folder for the run: %w", err)
		}
	}
	if job.Log == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(job.Log), 0o755); err != nil {
		return fmt.Errorf("make the folder of the log: %w", err)
	}
	return nil
}

// killedCode is how a shell reports that its command was ended by KILL.
const killedCode = 128 + 9

// endFault judges how a run ended, before anything it printed is looked at.
func endFault(res proc.Result, job Job) *Fault {
	const most = 3
	last := cmp.Or(tellingLines(res.Stderr, most), tellingLines(res.Stdout, most), lastLines(res.Stderr, most), lastLines(res.Stdout, most))
	fault := func(c track.Category, format string, args ...any) *Fault {
		return &Fault{Category: c, What: fmt.Sprintf(format, args...), Line: last}
	}
	switch res.Outcome {
	case proc.TimedOut, proc.IdledOut:
		return fault(track.CategoryTimeout, "the command was ended after %s, its limit is %s", res.Wall.Round(time.Millisecond), job.Timeout)
	case proc.Signaled:
		if slices.Contains([]string{"KILL", "SIGKILL", "killed"}, res.Signal) || res.Code == killedCode {
			return fault(track.CategoryOOM, "the command was killed, as happens when memory runs out; its peak was %d MiB", res.MaxRSS>>20)
		}
		return fault(track.CategoryLogicError, "the command was ended by the signal %s", res.Signal)
	case proc.Cancelled, proc.Exited:
	}
	switch res.Code {
	case 0:
		return nil
	case killedCode:
		return fault(track.CategoryOOM, "a part of the command was killed, as happens when memory runs out; its peak was %d MiB", res.MaxRSS>>20)
	case 126, 127:
		return fault(track.CategoryLogicError, "the shell could not run the command (exit code %d)", res.Code)
	}
	return fault(track.CategoryLogicError, "the command failed with exit code %d", res.Code)
}
