package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"si/agents"
)

// modes are the ways in which a session can work.
type modes struct {
	Available []struct {
		ID string `json:"id"`
	} `json:"availableModes"`
	Current string `json:"currentModeId"`
}

// configOption is something about the session that can be chosen. Programs that
// have these want them used, and not modes and models.
type configOption struct {
	ID       string          `json:"id"`
	Category string          `json:"category"` // mode, model, thought_level
	Current  json.RawMessage `json:"currentValue"`
	Options  []choice        `json:"options"`
}

// choice is a value of an option, or a group of such.
type choice struct {
	Value   string   `json:"value"`
	Name    string   `json:"name"`
	Options []choice `json:"options"`
}

func (o configOption) values() []choice {
	var out []choice
	for _, c := range o.Options {
		if c.Value != "" {
			out = append(out, c)
		}
		out = append(out, c.Options...)
	}
	return out
}

func (o configOption) current() string {
	var text string
	_ = json.Unmarshal(o.Current, &text) // a switch has another type, and is none of ours
	return text
}

func optionOf(options []configOption, category string) *configOption {
	for _, byID := range []bool{false, true} {
		for i, o := range options {
			if o.Category == category || byID && o.Category == "" && o.ID == category {
				return &options[i]
			}
		}
	}
	return nil
}

// configure chooses how the session works, with which model, and how hard it
// thinks.
func (s *session) configure(ctx context.Context, o opened) error {
	if err := s.chooseModel(ctx, o); err != nil {
		return err
	}
	if err := s.chooseEffort(ctx, o); err != nil {
		return err
	}
	return s.chooseMode(ctx, o)
}

func (s *session) setOption(ctx context.Context, id, value string) error {
	_, err := s.call(ctx, "session/set_config_option", map[string]any{"sessionId": s.id, "configId": id, "value": value}, settingLimit)
	return err
}

// chooseMode takes the first mode that fits the role and that the program agrees
// to. Without one, permissions and containment are what holds the role.
func (s *session) chooseMode(ctx context.Context, o opened) error {
	offered, current := []string{}, o.Modes.Current
	for _, m := range o.Modes.Available {
		offered = append(offered, m.ID)
	}
	option := optionOf(o.Options, "mode")
	if option != nil {
		offered, current = nil, option.current()
		for _, v := range option.values() {
			offered = append(offered, v.Value)
		}
	}
	for _, mode := range fitting(offered, wantedModes(s.t.Role.Edits(), s.t.Contain != nil)) {
		if mode == current {
			return nil
		}
		var err error
		if option != nil {
			err = s.setOption(ctx, option.ID, mode)
		} else {
			_, err = s.call(ctx, "session/set_mode", map[string]any{"sessionId": s.id, "modeId": mode}, settingLimit)
		}
		var refused *rpcError
		if !errors.As(err, &refused) {
			return err
		}
		s.notice("it refuses to work in its mode %s: %s", mode, refused.said())
	}
	return nil
}

// wantedModes are the names of modes, the best first. An agent that edits may do
// all inside of a containment; without one, it is to ask.
func wantedModes(edits, contained bool) []string {
	switch {
	case !edits:
		return []string{"plan", "readonly", "ask", "approve", "default", "manual"}
	case contained:
		return []string{"yolo", "bypasspermissions", "fullaccess", "autopilot", "auto", "build", "code", "agent", "acceptedits", "autoedit"}
	}
	return []string{"acceptedits", "autoedit", "default", "build", "code", "agent", "smartapprove", "approve", "auto"}
}

// fitting are the offered modes that are wanted, in the order of wanted. Names are
// compared by their letters: they are written in many ways, some as addresses.
func fitting(offered, wanted []string) []string {
	var out []string
	for _, w := range wanted {
		for _, o := range offered {
			if letters(o[strings.LastIndexAny(o, "#/")+1:]) == w {
				out = append(out, o)
			}
		}
	}
	return out
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// chooseModel makes sure that the model that was named is the one that works: an
// answer of another one would be put down to it.
func (s *session) chooseModel(ctx context.Context, o opened) error {
	want := firstText(s.t.Model, s.o.Model)
	option := optionOf(o.Options, "model")
	var offered []choice
	current := o.Models.Current
	for _, m := range o.Models.Available {
		offered = append(offered, choice{Value: m.ID, Name: m.Name})
	}
	if option != nil {
		offered, current = option.values(), option.current()
	}
	if s.model = current; want == "" {
		return nil
	}
	value := modelNamed(offered, want)
	var err error
	switch {
	case value == current:
		return nil
	case option != nil:
		err = s.setOption(ctx, option.ID, value)
	case len(offered) > 0:
		_, err = s.call(ctx, "session/set_model", map[string]any{"sessionId": s.id, "modelId": value}, settingLimit)
	case len(s.p.ModelFlag) == 0:
		return s.fail(agents.FailStart, fmt.Sprintf("it lets nobody choose a model, and %q is wanted: leave the model out for it in si.agents of settings.json", want), nil)
	}
	var refused *rpcError
	if errors.As(err, &refused) {
		return s.fail(agents.FailStart, fmt.Sprintf("it does not take the model %q; it offers %s", want, names(offered)), refused)
	}
	s.model = value
	return err
}

// modelNamed is the value of the model that people call want: by its value, its
// name, or its value without the provider. Of a name that is not offered, the
// program is the judge.
func modelNamed(offered []choice, want string) string {
	for _, same := range []func(c choice) bool{
		func(c choice) bool { return c.Value == want },
		func(c choice) bool { return strings.EqualFold(c.Value, want) || strings.EqualFold(c.Name, want) },
		func(c choice) bool { return strings.EqualFold(c.Value[strings.LastIndex(c.Value, "/")+1:], want) },
	} {
		if i := slices.IndexFunc(offered, same); i >= 0 {
			return offered[i].Value
		}
	}
	return want
}

func names(offered []choice) string {
	var out []string
	for _, c := range offered[:min(len(offered), 12)] {
		out = append(out, c.Value)
	}
	if len(offered) > len(out) {
		out = append(out, fmt.Sprintf("and %d more", len(offered)-len(out)))
	}
	return strings.Join(out, ", ")
}

// chooseEffort sets how hard the model thinks, where that can be chosen.
func (s *session) chooseEffort(ctx context.Context, o opened) error {
	want := firstText(s.t.Effort, s.o.Effort)
	if want == "" {
		return nil
	}
	option := optionOf(o.Options, "thought_level")
	if option == nil {
		s.notice("how hard it thinks cannot be chosen: %q is passed over", want)
		return nil
	}
	value := modelNamed(option.values(), want)
	if value == option.current() {
		return nil
	}
	err := s.setOption(ctx, option.ID, value)
	var refused *rpcError
	if errors.As(err, &refused) {
		s.notice("it does not think %q; it offers %s", want, names(option.values()))
		return nil
	}
	return err
}
