package skills

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// world is a library on a disk, with a clock by hand.
type world struct {
	*Library
	t    *testing.T
	dir  string
	time time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), time: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	var err error
	w.Library, err = Open(Options{
		Base: filepath.Join(w.dir, "base"), Learned: filepath.Join(w.dir, "repo", ".si", "skills"),
		External: []string{filepath.Join(w.dir, "home"), filepath.Join(w.dir, "repo", ".agents", "skills")},
		Now:      func() time.Time { return w.time },
	})
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(path, text string) {
	w.t.Helper()
	path = filepath.Join(w.dir, path)
	w.must(os.MkdirAll(filepath.Dir(path), 0o755))
	w.must(os.WriteFile(path, []byte(text), 0o644))
}

func skillText(name, description string) string {
	return file("name: "+name+"\ndescription: "+description+"\n", "\nBody of "+name+".\n")
}

func ptr(s string) *string { return &s }

func (w *world) create(name, author string) {
	w.t.Helper()
	w.must(w.Create(w.t.Context(), name, author, Fields{Description: ptr("About " + name), Body: ptr("Do " + name)}))
}

// names are the names with their origin, shadowed ones in brackets.
func (w *world) names() string {
	w.t.Helper()
	listing, err := w.List()
	w.must(err)
	var out []string
	for _, i := range listing.Skills {
		text := i.Name + ":" + string(i.Origin)
		if i.ShadowedBy != "" {
			text = "(" + text + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestListShadows(t *testing.T) {
	w := newWorld(t)
	if w.names() != "" {
		t.Error("an empty place has skills")
	}
	for _, path := range []string{"repo/.si/skills/a", "base/skills/a", "base/skills/deep/er/b", "home/a", "home/b", "repo/.agents/skills/b", "home/c/inner/d", "home/c"} {
		w.write(path+"/SKILL.md", skillText(filepath.Base(path), "d"))
	}
	for _, path := range []string{"base/skills/.archive/x", "home/node_modules/y", "home/.git/z"} {
		w.write(path+"/SKILL.md", skillText(filepath.Base(path), "d"))
	}
	w.write("home/bad/SKILL.md", "no front matter")
	w.write("home/other-folder/SKILL.md", skillText("named", "d"))
	want := "a:learned (a:managed) (a:external) b:managed (b:external) (b:external) c:external d:external named:external"
	if got := w.names(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	listing, err := w.List()
	w.must(err)
	if len(listing.Broken) != 1 || !strings.Contains(listing.Broken[0].Why, "---") || !strings.HasSuffix(listing.Broken[0].Path, "home/bad/SKILL.md") {
		t.Errorf("broken: %+v", listing.Broken)
	}
	named := listing.Skills[len(listing.Skills)-1]
	if len(named.Warnings) != 1 || !strings.Contains(named.Warnings[0], "name of its folder") {
		t.Errorf("warnings: %q", named.Warnings)
	}
}

// TestListSeesEveryChange: what changed on the disk is read again, however it
// changed; equal sizes within one second count too.
func TestListSeesEveryChange(t *testing.T) {
	w := newWorld(t)
	w.write("home/a/SKILL.md", skillText("a", "one"))
	describe := func() string {
		info, err := w.Find("a")
		if err != nil {
			return "gone"
		}
		return info.Description
	}
	old := time.Now().Add(-time.Hour)
	age := func(paths ...string) {
		for _, p := range paths {
			w.must(os.Chtimes(filepath.Join(w.dir, p), old, old))
		}
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "one"},
		{func() { w.write("home/a/SKILL.md", skillText("a", "two")) }, "two"},
		{func() { age("home/a/SKILL.md", "home/a", "home") }, "two"},
		{func() { w.write("home/a/SKILL.md", skillText("a", "six")) }, "six"},
		{func() { w.must(os.Remove(filepath.Join(w.dir, "home/a/SKILL.md"))) }, "gone"},
		{func() { w.write("home/x/y/SKILL.md", skillText("a", "moved")) }, "moved"},
		{func() { w.must(os.RemoveAll(filepath.Join(w.dir, "home"))) }, "gone"},
		{func() { w.write("base/skills/a/SKILL.md", skillText("a", "managed")) }, "managed"},
	} {
		step.do()
		if got := describe(); got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
}

func TestCreatePatchEditDelete(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.create("good", ByUser)
	source := func() string {
		data, err := w.Source("good")
		w.must(err)
		return string(data)
	}
	if got := source(); got != "---\nname: good\ndescription: About good\nmetadata:\n  created_by: user\n---\n\nDo good\n" {
		t.Errorf("created:\n%s", got)
	}
	w.must(w.Patch(ctx, "good", Fields{Category: ptr("go"), Version: ptr("1.0")}))
	if got := source(); got != "---\nname: good\ndescription: About good\nmetadata:\n  created_by: user\n  version: \"1.0\"\n  category: go\n---\n\nDo good\n" {
		t.Errorf("patched:\n%s", got)
	}
	w.must(w.Edit(ctx, "good", []byte("---\nname: good\ndescription: new\ncreated_by: agent\nx: [1, 2]\n---\nBody\n")))
	if got := source(); got != "---\nname: good\ndescription: new\nx: [1, 2]\nmetadata:\n  created_by: user\n---\nBody\n" {
		t.Errorf("edited:\n%s", got)
	}
	w.must(w.Delete(ctx, "good", false))
	if got := w.names(); got != "" {
		t.Errorf("after delete: %s", got)
	}
	if err := w.Create(ctx, "good", ByUser, Fields{Description: ptr("d"), Body: ptr("b")}); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "archive") {
		t.Errorf("over an archived name: %v", err)
	}
	w.must(w.Restore(ctx, "good"))
	w.must(w.Delete(ctx, "good", true))
	if archived, err := w.Archived(); err != nil || len(archived) != 0 {
		t.Errorf("erased, and %v %v", archived, err)
	}
	entries, err := os.ReadDir(w.Dir())
	if err != nil || len(entries) != 2 { // .archive and the counters
		t.Errorf("left behind: %v %v", entries, err)
	}
}

func TestRefusals(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.create("mine", ByUser)
	w.create("pinned", ByUser)
	w.must(w.Pin(ctx, "pinned", true))
	w.write("home/theirs/SKILL.md", skillText("theirs", "d"))
	w.write("repo/.si/skills/law/SKILL.md", skillText("law", "d"))
	w.write("base/skills/outer/SKILL.md", skillText("outer", "d"))
	w.write("base/skills/outer/inner/SKILL.md", skillText("inner", "d"))
	w.write("base/skills/taken/readme", "no skill")
	fields := Fields{Description: ptr("d"), Body: ptr("b")}
	for name, tc := range map[string]struct {
		do   func() error
		want string
	}{
		"over a managed one":     {func() error { return w.Create(ctx, "mine", ByAgent, fields) }, "the name is taken"},
		"over an external one":   {func() error { return w.Create(ctx, "theirs", ByUser, fields) }, "the name is taken"},
		"over a learned one":     {func() error { return w.Create(ctx, "law", ByUser, fields) }, "the name is taken"},
		"over a folder":          {func() error { return w.Create(ctx, "taken", ByUser, fields) }, "the name is taken"},
		"a name that leads out":  {func() error { return w.Create(ctx, "../x", ByUser, fields) }, "others than lower-case"},
		"without a body":         {func() error { return w.Create(ctx, "empty", ByUser, Fields{Description: ptr("d")}) }, "body: missing"},
		"without a description":  {func() error { return w.Create(ctx, "empty", ByUser, Fields{Body: ptr("d")}) }, "description: missing"},
		"a long description":     {func() error { return w.Patch(ctx, "mine", Fields{Description: ptr(strings.Repeat("x", 1025))}) }, "1025 characters"},
		"patch an external one":  {func() error { return w.Patch(ctx, "theirs", fields) }, "read only"},
		"delete an external one": {func() error { return w.Delete(ctx, "theirs", true) }, "read only"},
		"edit a learned one":     {func() error { return w.Edit(ctx, "law", []byte(skillText("law", "d"))) }, "read only"},
		"pin an external one":    {func() error { return w.Pin(ctx, "theirs", true) }, "read only"},
		"rename by edit":         {func() error { return w.Edit(ctx, "mine", []byte(skillText("yours", "d"))) }, "not the name of its folder"},
		"edit to nonsense":       {func() error { return w.Edit(ctx, "mine", []byte("x")) }, "no front matter"},
		"delete a pinned one":    {func() error { return w.Delete(ctx, "pinned", false) }, "unpin"},
		"delete one that holds":  {func() error { return w.Delete(ctx, "outer", false) }, "holds another skill"},
		"delete nothing":         {func() error { return w.Delete(ctx, "nothing", false) }, "no such skill"},
		"restore nothing":        {func() error { return w.Restore(ctx, "nothing") }, "no such skill"},
		"restore one in use":     {func() error { return w.Restore(ctx, "mine") }, "the name is taken"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.do(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	if got := w.names(); got != "inner:managed law:learned mine:managed outer:managed pinned:managed theirs:external" {
		t.Errorf("changed: %s", got)
	}
}

// TestViewStaysInTheFolder: every way out is refused, whether it is in the words of
// the path, on the disk, or made after the library was read.
func TestViewStaysInTheFolder(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.write("secret", "secret")
	w.write("base/skills/secret", "secret")
	w.write("base/skills/a/SKILL.md", skillText("a", "d"))
	w.write("base/skills/a/references/r.md", "reference")
	link := func(to, at string) { w.must(os.Symlink(to, filepath.Join(w.dir, "base/skills", at))) }
	link("references/r.md", "a/inside")
	link("../secret", "a/outside")
	link(filepath.Join(w.dir, "secret"), "a/absolute")
	link("..", "a/up")
	w.must(os.WriteFile(filepath.Join(w.dir, "base/skills/a/binary"), []byte{0xff, 0}, 0o644))
	for _, tc := range []struct{ path, want string }{
		{"references/r.md", "reference"},
		{"./references//r.md", "reference"},
		{"inside", "reference"},
		{"", "Body of a.\n"},
		{"SKILL.md", "Body of a.\n"},
		{"outside", "error"},
		{"absolute", "error"},
		{"up/secret", "error"},
		{"../secret", "error"},
		{"references/../references/r.md", "error"},
		{`..\secret`, "error"},
		{filepath.Join(w.dir, "secret"), "error"},
		{"references", "error"},
		{"nothing", "error"},
		{"binary", "error"},
		{"a\x00b", "error"},
	} {
		c, err := w.View(ctx, "a", tc.path, Caller{})
		if err != nil {
			c.Text = "error"
			if strings.Contains(err.Error(), "secret\n") {
				t.Errorf("%q: the error tells the secret: %v", tc.path, err)
			}
		}
		if c.Text != tc.want {
			t.Errorf("%q: %q, want %q (%v)", tc.path, c.Text, tc.want, err)
		}
	}
	t.Run("a link made after the check", func(t *testing.T) {
		dir := filepath.Join(w.dir, "base/skills/a")
		w.must(os.RemoveAll(filepath.Join(dir, "references")))
		w.must(os.Symlink(w.dir, filepath.Join(dir, "references")))
		if c, err := w.View(ctx, "a", "references/secret", Caller{}); err == nil {
			t.Errorf("got %q", c.Text)
		}
	})
	t.Run("SKILL.md as a link out", func(t *testing.T) {
		w.must(os.MkdirAll(filepath.Join(w.dir, "base/skills/b"), 0o755))
		w.write("outside.md", skillText("b", "secret"))
		link("../../../outside.md", "b/SKILL.md")
		if _, err := w.Find("b"); !errors.Is(err, ErrNotFound) {
			t.Errorf("found: %v", err)
		}
	})
	t.Run("a skill's folder as a link", func(t *testing.T) {
		w.write("elsewhere/SKILL.md", skillText("c", "secret"))
		link(filepath.Join(w.dir, "elsewhere"), "c")
		if _, err := w.Find("c"); !errors.Is(err, ErrNotFound) {
			t.Errorf("found: %v", err)
		}
	})
}

func TestCounts(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.create("a", ByAgent)
	look := func(task string) {
		c, err := w.View(ctx, "a", "", Caller{Task: task})
		if err != nil || c.Uncounted != "" {
			t.Fatal(err, c.Uncounted)
		}
	}
	look("")
	if i, _ := w.Find("a"); i.ViewCount != 1 || i.UseCount != 0 || i.LastUsedAt != nil || !i.CreatedAt.Equal(w.time) {
		t.Errorf("a person looked: %+v", i)
	}
	look("run/1/executor_a")
	look("run/1/executor_a")
	w.must(w.NoteUses(ctx, []string{"a"}, Caller{Task: "run/2/executor_b"}))
	if i, _ := w.Find("a"); i.ViewCount != 3 || i.UseCount != 3 || !i.LastUsedAt.Equal(w.time) || len(i.UsedIn) != 2 {
		t.Errorf("agents looked: %+v", i)
	}
	w.must(os.WriteFile(filepath.Join(w.Dir(), telemetryFile), []byte("{torn"), 0o644))
	listing, err := w.List()
	if err != nil || len(listing.Skills) != 1 || len(listing.Warnings) != 1 {
		t.Errorf("without counters: %+v %v", listing, err)
	}
	look("run/3/x")
	if data, err := os.ReadFile(filepath.Join(w.Dir(), telemetryFile+".broken")); err != nil || string(data) != "{torn" {
		t.Errorf("the broken file was not put aside: %q %v", data, err)
	}
	w.must(os.Remove(filepath.Join(w.Dir(), telemetryFile)))
	if i, err := w.Find("a"); err != nil || i.UseCount != 0 || i.CreatedBy != ByAgent {
		t.Errorf("lost counters: %+v %v", i, err)
	}
}

// TestOneWriterAtATime: changes of several libraries at once, as several processes
// have them, are all there.
func TestOneWriterAtATime(t *testing.T) {
	w := newWorld(t)
	w.create("shared", ByUser)
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		l, err := Open(Options{Base: w.base, Now: w.now})
		w.must(err)
		wg.Go(func() {
			ctx := context.Background()
			if err := l.Create(ctx, fmt.Sprintf("s%d", i), ByAgent, Fields{Description: ptr("d"), Body: ptr("b")}); err != nil {
				t.Error(err)
			}
			if _, err := l.View(ctx, "shared", "", Caller{Task: "t"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	listing, err := w.List()
	w.must(err)
	info, err := w.Find("shared")
	w.must(err)
	if len(listing.Skills) != n+1 || info.UseCount != n {
		t.Errorf("%d skills, %d uses", len(listing.Skills), info.UseCount)
	}
}
