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
	c.RunE = func(c *cobra.Command, _ []string) error { return stop(c.Context(), w, place, now) }
	return c
}

func stop(ctx context.Context, w World, f *placeFlags, now bool) error {
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
		_, err := fmt.Fprintln(w.Stdout, "no loop runs on this track")
		return err
	}
	req := track.Control{Act: "stop", When: string(loop.StopStep), At: w.Now().UTC()}
	if now {
		req.When = string(loop.StopNow)
	}
	data, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	name := fmt.Sprintf("%d-%s.json", w.Now().UnixNano(), p.runID)
	if err := p.paths.Within(w.Store).Replace(filepath.Join(p.paths.ControlDir(), name), data, 0o644); err != nil {
		return err
	}
	when := "stops after what runs now"
	if now {
		when = "stops now"
	}
	_, err = fmt.Fprintf(w.Stdout, "asked: %s %s\n", holder, when)
	return err
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
	if _, err := os.Stat(p.paths.ConfigDir); err != nil {
		return fmt.Errorf("%w: there is no track here yet; run 'si init'", loop.ErrNotSetUp)
	}
	next := append(bytes.TrimRight(old, "\n"), []byte("\n\n"+strings.TrimSpace(text)+"\n")...)
	if err := p.paths.Within(w.Store).Replace(p.paths.IdeaPath, next, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.Stdout, "noted; it is used in the next round that begins")
	return err
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
