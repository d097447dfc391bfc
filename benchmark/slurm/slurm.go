// Package slurm runs measurements as jobs of an existing scheduler: Slurm, or
// another one through commands that the user names. A Launcher is a proc.Runner,
// so what runs a benchmark does not know where it runs.
//
// It promises that a run is submitted once for its key, also when this program
// is killed and started again; that how a run ended is what the job itself wrote
// about it, never what the scheduler says of the job; that a job which the
// scheduler lost is ErrUndecided and never a failed run; and that a job is
// cancelled, and waited for, when its context ends.
//
// It schedules nothing and moves no files: the tree, HOME, TMPDIR, the output
// files and WorkDir have to be on a file system that the nodes share with this
// machine. On the node the job runs this program again (Serve), which runs the
// command as it would be run here.
package slurm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"si/internal/durable"
	"si/internal/proc"
)

// Options configure a Launcher. Limits that are 0 get the default that is named
// with them.
type Options struct {
	Local   proc.Runner // runs the scheduler's own programs, here
	Self    string      // an executable whose main calls Serve and proc.Supervise first: this program
	WorkDir string      // a folder of one track, on the shared file system; no other program writes there
	Env     []string    // environment of the scheduler's programs, KEY=value

	Partition string
	Account   string
	ExtraArgs []string // further options of sbatch, each one word: --gres=gpu:1
	Exclusive bool     // ask for whole nodes

	Commands *Commands // another scheduler; nil is Slurm

	Poll        time.Duration // between two questions to the scheduler at first, later 2.5 times that; 2 s
	QueueLimit  time.Duration // a job that has not started by then is given up; 0 is no limit
	Patience    time.Duration // how long a scheduler that does not answer is waited for; 30 min
	CancelLimit time.Duration // how long a cancelled job is waited for; 1 min
	ResultLimit time.Duration // how long the result of an ended job may take to be seen here; 1 min
	Lease       time.Duration // how long a block's job waits for the next run; 10 min

	Watch  func(Progress) // is told of each change, by the goroutine that waits
	Now    func() time.Time
	Pause  func(ctx context.Context, d time.Duration) // returns early when ctx ends
	Random io.Reader
}

// Progress says what has become of a job.
type Progress struct {
	Key, Job, Node string
	State          string // the scheduler's word
	Reason         string // why it waits, or why nothing is known
}

// Launcher submits runs. It is safe for concurrent use; one process at a time
// uses a WorkDir, which is the caller's promise (the track's lock).
type Launcher struct {
	o     Options
	sched scheduler
	store durable.Store

	mu      sync.Mutex
	busy    map[string]bool // names of the jobs that a call works on
	program string          // path of the copy of Self, once made
}

var _ proc.Runner = (*Launcher)(nil)

// New checks the options and prepares WorkDir. It does not talk to the scheduler.
func New(o Options) (*Launcher, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("set up the launcher: %w", err)
	}
	o = o.withDefaults()
	l := &Launcher{o: o, busy: map[string]bool{}}
	tools := tools{run: o.Local, env: toolEnv(o.Env)}
	l.sched = &cluster{tools: tools, o: o}
	if o.Commands != nil {
		general, err := newGeneral(tools, *o.Commands)
		if err != nil {
			return nil, fmt.Errorf("set up the launcher: %w", err)
		}
		l.sched = general
	}
	for _, dir := range []string{o.WorkDir, l.recordDir(), l.jobDir(), l.programDir()} {
		if err := privateFolder(dir); err != nil {
			return nil, fmt.Errorf("set up the launcher: %w", err)
		}
	}
	return l, nil
}

// Run runs c as a job of its own that no later call can find again. See Launch.
func (l *Launcher) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	report, err := l.Launch(ctx, Place{}, c)
	return report.Result, err
}

func (o Options) check() error {
	var errs []error
	if o.Local == nil {
		errs = append(errs, errors.New("no runner for the scheduler's programs was given"))
	}
	for what, path := range map[string]string{"this program": o.Self, "the work folder": o.WorkDir} {
		if !filepath.IsAbs(path) || strings.ContainsAny(path, "\n\x00") {
			errs = append(errs, fmt.Errorf("the path of %s, %q, must be absolute and on one line", what, path))
		}
	}
	if o.Commands != nil && (o.Partition != "" || o.Account != "" || o.Exclusive || len(o.ExtraArgs) > 0) {
		errs = append(errs, errors.New("partition, account, exclusive and further options are Slurm's; put them into the submit command"))
	}
	for what, value := range map[string]string{"partition": o.Partition, "account": o.Account} {
		if value != "" && !plainList(value) {
			errs = append(errs, fmt.Errorf("%s %q: use letters, digits, commas and . _ - only", what, value))
		}
	}
	for _, arg := range o.ExtraArgs {
		if err := checkExtra(arg); err != nil {
			errs = append(errs, err)
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		value *time.Duration
		def   time.Duration
	}{
		{&o.Poll, 2 * time.Second},
		{&o.Patience, 30 * time.Minute},
		{&o.CancelLimit, time.Minute},
		{&o.ResultLimit, time.Minute},
		{&o.Lease, 10 * time.Minute},
	} {
		if *d.value <= 0 {
			*d.value = d.def
		}
	}
	if o.Watch == nil {
		o.Watch = func(Progress) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	return o
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (l *Launcher) recordDir() string  { return filepath.Join(l.o.WorkDir, "records") }
func (l *Launcher) jobDir() string     { return filepath.Join(l.o.WorkDir, "jobs") }
func (l *Launcher) programDir() string { return filepath.Join(l.o.WorkDir, "bin") }

// privateFolder makes dir, for this user alone. A link in its place would lead
// the job's files to somewhere else.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the work folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the work folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("the work folder %s is a link or a file; remove it or name another", dir)
	}
	if info.Mode().Perm() == 0o700 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("close the work folder to others: %w", err)
	}
	return nil
}
