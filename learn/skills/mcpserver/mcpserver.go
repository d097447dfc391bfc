// Package mcpserver shows skills, knowledge and the state of the track to agents, as a
// server of the Model Context Protocol. It answers questions and lets agents write
// skills of their own; it changes nothing else. What agents send is hostile input: a
// wrong argument, a crash of a tool and a flood of calls end as an error of that call.
//
// An agent in a sandbox cannot see the folders that the answers come from. Its server
// runs in the loop's process, behind a socket in the agent's own folder (Door), and
// `si mcp --connect` carries the bytes (Bridge). Which socket was used says which task
// asked.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"si/internal/clean"
	"si/learn/place"
	"si/learn/skills"
	"si/track"
)

// Name is what agents know the server by.
const Name = "si"

// Source is what the answers come from. A nil part is not offered.
type Source struct {
	Library *skills.Library
	Place   *place.Place // for knowledge
	Track   *track.Paths
	Version string // of this program
	Caller  skills.Caller
}

const instructions = `Skills are procedures that worked in this repository before. Look at skills_list when a task begins, and read
the ones that fit with skill_view before you start. knowledge_brief tells what must be known before certain files are
changed; track_status tells the goal, how far the loop has come, and what was tried.`

// New returns a server with the tools of a source. It is safe for concurrent use by
// several sessions.
func New(s Source) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: Name, Version: s.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // the list never changes
	})
	server.AddReceivingMiddleware(survive)
	if s.Library != nil {
		addSkillTools(server, s)
	}
	if s.Place != nil {
		addKnowledge(server, *s.Place)
	}
	if s.Track != nil {
		addTrack(server, *s.Track)
	}
	return server
}

// survive makes an error of a panic: the process is the loop's.
func survive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, fmt.Errorf("answer %s: it crashed: %s", clean.Line(method, 80), clean.Line(fmt.Sprint(p), 200))
			}
		}()
		return next(ctx, method, r)
	}
}

// Serve answers on a pair of streams until in ends or ctx does. The end of in is no
// error.
func Serve(ctx context.Context, s Source, in io.ReadCloser, out io.WriteCloser) error {
	err := New(s).Run(ctx, patient{&mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: maxMessage}})
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serve the model context protocol: %w", err)
}

// maxMessage bounds one message in bytes: a SKILL.md of a megabyte fits, as JSON.
const maxMessage = 8 << 20

// reader are the marks of a tool that changes nothing.
func reader() *mcp.ToolAnnotations {
	closed := false
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}
}

// text is an answer in words.
func text(parts ...string) *mcp.CallToolResult {
	r := &mcp.CallToolResult{}
	for _, p := range parts {
		if p != "" {
			r.Content = append(r.Content, &mcp.TextContent{Text: p})
		}
	}
	return r
}
