package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/learn/policy"
)

func newPolicy(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "who decides about a change: si alone, you, or people by hand only",
		Long: `AUTO: si commits it. GATED: si proposes it ('si proposals'). KERNEL: people only,
by hand. The table is .si/policies/autonomy.yaml (.tyran/policies/autonomy.yaml).`,
		Args: noArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newPolicyCheck(w, place), newPolicyHook(w, place))
	return c
}

func newPolicyCheck(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "check PATH…", Short: "print the class of each path and the rule that gives it",
		Long: "Exit codes: 0; 1 the policy cannot be read (then everything is GATED or KERNEL, and that is printed); 2 usage.",
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("policy check wants at least one path")
		}
		return policyCheck(c.Context(), w, place, args, *asJSON)
	}
	return c
}

func policyCheck(ctx context.Context, w World, f *placeFlags, args []string, asJSON bool) error {
	l, err := openLearned(ctx, w, f)
	if err != nil {
		return err
	}
	defer l.close()
	p, err := l.policy()
	if err != nil {
		return err
	}
	found := []policy.Decision{}
	for _, name := range l.fromTop(args) {
		found = append(found, p.Decide(name))
	}
	if asJSON {
		err = printJSON(w.Stdout, found)
	} else {
		err = printDecisions(w.Stdout, found)
	}
	if err != nil {
		return err
	}
	return p.Broken
}

func printDecisions(out io.Writer, all []policy.Decision) error {
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, d := range all {
		rule := d.Rule
		if d.Line > 0 {
			rule = fmt.Sprintf("%s (line %d)", d.Rule, d.Line)
		}
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", d.Class, clean.Line(d.Path, 200), clean.Line(rule, 100), clean.Line(d.Reason, 200)) // Flush reports
	}
	return tw.Flush()
}

func newPolicyHook(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "hook", Short: "answer a coding agent's pre-tool-use hook, whose question is on the standard input", Args: noArgs,
		Long: `The question is the JSON that Claude Code and agents like it give a PreToolUse hook.
KERNEL is denied, GATED is asked about, AUTO is left to the agent's own settings.
What cannot be understood is denied. In .claude/settings.json:

  {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "si policy hook"}]}]}}

Exit codes: 0 answered (also with no); 2 denied because si cannot tell, with the
reason on the standard error, which stops the tool too.`,
		RunE: func(c *cobra.Command, _ []string) error { return policyHook(c.Context(), w, place) },
	}
}

func policyHook(ctx context.Context, w World, f *placeFlags) error {
	l, err := openLearned(ctx, w, f)
	if err != nil {
		return denied(w, err)
	}
	defer l.close()
	p, err := l.policy()
	if err != nil {
		return denied(w, err)
	}
	a := p.Hook(w.Stdin)
	if a.Broken {
		return denied(w, errors.New(strings.TrimPrefix(a.Reason, "si policy: ")))
	}
	if text := a.JSON(); text != "" {
		_, err = io.WriteString(w.Stdout, text+"\n")
		return denied(w, err)
	}
	return nil
}

// denied ends the hook so that the tool is not used: a coding agent takes exit code
// 2, and no other, for a no.
func denied(w World, err error) error {
	if err == nil {
		return nil
	}
	_, _ = fmt.Fprintf(w.Stderr, "si policy: denied: %s\n", message(err))
	return &usageError{errSilent}
}
