package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"si/agents"
)

// protocolVersion is the one that si speaks.
const protocolVersion = 1

// How long a program may take for what comes before its work. Programs are large,
// and start MCP servers with the session.
const (
	initializeLimit = 2 * time.Minute
	sessionLimit    = 3 * time.Minute
	settingLimit    = 30 * time.Second
)

// greeting is the answer to initialize.
type greeting struct {
	Version json.RawMessage `json:"protocolVersion"`
	Auth    []authMethod    `json:"authMethods"`
	Info    struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
}

type authMethod struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"` // env_var: it asks for nothing but variables
	Vars []struct {
		Name string `json:"name"`
	} `json:"vars"`
}

// opened is the answer to session/new.
type opened struct {
	ID     string `json:"sessionId"`
	Modes  modes  `json:"modes"`
	Models struct {
		Available []struct {
			ID   string `json:"modelId"`
			Name string `json:"name"`
		} `json:"availableModels"`
		Current string `json:"currentModelId"`
	} `json:"models"`
	Options []configOption `json:"configOptions"`
}

// converse leads the whole conversation, up to the end of the turn.
func (s *session) converse(ctx context.Context) error {
	hello, err := s.initialize(ctx)
	if err != nil {
		return err
	}
	o, err := s.open(ctx, hello)
	if err != nil {
		return err
	}
	s.id = o.ID
	if err := s.configure(ctx, o); err != nil {
		return err
	}
	s.emit(agents.Event{Kind: agents.EventStarted, Session: s.plain(s.id), Model: s.plain(s.model)})
	return s.prompt(ctx)
}

func (s *session) initialize(ctx context.Context) (greeting, error) {
	var hello greeting
	raw, err := s.call(ctx, "initialize", map[string]any{
		"protocolVersion":    protocolVersion,
		"clientCapabilities": map[string]any{"fs": map[string]any{"readTextFile": false, "writeTextFile": false}, "terminal": false},
		"clientInfo":         map[string]any{"name": "si", "title": "si", "version": s.o.Version},
	}, initializeLimit)
	if err != nil {
		return hello, err
	}
	_ = json.Unmarshal(raw, &hello) // what is missing is empty
	switch version := idKey(hello.Version); version {
	case "1":
	case "":
		s.notice("it does not say which version of the protocol it speaks; version %d is taken for granted", protocolVersion)
	default:
		return hello, s.fail(agents.FailStart, fmt.Sprintf(
			"it speaks version %s of the Agent Client Protocol, and si speaks version %d: use a release of it that does", version, protocolVersion), nil)
	}
	s.log.line("program: " + s.plain(hello.Info.Name+" "+hello.Info.Version))
	return hello, nil
}

// open makes the session. A program that wants a login first gets one if a key
// that it was given is all it needs; a login that asks people is never begun.
func (s *session) open(ctx context.Context, hello greeting) (opened, error) {
	o, err := s.newSession(ctx)
	var refused *rpcError
	if !errors.As(err, &refused) || refused.kind() != agents.FailAuth {
		return o, err
	}
	method := s.p.login(hello.Auth, s.env)
	if method == "" {
		return o, s.noLogin(hello, refused)
	}
	if _, err := s.call(ctx, "authenticate", map[string]any{"methodId": method}, sessionLimit); err != nil {
		if errors.As(err, &refused) {
			return o, s.noLogin(hello, refused)
		}
		return o, err
	}
	o, err = s.newSession(ctx)
	if errors.As(err, &refused) && refused.kind() == agents.FailAuth {
		return o, s.noLogin(hello, refused)
	}
	return o, err
}

func (s *session) newSession(ctx context.Context) (opened, error) {
	var o opened
	raw, err := s.call(ctx, "session/new", map[string]any{"cwd": s.t.Dir, "mcpServers": servers(s.t.MCP)}, sessionLimit)
	if err != nil {
		return o, err
	}
	_ = json.Unmarshal(raw, &o) // what is missing is empty
	if o.ID == "" {
		return o, s.fail(agents.FailStart, "it opened a session without an id", nil)
	}
	return o, nil
}

// servers are MCP servers in the words of the protocol, which wants every field.
func servers(list []agents.MCPServer) []map[string]any {
	out := []map[string]any{}
	for _, m := range list {
		env := []map[string]string{}
		for _, e := range m.Env {
			name, value, _ := strings.Cut(e, "=")
			env = append(env, map[string]string{"name": name, "value": value})
		}
		out = append(out, map[string]any{"name": m.Name, "command": m.Command, "args": append([]string{}, m.Args...), "env": env})
	}
	return out
}

// noLogin says what can be done about it.
func (s *session) noLogin(hello greeting, refused *rpcError) *agents.Failure {
	hint := s.p.LoginHint
	if hint == "" {
		var ways []string
		for _, m := range hello.Auth {
			ways = append(ways, firstText(m.Name, m.ID))
		}
		hint = "log in with the program itself once"
		if len(ways) > 0 {
			hint += " (it offers: " + strings.Join(ways[:min(len(ways), 6)], ", ") + ")"
		}
	}
	return s.fail(agents.FailAuth, "it is not logged in: "+hint, refused)
}

// prompt gives the task and stays until the turn is over.
func (s *session) prompt(ctx context.Context) error {
	s.asked, s.turn = true, true
	raw, err := s.call(ctx, "session/prompt", map[string]any{
		"sessionId": s.id, "prompt": []map[string]any{{"type": "text", "text": s.t.Prompt}},
	}, 0)
	if err != nil {
		var refused *rpcError
		s.turn = !errors.As(err, &refused)
		return err
	}
	s.turn = false
	r := s.account(raw)
	s.flushTools()
	return s.stopped(r.Stop)
}
