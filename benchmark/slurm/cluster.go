package slurm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"si/internal/clean"
)

// cluster is Slurm, through its command-line programs.
type cluster struct {
	tools tools
	o     Options
}

// The job's own output goes nowhere until its script redirects it, because Slurm
// replaces % in the names of output files.
func (c *cluster) submitArgs(s submission) []string {
	args := []string{
		"sbatch", "--parsable", "--job-name=" + s.name, "--comment=" + s.mark, "--dependency=singleton", "--export=NONE", "--no-requeue",
		"--chdir=/", "--input=/dev/null", "--output=/dev/null", "--nodes=1", "--ntasks=1",
	}
	add := func(option, value string) {
		if value != "" {
			args = append(args, option+value)
		}
	}
	add("--partition=", c.o.Partition)
	add("--account=", c.o.Account)
	add("--nodelist=", s.node)
	if c.o.Exclusive {
		args = append(args, "--exclusive")
	}
	if s.limit > 0 {
		args = append(args, "--time="+strconv.Itoa(int(math.Ceil(s.limit.Minutes()))))
	}
	return append(append(args, c.o.ExtraArgs...), s.script)
}

func (c *cluster) submit(ctx context.Context, s submission) (string, error) {
	out, err := c.tools.call(ctx, c.submitArgs(s)...)
	if err != nil {
		return "", c.submitError(err)
	}
	// "id" or "id;cluster"; a site's own messages may stand before it.
	lines := strings.Fields(out)
	for _, line := range slices.Backward(lines) {
		if id, _, _ := strings.Cut(line, ";"); jobNumber(id) {
			return id, nil
		}
	}
	return "", fmt.Errorf("submit the job: sbatch printed no job number but %q", clean.Line(out, 200))
}

func (c *cluster) submitError(err error) error {
	var failed *callError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("submit the job: %w; install Slurm's client programs here, or use another launcher", err)
	case errors.As(err, &failed) && awayMessage(failed.said):
		return fmt.Errorf("submit the job: %w: %w", errAway, err)
	case errors.As(err, &failed):
		return fmt.Errorf("submit the job: %w: %w; change the partition, the account or the further options of the launcher", ErrImpossible, err)
	}
	return fmt.Errorf("submit the job: %w", err)
}

// awayMessage recognises what Slurm's programs say when the controller, and not
// the request, is the reason. They all exit with 1.
func awayMessage(said string) bool {
	return containsAny(strings.ToLower(said),
		"unable to contact slurm controller", "socket timed out", "connection refused", "connection reset", "zero bytes were transmitted",
		"resource temporarily unavailable", "temporarily unable to accept job", "transport endpoint", "no route to host",
		"in standby mode", "protocol authentication error", "slurm backup controller", "unexpected message received", "unable to establish")
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// find looks among the jobs that the controller still knows. One that it has
// dropped has ended, and its result says the rest.
func (c *cluster) find(ctx context.Context, s submission) (string, error) {
	out, err := c.tools.call(ctx, "squeue", "-h", "--me", "-t", "all", "-n", s.name, "-o", "%A|%k")
	if err != nil {
		return "", fmt.Errorf("look for the job %s: %w: %w", s.name, errAway, err)
	}
	for line := range strings.Lines(out) {
		id, mark, _ := strings.Cut(strings.TrimSpace(line), "|")
		if jobNumber(id) && mark == s.mark {
			return id, nil
		}
	}
	return "", nil
}

func jobNumber(s string) bool {
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && n > 0
}

func (c *cluster) state(ctx context.Context, id string) state {
	out, err := c.tools.call(ctx, "squeue", "-h", "-j", id, "-t", "all", "-o", "%T|%N|%r")
	var failed *callError
	if errors.As(err, &failed) && strings.Contains(strings.ToLower(failed.said), "invalid job id") {
		out, err = "", nil
	}
	if err != nil {
		return state{phase: unknown, word: "unknown", reason: clean.Line(err.Error(), 300)}
	}
	if st, ok := parseState(out); ok {
		return st
	}
	return c.remembered(ctx, id)
}

// remembered asks the accounting for a job that the controller has dropped,
// which it does some minutes after the end (MinJobAge).
func (c *cluster) remembered(ctx context.Context, id string) state {
	none := state{phase: forgotten, word: "forgotten"}
	out, err := c.tools.call(ctx, "sacct", "-X", "-n", "-P", "-j", id, "-o", "State,NodeList,Reason")
	if err != nil {
		return none
	}
	st, ok := parseState(out)
	if !ok || !st.phase.over() {
		// Accounting hears of an end later than the controller: a job that runs
		// there and is unknown here has ended.
		return none
	}
	return st
}

func (c *cluster) cancel(ctx context.Context, id string) error {
	_, err := c.tools.call(ctx, "scancel", id)
	var failed *callError
	if errors.As(err, &failed) && containsAny(strings.ToLower(failed.said), "invalid job id", "already completing", "already completed") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cancel job %s: %w", id, err)
	}
	return nil
}

// toolEnv is the environment of Slurm's programs. What the user set to filter
// listings would hide jobs, and the variables of a job that this program may
// itself run in would reach the jobs that it submits.
func toolEnv(env []string) []string {
	var out []string
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		switch {
		case name == "SLURM_CONF", name == "SLURM_CLUSTERS", name == "SLURM_CONF_SERVER":
		case strings.HasPrefix(name, "SLURM"), strings.HasPrefix(name, "SQUEUE_"), strings.HasPrefix(name, "SACCT_"), strings.HasPrefix(name, "SCANCEL_"),
			strings.HasPrefix(name, "LC_"), name == "LANG", name == "LANGUAGE":
			continue
		}
		out = append(out, pair)
	}
	return append(out, "LC_ALL=C")
}

// owned are the options that the launcher sets itself, or that would take the
// job out of its hands.
func owned() []string {
	return []string{
		"--job-name", "-J", "--comment", "--export", "--export-file", "--output", "-o", "--error", "-e", "--input", "-i", "--dependency", "-d",
		"--array", "-a", "--wrap", "--parsable", "--chdir", "-D", "--requeue", "--wait", "-W", "--nodes", "-N", "--ntasks", "-n", "--test-only", "--help", "--version", "-V",
	}
}

func checkExtra(arg string) error {
	if !strings.HasPrefix(arg, "-") || strings.ContainsAny(arg, "\n\x00") {
		return fmt.Errorf("further option %q: it must be one word that starts with a dash, like --gres=gpu:1", arg)
	}
	name, _, _ := strings.Cut(arg, "=")
	if !strings.HasPrefix(name, "--") {
		name = name[:min(2, len(name))]
	}
	if slices.Contains(owned(), name) {
		return fmt.Errorf("further option %q: the launcher sets %s itself; remove it", arg, name)
	}
	return nil
}
