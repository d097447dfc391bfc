package acp

import (
	"regexp"
	"strings"

	"si/agents"
)

// permission answers a request at once: nobody sits before the screen.
func (s *session) permission(m message) error {
	c := s.tool(m.Params.ToolCall, true) // some programs tell of a call in this way only
	allow, why := s.fence.judge(c)
	if s.ending || s.over != "" {
		allow, why = false, "the task is ended"
	}
	id, granted := choose(m.Params.Options, allow)
	if allow && !granted {
		why = "no way to allow it is offered"
	}
	text := c.asked(s.secrets)
	if why != "" {
		text += " (" + why + ")"
	}
	s.emit(agents.Event{Kind: agents.EventPermission, Tool: c.called(), ToolID: c.id, Text: text, Failed: !granted})
	outcome := map[string]any{"outcome": "cancelled"}
	if id != "" && !s.ending {
		outcome = map[string]any{"outcome": "selected", "optionId": id}
	}
	return s.reply(m, map[string]any{"outcome": outcome})
}

// choose picks an option that says what is wanted, for this once: what is allowed
// always is written into files, by some programs into the workspace.
func choose(options []option, allow bool) (id string, granted bool) {
	kinds := []string{"reject_once", "reject_always"}
	if allow {
		kinds = []string{"allow_once", "allow_always", "reject_once"}
	}
	for _, kind := range kinds {
		for _, o := range options {
			if o.means() == kind && o.ID != "" {
				return o.ID, strings.HasPrefix(kind, "allow")
			}
		}
	}
	return "", false
}

// means is the kind of an option; of one without it, what its id says.
func (o option) means() string {
	if o.Kind != "" {
		return o.Kind
	}
	id := strings.ToLower(o.ID)
	for _, word := range []string{"reject", "deny", "cancel", "no"} {
		if strings.Contains(id, word) {
			return "reject_once"
		}
	}
	for _, word := range []string{"allow", "approve", "proceed", "yes"} {
		if strings.Contains(id, word) {
			return "allow_once"
		}
	}
	return ""
}

// judge says whether the role allows a tool call, and why it does not.
func (f fence) judge(c *tool) (allow bool, why string) {
	if c.unclear {
		return false, "it names more than can be looked at"
	}
	for _, path := range c.places {
		switch in, git := f.inside(path); {
		case !in:
			return false, "outside of the workspace"
		case git && writes(c.kind):
			return false, "git's own files"
		}
	}
	if f.edits {
		return true, ""
	}
	switch c.kind {
	case "read", "search", "think", "fetch":
		return true, ""
	case "", "other":
		if f.ours(c) {
			return true, ""
		}
	}
	return false, "this role changes nothing"
}

func writes(kind string) bool { return kind != "read" && kind != "search" && kind != "execute" }

// ours says whether the call is of a tool of one of si's own servers.
func (f fence) ours(c *tool) bool {
	text := cut(c.name+" "+c.title.text, 200)
	for _, name := range f.servers {
		if name != "" && regexp.MustCompile(`(?i)(^|[^a-z0-9])`+regexp.QuoteMeta(name)+`([^a-z0-9]|$)`).MatchString(text) {
			return true
		}
	}
	return false
}
