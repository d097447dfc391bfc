package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"si/learn/skills"
)

// maxChanges bounds what one agent's task can change: a loop that writes skills is a
// fault, not a harvest.
const maxChanges = 20

type nothing struct{}

type viewInput struct {
	Name string `json:"name" jsonschema:"the skill's name, as skills_list tells it"`
	Path string `json:"path,omitempty" jsonschema:"a file of the skill, such as references/details.md; without it SKILL.md"`
}

type manageInput struct {
	Action        string  `json:"action" jsonschema:"create a new skill, patch the given fields of one, edit replaces the whole SKILL.md, delete puts it into the archive"`
	Name          string  `json:"name" jsonschema:"1 to 64 lower-case letters, digits and single hyphens"`
	Description   *string `json:"description,omitempty" jsonschema:"what it does and when to use it, at most 1024 characters"`
	Category      *string `json:"category,omitempty"`
	Version       *string `json:"version,omitempty"`
	License       *string `json:"license,omitempty"`
	Compatibility *string `json:"compatibility,omitempty"`
	AllowedTools  *string `json:"allowed_tools,omitempty"`
	Body          *string `json:"body,omitempty" jsonschema:"Markdown, fewer than 500 lines"`
	Content       *string `json:"content,omitempty" jsonschema:"of edit: the whole SKILL.md with its front matter"`
}

type managed struct {
	OK   bool   `json:"ok"`
	Name string `json:"name"`
}

func addSkillTools(server *mcp.Server, s Source) {
	lists := &lister{}
	mcp.AddTool(server, &mcp.Tool{
		Name: "skills_list", Description: "List the skills: name, description and how much they are used.", Annotations: reader(),
	}, func(context.Context, *mcp.CallToolRequest, nothing) (*mcp.CallToolResult, any, error) {
		r, err := lists.answer(s.Library)
		return r, nil, err
	})
	mcp.AddTool(server, &mcp.Tool{
		Name: "skill_view", Description: "Read a skill, or one file of it.", Annotations: reader(),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in viewInput) (*mcp.CallToolResult, any, error) {
		r, err := view(ctx, s, in)
		return r, nil, err
	})
	m := &manager{Source: s}
	mcp.AddTool(server, &mcp.Tool{
		Name: "skill_manage", InputSchema: manageSchema(),
		Description: "Create, patch, edit or delete a skill. Write one when you found a procedure that will be needed again.",
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in manageInput) (*mcp.CallToolResult, managed, error) {
		err := m.manage(ctx, in)
		return nil, managed{err == nil, in.Name}, err
	})
}

// manageSchema is the schema of manageInput with the actions that there are; the tag
// of a field cannot list them.
func manageSchema() *jsonschema.Schema {
	schema, err := jsonschema.For[manageInput](nil)
	if err != nil {
		panic(fmt.Sprintf("the schema of skill_manage: %v", err)) // a fault of the type above, which every test meets
	}
	schema.Properties["action"].Enum = []any{"create", "patch", "edit", "delete"}
	return schema
}

// lister remembers its last answer while the library is the same.
type lister struct {
	mu      sync.Mutex
	version uint64
	text    string
}

func (c *lister) answer(l *skills.Library) (*mcp.CallToolResult, error) {
	listing, err := l.List()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version == 0 || c.version != listing.Version || len(listing.Warnings) > 0 {
		c.text = listed(listing)
		if c.version = listing.Version; len(listing.Warnings) > 0 {
			c.version = 0 // they are not of the version
		}
	}
	return text(c.text), nil
}

// listed is a line for each skill. JSON would be twice as long, for the agent and for
// the three times that the library writes it.
func listed(l skills.Listing) string {
	var b strings.Builder
	for _, w := range l.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	n := 0
	for _, i := range l.Skills {
		if i.ShadowedBy == "" {
			n++
			b.WriteString("- " + i.Name + ": " + i.Description + marks(i) + "\n")
		}
	}
	if n == 0 {
		return b.String() + "There is no skill yet."
	}
	return b.String()
}

// marks is what is special about a skill.
func marks(i skills.Info) string {
	var out []string
	if i.Origin != skills.Managed {
		out = append(out, string(i.Origin))
	}
	if i.State != skills.Active {
		out = append(out, string(i.State))
	}
	if i.Category != "" {
		out = append(out, i.Category)
	}
	if i.UseCount > 0 {
		out = append(out, fmt.Sprintf("used %d×", i.UseCount))
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

func view(ctx context.Context, s Source, in viewInput) (*mcp.CallToolResult, error) {
	c, err := s.Library.View(ctx, in.Name, in.Path, s.Caller)
	if err != nil {
		return nil, err
	}
	more := ""
	if len(c.Files) > 0 && in.Path == "" {
		more = "Other files of this skill, to be read with skill_view and path: " + strings.Join(c.Files, ", ")
	}
	if c.Text == "" {
		c.Text = "(empty)"
	}
	return text(c.Text, more), nil
}

// manager changes skills for one server.
type manager struct {
	Source
	changes atomic.Int64
}

func (m *manager) manage(ctx context.Context, in manageInput) error {
	if m.Caller.Task != "" && m.changes.Add(1) > maxChanges {
		return fmt.Errorf("this task has changed %d skills, the most that one task can", maxChanges)
	}
	f := skills.Fields{
		Description: in.Description, Category: in.Category, Version: in.Version, License: in.License,
		Compatibility: in.Compatibility, AllowedTools: in.AllowedTools, Body: in.Body,
	}
	if in.Content != nil && in.Action != "edit" {
		return fmt.Errorf("content belongs to the action edit; %s takes description, body and the like", in.Action)
	}
	switch in.Action {
	case "create":
		return m.Library.Create(ctx, in.Name, skills.ByUser, f)
	case "patch":
		if f == (skills.Fields{}) {
			return fmt.Errorf("patch of %q: give at least one field to change", in.Name)
		}
		return m.Library.Patch(ctx, in.Name, f)
	case "edit":
		if in.Content == nil || f != (skills.Fields{}) {
			return fmt.Errorf("edit of %q takes content, the whole SKILL.md, and no other field; patch changes single fields", in.Name)
		}
		return m.Library.Edit(ctx, in.Name, []byte(*in.Content))
	case "delete":
		return m.Library.Delete(ctx, in.Name, false)
	}
	return fmt.Errorf("the action %q is none of create, patch, edit, delete", in.Action)
}
