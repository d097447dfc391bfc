package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"si/loop"
	"si/track"
)

func newStop(w World, place *placeFlags) *cobra.Command {
	now := false
	c := &cobra.Command{
		Use:   "stop",
		Short: "ask the running loop to stop",
		Long:  "Ask the running loop to stop after what runs now; with --now, at once. 'si run --resume' goes on with it.",
		Args:  noArgs,
	}
	c.Flags().BoolVar(&now, "now", false, "end what runs now")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if now {
			return steer(c.Context(), w, place, track.Control{Act: track.ActStop, When: string(loop.StopNow)}, "stops now")
		}
		return steer(c.Context(), w, place, track.Control{Act: track.ActStop, When: string(loop.StopStep)}, "stops after what runs now")
	}
	return c
}

func newPause(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "pause",
		Short: "let the running loop wait before its next step",
		Long:  "Let the running loop wait before its next step. What runs now is finished, and nothing is lost. 'si resume' goes on.",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return steer(c.Context(), w, place, track.Control{Act: track.ActPause}, "pauses before its next step; 'si resume' goes on")
		},
	}
}

func newResume(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "resume",
		Short: "let a paused loop go on",
		Long:  "Let a loop that was paused go on. A run that was stopped is taken up again by 'si run --resume'.",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return steer(c.Context(), w, place, track.Control{Act: track.ActResume}, "goes on")
		},
	}
}

func newSkip(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "skip AGENT",
		Short: "end an agent that is at work",
		Long:  "End an agent that is at work, such as planner_b or executor_a. It gets no second try in this round; the others go on.",
		Args:  oneArg("the agent, such as executor_a"),
		RunE: func(c *cobra.Command, args []string) error {
			return steer(c.Context(), w, place, track.Control{Act: track.ActSkip, Target: args[0]}, "ends "+args[0]+" if it is at work")
		},
	}
}

func newVeto(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "veto PLAN",
		Short: "keep a plan or a candidate of this round out",
		Long: `Keep a plan of this round, and what an executor makes of it, out of the
tournament: name the planner, the executor or the plan, such as planner_b. What is
merged already stays. A veto in the middle of a duel ends the round's duels, since
another candidate would get a second chance at luck.`,
		Args: oneArg("the planner, the executor or the plan"),
		RunE: func(c *cobra.Command, args []string) error {
			return steer(c.Context(), w, place, track.Control{Act: track.ActVeto, Target: args[0]}, "keeps "+args[0]+" out of the tournament")
		},
	}
}

func newMeasure(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "measure CANDIDATE",
		Short: "have a candidate measured once more",
		Long: `Have a candidate measured once more against what it started from, at the end of
this round's tournament: executor_a of this round, or 3/executor_a of round 3. It
decides nothing, since measuring until something wins is how lucky noise is kept;
what it shows is in the journal, and the next round's planners hear of a gain.`,
		Args: oneArg("the candidate, such as executor_a or 3/executor_a"),
		RunE: func(c *cobra.Command, args []string) error {
			return steer(c.Context(), w, place, track.Control{Act: track.ActMeasure, Target: args[0]}, "measures "+args[0]+" once more at the end of the tournament")
		},
	}
}

// steer puts a request into the control inbox of the running loop.
func steer(ctx context.Context, w World, f *placeFlags, req track.Control, will string) error {
	p, err := f.open(ctx, w, false)
	if err != nil {
		return err
	}
	defer p.close()
	holder, held, err := track.LockHolder(p.paths.LockPath())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !held {
		return notRunning(w, req.Act)
	}
	if err := p.ask(w, req); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.Stdout, "asked: %s %s\n", holder, will)
	return err
}

// notRunning says that nobody would hear. To stop what does not run is no error.
func notRunning(w World, act string) error {
	switch act {
	case track.ActStop:
		_, err := fmt.Fprintln(w.Stdout, "no loop runs on this track")
		return err
	case track.ActResume:
		return errors.New("no loop runs on this track; 'si run' starts one, 'si run --resume' goes on with one that was stopped")
	}
	return errors.New("no loop runs on this track; 'si run' starts one")
}

// ask writes a request into the control inbox.
func (p *place) ask(w World, req track.Control) error {
	req.At = w.Now().UTC()
	data, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	name := fmt.Sprintf("%d-%s.json", w.Now().UnixNano(), p.runID)
	return p.paths.Within(w.Store).Replace(filepath.Join(p.paths.ControlDir(), name), data, 0o644)
}

func newIdea(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "idea [TEXT…]",
		Short: "give the planners an idea",
		Long:  "Add an idea to idea.md, or print what waits there. Without TEXT and with something on standard input, that is the idea. It is used in the next round that begins.",
		RunE: func(c *cobra.Command, args []string) error {
			return idea(c.Context(), w, place, strings.Join(args, " "))
		},
	}
}

// maxIdea bounds one idea, in bytes: it goes into prompts.
const maxIdea = 64 << 10

func idea(ctx context.Context, w World, f *placeFlags, text string) error {
	p, err := f.open(ctx, w, false)
	if err != nil {
		return err
	}
	defer p.close()
	if strings.TrimSpace(text) == "" && !isTerminal(w.Stdin) {
		data, err := io.ReadAll(io.LimitReader(w.Stdin, maxIdea+1))
		if err != nil {
			return fmt.Errorf("read the idea from standard input: %w", err)
		}
		text = string(data)
	}
	old, err := track.LoadIdeas(p.paths)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return showIdeas(w.Stdout, old)
	}
	if len(text) > maxIdea {
		return usagef("an idea has at most %d bytes", maxIdea)
	}
	if err := p.addIdea(w, old, text); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.Stdout, ideaNoted)
	return err
}

// ideaNoted says what becomes of an idea.
const ideaNoted = "noted; it is used in the next round that begins"

// addIdea puts an idea behind what stands in idea.md.
func (p *place) addIdea(w World, old []byte, text string) error {
	if _, err := os.Stat(p.paths.ConfigDir); err != nil {
		return fmt.Errorf("%w: there is no track here yet; run 'si init'", loop.ErrNotSetUp)
	}
	next := append(bytes.TrimRight(old, "\n"), []byte("\n\n"+strings.TrimSpace(text)+"\n")...)
	return p.paths.Within(w.Store).Replace(p.paths.IdeaPath, next, 0o644)
}

func showIdeas(out io.Writer, data []byte) error {
	text := track.Ideas(data)
	if text == "" {
		text = "no idea waits"
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// isTerminal tells whether somebody would have to type.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return in == nil
	}
	info, err := f.Stat()
	return err != nil || info.Mode()&os.ModeCharDevice != 0
}
