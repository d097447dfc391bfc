package cmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"si/learn/skills/mcpserver"
)

func newMCP(w World, place *placeFlags) *cobra.Command {
	connect := ""
	c := &cobra.Command{
		Use:   "mcp",
		Short: "serve skills, knowledge and the track's state to an agent (Model Context Protocol)",
		Long: `Speaks the Model Context Protocol on standard input and output, and ends with the
input. The tools: skills_list, skill_view, skill_manage; knowledge_brief for paths;
track_status. The loop gives it to its agents by itself. For an agent of your own,
add to its configuration the command "si" with the arguments "mcp", and "-C" with
the repository if it does not start there.`,
		Args: noArgs,
	}
	c.Flags().StringVar(&connect, "connect", "", "the socket of a running loop; set by the loop for its agents")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if connect != "" {
			return mcpserver.Bridge(c.Context(), connect, w.Stdin, w.Stdout)
		}
		return serveMCP(c.Context(), w, place)
	}
	return c
}

func serveMCP(ctx context.Context, w World, f *placeFlags) error {
	return withSkills(ctx, w, f, func(s *skillPlace) error {
		if err := s.track.hideState(ctx); err != nil {
			return err
		}
		if curator, err := curatorOf(s); err == nil {
			_ = curator.NoteActivity(ctx) // a state folder that cannot be written still has skills to read
		}
		source := mcpserver.Source{Library: s.Library, Place: s.files, Track: &s.track.paths, Version: Version}
		return mcpserver.Serve(ctx, source, io.NopCloser(w.Stdin), unclosed{w.Stdout})
	})
}

// unclosed keeps the program's own output open: the session does not own it.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
