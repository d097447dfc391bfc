package slurm

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"si/internal/clean"
)

// Commands are the user's own programs for another scheduler. Each is a program
// and its arguments; no shell reads them. In the arguments {script}, {name},
// {node} (empty when any will do), {seconds} (0 for no limit) and {id} are
// replaced.
type Commands struct {
	// Submit queues {script} under {name}, and prints the job's id: the last word
	// of its output, or what ID finds.
	Submit []string
	// Status prints one of the words pending, running, ended, lost, forgotten and
	// impossible, and after it, if it likes, the reason. Anything else, and an exit
	// code other than 0, means that nothing is known at the moment.
	Status []string
	// Cancel ends the job; one that is over already is no error.
	Cancel []string
	// ID is a regular expression whose first group is the id. Empty: the last word.
	ID string
}

// general is a scheduler behind the user's commands. It cannot find a job by its
// name, so one that was submitted in the instant in which this program was
// killed is not found again; it ends by itself, because its successor owns the
// folder.
type general struct {
	tools tools
	c     Commands
	id    *regexp.Regexp
}

func newGeneral(t tools, c Commands) (*general, error) {
	var errs []error
	for _, command := range []struct {
		name, needs string
		argv        []string
	}{{"submit", "{script}", c.Submit}, {"status", "{id}", c.Status}, {"cancel", "{id}", c.Cancel}} {
		if len(command.argv) == 0 || command.argv[0] == "" {
			errs = append(errs, fmt.Errorf("the %s command is missing", command.name))
		} else if !strings.Contains(strings.Join(command.argv[1:], " "), command.needs) {
			errs = append(errs, fmt.Errorf("the %s command must have %s among its arguments", command.name, command.needs))
		}
	}
	expr := c.ID
	if expr == "" {
		expr = `(\S+)\s*$`
	}
	id, err := regexp.Compile(expr)
	if err != nil {
		errs = append(errs, fmt.Errorf("the expression for a job's id: %w", err))
	} else if id.NumSubexp() < 1 {
		errs = append(errs, errors.New("the expression for a job's id has no group; put the id into parentheses"))
	}
	return &general{tools: t, c: c, id: id}, errors.Join(errs...)
}

func (g *general) submit(ctx context.Context, s submission) (string, error) {
	out, err := g.tools.call(ctx, fill(g.c.Submit, map[string]string{
		"{script}": s.script, "{name}": s.name, "{node}": s.node, "{seconds}": strconv.Itoa(int(s.limit.Seconds())),
	})...)
	if err != nil {
		return "", fmt.Errorf("submit the job: %w", err)
	}
	match := g.id.FindStringSubmatch(out)
	if match == nil || match[1] == "" || strings.HasPrefix(match[1], "-") {
		return "", fmt.Errorf("submit the job: no id is found in what the submit command printed: %q", clean.Line(out, 200))
	}
	return match[1], nil
}

func (g *general) find(context.Context, submission) (string, error) { return "", nil }

func (g *general) state(ctx context.Context, id string) state {
	out, err := g.tools.call(ctx, fill(g.c.Status, map[string]string{"{id}": id})...)
	if err != nil {
		return state{phase: unknown, word: "unknown", reason: clean.Line(err.Error(), 300)}
	}
	word, reason, _ := strings.Cut(strings.TrimSpace(out), " ")
	st := state{word: clean.Line(word, 40), reason: clean.Line(reason, 200)}
	switch strings.ToLower(word) {
	case "pending":
		st.phase = pending
	case "impossible":
		st.phase, st.impossible = pending, true
	case "running":
		st.phase = running
	case "ended":
		st.phase = ended
	case "lost":
		st.phase = lost
	case "forgotten":
		st.phase = forgotten
	}
	return st
}

func (g *general) cancel(ctx context.Context, id string) error {
	if _, err := g.tools.call(ctx, fill(g.c.Cancel, map[string]string{"{id}": id})...); err != nil {
		return fmt.Errorf("cancel job %s: %w", id, err)
	}
	return nil
}

// fill replaces in one pass: what is put in is not looked at again.
func fill(argv []string, values map[string]string) []string {
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, name, value)
	}
	replacer := strings.NewReplacer(pairs...)
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = replacer.Replace(arg)
	}
	return out
}
