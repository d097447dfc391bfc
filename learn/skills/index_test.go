package skills

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestIndex(t *testing.T) {
	w := newWorld(t)
	if x, err := w.Index(IndexRequest{}); err != nil || x.Text() != "" {
		t.Errorf("%q %v", x.Text(), err)
	}
	for name, about := range map[string]string{"alpha": "Writes tables", "beta": "Profiles the parser", "gamma": "Writes letters", "delta": "Old stuff"} {
		w.must(w.Create(t.Context(), name, ByAgent, Fields{Description: &about, Body: ptr("b")}))
	}
	w.write("home/beta/SKILL.md", skillText("beta", "shadowed"))
	w.use("gamma")
	names := func(r IndexRequest) string {
		x, err := w.Index(r)
		w.must(err)
		var out []string
		for _, i := range x.Skills {
			out = append(out, i.Name)
		}
		return strings.Join(out, " ")
	}
	if got := names(IndexRequest{}); got != "gamma alpha beta delta" {
		t.Errorf("those in use first: %s", got)
	}
	if got := names(IndexRequest{About: "make the PARSER fast"}); got != "beta gamma alpha delta" {
		t.Errorf("the likest first: %s", got)
	}
	w.days(31)
	w.use("delta")
	w.pass()
	if got := names(IndexRequest{}); got != "delta gamma alpha beta" {
		t.Errorf("stale ones last: %s", got)
	}
	x, err := w.Index(IndexRequest{Budget: 70})
	w.must(err)
	if got := x.Text(); got != "### Skills (2 of 4)\n- delta: Old stuff\n- gamma: Writes letters\n" {
		t.Errorf("%q", got)
	}
	for _, budget := range []int{1, 40, 90, 200} {
		x, err := w.Index(IndexRequest{Budget: budget})
		if n := utf8.RuneCountInString(x.Text()); err != nil || n > budget {
			t.Errorf("%d code points in a budget of %d, %v", n, budget, err)
		}
	}
}

func TestMentioned(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.create(name, ByAgent)
	}
	x, err := w.Index(IndexRequest{Paths: true})
	w.must(err)
	path := filepath.Join(w.Dir(), "a", "SKILL.md")
	if !strings.Contains(x.Text(), "- a: About a ("+path+")\n") {
		t.Error(x.Text())
	}
	for text, want := range map[string]string{
		"cat " + path: "[a]",
		fmt.Sprintf("cat '%s' && head %s/b/SKILL.md; cat %s", path, w.Dir(), path): "[a b]",
		"cat /elsewhere/a/SKILL.md":      "[]",
		"cat a/SKILL.md, SKILL.md":       "[]",
		"nothing":                        "[]",
		w.Dir() + "/c/x/SKILL.md":        "[]",
		strings.Repeat("/SKILL.md", 5e5): "[]",
	} {
		if got := fmt.Sprint(w.Mentioned(text)); got != want {
			t.Errorf("%.100s: %s, want %s", text, got, want)
		}
	}
}
