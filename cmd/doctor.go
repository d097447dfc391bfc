package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"si/agents"
	"si/gitops"
	"si/internal/clean"
	"si/internal/proc"
	"si/internal/sandbox"
	"si/learn/doctor"
)

func newDoctor(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "say what this machine has and can enforce, and what to mend",
		Long: `Try what si needs: git, the sandbox (by starting it), the repository, coding agents. Each promise
that the sandbox makes is listed with yes or no, what was tried, and what would help.
Then the track and what the repository learned are examined; --state does only that.

Exit codes: 0 healthy; 1 the state has an error or a warning, which says what to do.`,
		Args: noArgs,
	}
	asJSON := jsonFlag(c)
	only := c.Flags().Bool("state", false, "examine only the track and what was learned")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *only {
			return doctorState(c.Context(), w, place, *asJSON)
		}
		return examine(c.Context(), w, place, *asJSON)
	}
	return c
}

// examined is what the doctor found.
type examined struct {
	Version    string           `json:"version"`
	Machine    string           `json:"machine"`
	Repository string           `json:"repository,omitempty"`
	Fault      string           `json:"repository_fault,omitempty"`
	SandboxOff bool             `json:"sandbox_off"` // turned off by the configuration
	Sandbox    sandbox.Report   `json:"sandbox"`
	Agents     []foundAgent     `json:"agents"`
	Advice     []string         `json:"advice,omitempty"` // for quieter measurements
	State      []doctor.Finding `json:"state"`
}

func examine(ctx context.Context, w World, f *placeFlags, asJSON bool) error {
	id, err := w.RunID()
	if err != nil {
		return fmt.Errorf("name this run: %w", err)
	}
	user, err := loadUserConfig(w)
	if err != nil {
		return err
	}
	runner := proc.New(proc.Options{Self: w.Self, Mark: id})
	found := examined{
		Version: Version, Machine: fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		SandboxOff: user.Sandbox == "off", Sandbox: sandbox.Probe(ctx, sandbox.Options{Run: runner, Self: w.Self, Path: w.env("PATH")}),
		Agents: foundAgents(agents.Found(ctx, runner, w.Lookup)), Advice: quieter(),
	}
	repo, err := gitops.Open(ctx, f.dir(w), runner)
	if err == nil {
		found.Repository = repo.Toplevel()
		err = repo.Close()
	}
	if err != nil && (f.repo != "" || !errors.Is(err, gitops.ErrNotRepository)) {
		found.Fault = err.Error()
	}
	if found.Fault == "" {
		if found.State, err = examineState(ctx, w, f); err != nil {
			return err
		}
	}
	if asJSON {
		err = printJSON(w.Stdout, found)
	} else {
		err = found.print(w.Stdout)
	}
	if err != nil {
		return err
	}
	return unhealthy(found.State)
}

// doctorState examines only what lies on the disk.
func doctorState(ctx context.Context, w World, f *placeFlags, asJSON bool) error {
	found, err := examineState(ctx, w, f)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(w.Stdout, found)
	} else {
		err = printState(w.Stdout, found)
	}
	if err != nil {
		return err
	}
	return unhealthy(found)
}

func (e examined) print(out io.Writer) error {
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	line := func(key, value string) { _, _ = fmt.Fprintf(tw, "%s\t%s\n", key, clean.Line(value, 500)) } // Flush reports
	line("si:", e.Version)
	line("Machine:", e.Machine)
	switch {
	case e.Fault != "":
		line("Repository:", e.Fault)
	case e.Repository == "":
		line("Repository:", "you are in none")
	default:
		line("Repository:", e.Repository)
	}
	for _, a := range e.Advice {
		line("Noise:", a)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	text := clean.Text([]byte(e.Sandbox.String()))
	if e.SandboxOff {
		text += "  it is turned off by your configuration (sandbox: off)\n"
	}
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if err := printAgents(out, e.Agents); err != nil {
		return err
	}
	return printState(out, e.State)
}

// quieter says what of this machine makes runs differ more than they must.
func quieter() []string {
	var out []string
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(data))
	}
	if g := read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); g != "" && g != "performance" {
		out = append(out, fmt.Sprintf("the processor's frequency governor is %q; runs differ less with \"performance\" (cpupower frequency-set -g performance)", g))
	}
	if read("/sys/devices/system/cpu/intel_pstate/no_turbo") == "0" {
		out = append(out, "turbo is on: runs are faster on a cool processor than on a hot one")
	}
	return out
}
