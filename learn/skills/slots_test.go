package skills

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestChain(t *testing.T) {
	own := SlotModel{Model: "own", Fallbacks: []string{"f1", "f2"}}
	for _, tc := range []struct {
		name string
		m    Models
		want string
	}{
		{"nothing", Models{}, ""},
		{"the primary alone", Models{Primary: "p"}, "p"},
		{"default and primary", Models{Primary: "p", DefaultAux: SlotModel{Model: "d", Fallbacks: []string{"d2"}}}, "d d2 p"},
		{"all", Models{Primary: "p", DefaultAux: SlotModel{Model: "d"}, Slots: map[string]SlotModel{"review": own}}, "own f1 f2 d p"},
		{"another slot's", Models{Primary: "p", Slots: map[string]SlotModel{"title": own}}, "p"},
		{"the primary is last, also when named before", Models{Primary: "f1", DefaultAux: SlotModel{Model: "d", Fallbacks: []string{"own"}}, Slots: map[string]SlotModel{"review": own}}, "own f2 d f1"},
		{"without a primary", Models{DefaultAux: SlotModel{Model: "d"}}, "d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := strings.Join(tc.m.Chain(SlotReview), " "); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestResolveAndServe(t *testing.T) {
	m := Models{Primary: "p", Slots: map[string]SlotModel{"review": {Model: "own", Fallbacks: []string{"f1"}}}}
	among := func(names ...string) func(string) bool {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	if got, err := m.Resolve(SlotReview, among("p", "f1")); got != "f1" || err != nil {
		t.Error(got, err)
	}
	if _, err := m.Resolve(SlotReview, among()); !errors.Is(err, ErrNoModel) {
		t.Error(err)
	}
	if _, err := (Models{}).Resolve(SlotReview, among("p")); !errors.Is(err, ErrNoModel) {
		t.Error(err)
	}
	var asked []string
	model := m.Serve(among("own", "p"), func(_ context.Context, model, _ string) (string, error) {
		asked = append(asked, model)
		if model == "own" {
			return "", errors.New("overloaded")
		}
		return "text", nil
	})
	if got, err := model(t.Context(), SlotReview, "?"); got != "text" || err != nil || strings.Join(asked, " ") != "own p" {
		t.Error(got, err, asked)
	}
	failing := m.Serve(among("own", "p"), func(context.Context, string, string) (string, error) { return "", errors.New("down") })
	if _, err := failing(t.Context(), SlotReview, "?"); err == nil || !strings.Contains(err.Error(), "own: down") || !strings.Contains(err.Error(), "p: down") {
		t.Error(err)
	}
	if err := (Models{Slots: map[string]SlotModel{"x": {}, "title": {Fallbacks: []string{"a"}}}}).Validate(); err == nil || !strings.Contains(err.Error(), "slots.x") || !strings.Contains(err.Error(), "slots.title.model") {
		t.Error(err)
	}
}
