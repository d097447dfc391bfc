package mcpserver

import (
	"context"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"si/internal/clean"
	"si/learn/knowledge"
	"si/learn/place"
)

// What a question can ask for.
const (
	maxPaths  = 200
	maxBudget = 20_000 // code points
)

type briefInput struct {
	Paths  []string `json:"paths,omitempty" jsonschema:"paths or globs from the top of the repository; without them what holds everywhere"`
	Kinds  []string `json:"kinds,omitempty" jsonschema:"fact, convention, gotcha, command, decision; without them all"`
	Limit  int      `json:"limit,omitempty" jsonschema:"most entries"`
	Budget int      `json:"budget,omitempty" jsonschema:"most characters of the answer, default 4000"`
}

func addKnowledge(server *mcp.Server, p place.Place) {
	mcp.AddTool(server, &mcp.Tool{
		Name: "knowledge_brief", Annotations: reader(),
		Description: "What this repository has learned that one who touches certain paths must know.",
	}, func(_ context.Context, _ *mcp.CallToolRequest, in briefInput) (*mcp.CallToolResult, any, error) {
		r, err := brief(p, in)
		return r, nil, err
	})
}

func brief(p place.Place, in briefInput) (*mcp.CallToolResult, error) {
	if len(in.Paths) > maxPaths || in.Limit < 0 || in.Budget < 0 || in.Budget > maxBudget {
		return nil, fmt.Errorf("ask for at most %d paths, a limit of 0 or more, and a budget of 0 to %d", maxPaths, maxBudget)
	}
	r := knowledge.Request{Paths: in.Paths, Limit: in.Limit, Budget: in.Budget}
	for _, k := range in.Kinds {
		if !slices.Contains(knowledge.Kinds(), knowledge.Kind(k)) {
			return nil, fmt.Errorf("there is no kind %q; there are %v", clean.Line(k, 40), knowledge.Kinds())
		}
		r.Kinds = append(r.Kinds, knowledge.Kind(k))
	}
	store, err := knowledge.Load(p)
	if err != nil {
		return nil, err
	}
	b, err := store.Brief(r)
	if err != nil {
		return nil, err
	}
	if b.Text() == "" {
		return text("Nothing is known about these paths."), nil
	}
	return text(clean.Text([]byte(b.Text()))), nil
}
