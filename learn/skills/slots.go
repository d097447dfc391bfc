package skills

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Slot is a kind of work for an auxiliary model.
type Slot string

// The slots.
const (
	SlotReview      Slot = "review"
	SlotCuration    Slot = "curation"
	SlotTitle       Slot = "title"
	SlotTriage      Slot = "triage"
	SlotCompression Slot = "compression"
)

// Slots are all slots.
func Slots() []Slot { return []Slot{SlotReview, SlotCuration, SlotTitle, SlotTriage, SlotCompression} }

// Models are the auxiliary models. A model is named as agents are in the settings.
type Models struct {
	Primary    string               `json:"primary,omitempty"`     // ends every chain; the one that plays the roles
	DefaultAux SlotModel            `json:"default_aux,omitempty"` // for slots without a model of their own
	Slots      map[string]SlotModel `json:"slots,omitempty"`       // by slot
}

// SlotModel is the model of a slot, and those that stand in for it, in their order.
type SlotModel struct {
	Model     string   `json:"model,omitempty"`
	Fallbacks []string `json:"fallbacks,omitempty"`
}

// Validate returns all problems at once, each with its field.
func (m Models) Validate() error {
	var errs []error
	for name, s := range m.Slots {
		if !slices.Contains(Slots(), Slot(name)) {
			errs = append(errs, fmt.Errorf("slots.%s: there is no such slot; there are %v", short(name), Slots()))
		}
		if s.Model == "" && len(s.Fallbacks) > 0 {
			errs = append(errs, fmt.Errorf("slots.%s.model: missing, and there are fallbacks for it", short(name)))
		}
	}
	return errors.Join(errs...)
}

// Chain is the models that may serve a slot, best first: its own and its fallbacks,
// those of default_aux, the primary. It is empty when none is configured.
func (m Models) Chain(slot Slot) []string {
	var chain []string
	add := func(names ...string) {
		for _, name := range names {
			if name != "" && !slices.Contains(chain, name) {
				chain = append(chain, name)
			}
		}
	}
	for _, s := range []SlotModel{m.Slots[string(slot)], m.DefaultAux} {
		add(s.Model)
		add(s.Fallbacks...)
	}
	chain = slices.DeleteFunc(chain, func(name string) bool { return name == m.Primary })
	add(m.Primary)
	return chain
}

// ErrNoModel says that no model is configured, or none is available.
var ErrNoModel = errors.New("no auxiliary model is available")

// Resolve returns the first model of the slot's chain that is available.
func (m Models) Resolve(slot Slot, available func(model string) bool) (string, error) {
	chain := m.Chain(slot)
	for _, model := range chain {
		if available(model) {
			return model, nil
		}
	}
	if len(chain) == 0 {
		return "", fmt.Errorf("%w: none is configured for %s", ErrNoModel, slot)
	}
	return "", fmt.Errorf("%w for %s: tried %v", ErrNoModel, slot, chain)
}

// Model asks the auxiliary model of a slot. It blocks until there is an answer, an
// error, or ctx ends. It can be called from several goroutines: one that is deaf to ctx
// is given up while it still runs.
type Model func(ctx context.Context, slot Slot, prompt string) (string, error)

// Ask is one question to one model by its name.
type Ask func(ctx context.Context, model, prompt string) (string, error)

// Serve makes a Model of the chain: a model that fails is followed by the next one,
// and the last error is returned when all fail.
func (m Models) Serve(available func(model string) bool, ask Ask) Model {
	return func(ctx context.Context, slot Slot, prompt string) (string, error) {
		var errs []error
		for _, model := range m.Chain(slot) {
			if !available(model) {
				continue
			}
			text, err := ask(ctx, model, prompt)
			if err == nil {
				return text, nil
			}
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			errs = append(errs, fmt.Errorf("%s: %w", model, err))
		}
		if len(errs) == 0 {
			return "", fmt.Errorf("%w for %s", ErrNoModel, slot)
		}
		return "", fmt.Errorf("ask an auxiliary model for %s: %w", slot, errors.Join(errs...))
	}
}
