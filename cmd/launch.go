package cmd

import (
	"context"
	"fmt"
	"os"
	"time"

	"si/benchmark/slurm"
	"si/internal/proc"
	"si/internal/sandbox"
	"si/loop"
	"si/track"
)

// launcher builds what takes the runs elsewhere; nil when they are taken here.
func launcher(w World, run proc.Runner, o track.Launcher, dir string) (*slurm.Launcher, error) {
	if o.Kind == "" || o.Kind == "local" {
		return nil, nil
	}
	options := slurm.Options{
		Local: run, Self: w.Self, WorkDir: loop.JobsDir(dir), Env: schedulerEnv(w),
		Partition: o.Partition, Account: o.Account, ExtraArgs: o.Args, Exclusive: o.Exclusive,
		QueueLimit: time.Duration(o.Queue * float64(time.Hour)),
	}
	if o.Kind == "command" {
		options.Commands = &slurm.Commands{Submit: o.Submit, Status: o.Status, Cancel: o.Cancel, ID: o.ID}
	}
	l, err := slurm.New(options)
	if err != nil {
		return nil, fmt.Errorf("%w: si.measure.launcher: %w", loop.ErrNotSetUp, err)
	}
	return l, nil
}

// schedulerEnv is what the scheduler's programs get: where they are found and where
// their configuration lies.
func schedulerEnv(w World) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "SLURM_CONF", "LD_LIBRARY_PATH", "KRB5CCNAME"} {
		if value, ok := w.Lookup(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Contained makes the runner of a job on a node: what a command may reach is held
// there by what that node has.
func Contained(path string) slurm.Contain {
	return func(ctx context.Context, inner proc.Runner) proc.Runner {
		self, err := os.Executable()
		if err != nil {
			return inner // which refuses commands that are to be contained
		}
		return sandbox.Runner{Inner: inner, Sandbox: sandbox.New(ctx, sandbox.Options{Run: inner, Self: self, Path: path})}
	}
}
