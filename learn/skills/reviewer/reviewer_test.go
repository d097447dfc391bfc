package reviewer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"si/learn/memory"
	"si/learn/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type world struct {
	t        *testing.T
	lib      *skills.Library
	mem      *memory.Store
	mu       sync.Mutex
	outcomes []Outcome
	prompts  []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	now := func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }
	base, dir := filepath.Join(t.TempDir(), "base"), t.TempDir()
	var err error
	if w.lib, err = skills.Open(skills.Options{Base: base, Learned: filepath.Join(dir, "learned"), Now: now}); err != nil {
		t.Fatal(err)
	}
	if w.mem, err = memory.Open(memory.Options{Base: base, Now: now}); err != nil {
		t.Fatal(err)
	}
	return w
}

// reviewer is one whose model is model.
func (w *world) reviewer(s Settings, model skills.Model) *Reviewer {
	return New(Options{
		Settings: s, Library: w.lib, Memories: w.mem, Model: model,
		Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[secret]") },
		Done: func(o Outcome) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.outcomes = append(w.outcomes, o)
		},
	})
}

// says is a model that always answers the same.
func (w *world) says(text string) skills.Model {
	return func(_ context.Context, slot skills.Slot, prompt string) (string, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.prompts = append(w.prompts, prompt)
		if slot != skills.SlotReview {
			return "", fmt.Errorf("slot %s", slot)
		}
		return text, nil
	}
}

func task(id string, calls int) Task {
	t := Task{ID: id, Run: "run", Round: 3, Role: "executor", Succeeded: true, About: "make it fast", Log: "logs/x.log", Transcript: &Transcript{}}
	t.Transcript.Say("I look at ")
	t.Transcript.Say("the parser.")
	for i := range calls {
		t.Transcript.Call("bash", fmt.Sprint("run ", i))
		t.Transcript.Result("the password is hunter2", false)
	}
	return t
}

// have is the whole of what was learned.
func (w *world) have() string {
	w.t.Helper()
	listing, err := w.lib.List()
	if err != nil {
		w.t.Fatal(err)
	}
	mem, err := w.mem.List()
	if err != nil {
		w.t.Fatal(err)
	}
	props, _, err := w.lib.Proposals()
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, m := range mem.Records {
		out = append(out, fmt.Sprintf("%s(%s %v %s/%d/%s %v)", m.Content, m.Type, m.Tags, m.From.Run, m.From.Round, m.From.Role, m.From.Evidence))
	}
	for _, s := range listing.Skills {
		out = append(out, s.Name+":"+s.CreatedBy)
	}
	for _, p := range props {
		out = append(out, fmt.Sprintf("%s %s %s from %s", p.ID, p.Kind, p.Name, p.From))
	}
	return strings.Join(out, " | ")
}

func closeNow(t *testing.T, r *Reviewer) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return r.Close(ctx)
}

const good = `Thinking… {"draft": 1}
` + "```json\n" + `{"memories": [{"content": "The cache is cold at first", "type": "gotcha", "tags": ["Cache"]}],
 "skills": [{"name": "warm-up", "description": "Warms the cache up before measuring", "category": "bench", "body": "1. Run it once."}]}
` + "```\nDone."

func TestAReviewIsKept(t *testing.T) {
	w := newWorld(t)
	r := w.reviewer(Settings{On: true}, w.says(good))
	if !r.After(task("run/3/executor_a", 5)) {
		t.Fatal("not taken")
	}
	if left := closeNow(t, r); left != 0 {
		t.Error(left)
	}
	want := "The cache is cold at first(gotcha [cache] run/3/executor [run/3/executor_a logs/x.log]) | warm-up:agent"
	if got := w.have(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o := w.outcomes[0]
	if o.Err != nil || o.Task != "run/3/executor_a" || strings.Join(o.Skills, " ") != "warm-up" || strings.Join(o.Memories, " ") != "M-1" {
		t.Errorf("%+v", o)
	}
	p := w.prompts[0]
	if !strings.Contains(p, "# I look at the parser.\n> bash run 0\n< the password is [secret]\n> bash run 1") || strings.Contains(p, "hunter2") || !strings.Contains(p, "make it fast") {
		t.Errorf("prompt:\n%s", p)
	}
	if r.After(task("late", 5)) {
		t.Error("a closed reviewer took a task")
	}
}

func TestWhatQualifies(t *testing.T) {
	w := newWorld(t)
	failed := task("x", 9)
	failed.Succeeded = false
	mute := task("x", 9)
	mute.Transcript = nil
	for _, tc := range []struct {
		name  string
		s     Settings
		model bool
		t     Task
		want  bool
	}{
		{"five calls", Settings{On: true}, true, task("x", 5), true},
		{"four calls", Settings{On: true}, true, task("x", 4), false},
		{"two of two", Settings{On: true, MinToolCalls: 2}, true, task("x", 2), true},
		{"it failed", Settings{On: true}, true, failed, false},
		{"no transcript", Settings{On: true}, true, mute, false},
		{"off, as by default", Settings{}, true, task("x", 9), false},
		{"no model", Settings{On: true}, false, task("x", 9), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var model skills.Model
			if tc.model {
				model = w.says("{}")
			}
			r := w.reviewer(tc.s, model)
			if got := r.After(tc.t); got != tc.want {
				t.Error(got)
			}
			closeNow(t, r)
		})
	}
}

// TestNamesThatAreTaken: nothing is overwritten. What is ours gets a proposal, once.
func TestNamesThatAreTaken(t *testing.T) {
	w := newWorld(t)
	text := func(s string) *string { return &s }
	fields := skills.Fields{Description: text("mine"), Body: text("my own words")}
	for name, by := range map[string]string{"warm-up": skills.ByUser, "gone": skills.ByAgent} {
		if err := w.lib.Create(t.Context(), name, by, fields); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.lib.Delete(t.Context(), "gone", false); err != nil {
		t.Fatal(err)
	}
	r := w.reviewer(Settings{On: true}, w.says(good))
	r.After(task("one", 5))
	r.After(task("two", 5))
	closeNow(t, r)
	archived := w.reviewer(Settings{On: true}, w.says(strings.ReplaceAll(good, "warm-up", "gone")))
	archived.After(task("three", 5))
	closeNow(t, archived)
	if got := w.have(); !strings.HasSuffix(got, " | warm-up:user | P-000001 patch warm-up from one") {
		t.Error(got)
	}
	if c, err := w.lib.View(t.Context(), "warm-up", "", skills.Caller{}); err != nil || c.Text != "my own words\n" {
		t.Errorf("%q %v", c.Text, err)
	}
	if o := w.outcomes[2]; len(o.Notes) != 1 || !strings.Contains(o.Notes[0], "archive") {
		t.Errorf("%+v", o)
	}
	if err := w.lib.Accept(t.Context(), "P-000001"); err != nil {
		t.Fatal(err)
	}
	if c, _ := w.lib.View(t.Context(), "warm-up", "", skills.Caller{}); c.Text != "1. Run it once.\n" || c.CreatedBy != skills.ByUser {
		t.Errorf("%q by %s", c.Text, c.CreatedBy)
	}
}

// TestBadAnswers: what a model can answer costs a line in the log and nothing else, and
// the next task is reviewed as if nothing had been.
func TestBadAnswers(t *testing.T) {
	items := make([]string, 5001)
	for i := range items {
		items[i] = fmt.Sprintf(`{"content": "number %d"}`, i)
	}
	flood := `{"memories": [` + strings.Join(items, ",") + `]}`
	for _, tc := range []struct{ name, answer, have, told string }{
		{"nonsense", "I am a teapot", "", "no JSON object"},
		{"nothing", "", "", "no JSON object"},
		{"cut off", `{"memories": [{"content": "a`, "", "no JSON object"},
		{"wrong kinds", `{"memories": "none", "skills": 5}`, "", "the answer: "},
		{"nothing learned", `{"memories": [], "skills": []}`, "", "0 memories"},
		{"one bad among good", `{"memories": [7, {"content": "good"}, {"content": ""}], "skills": [{"name": "../up", "description": "d", "body": "b"}]}`, "good(", "3"},
		{"a flood of bytes", strings.Repeat("{", 4<<20), "", "no JSON object"},
		{"a flood of memories", flood, "number 7(", "4993 items are left out"},
		{"a long skill", `{"skills": [{"name": "long", "description": "d", "body": "` + strings.Repeat(`x\n`, 600) + `"}]}`, "", "not under 500"},
		{"escape codes", `{"memories": [{"content": "\u001b]0;owned\u0007hello"}]}`, "hello(", "1 memories"},
		{"a name that is no text", `{"skills": [{"name": ["a"], "description": "d", "body": "b"}]}`, "", "not kept"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.reviewer(Settings{On: true}, w.says(tc.answer))
			r.After(task("a", 5))
			closeNow(t, r)
			if got := w.have(); !strings.HasPrefix(got, tc.have) || tc.have == "" && got != "" {
				t.Errorf("%.200s", got)
			}
			line := w.outcomes[0].Line()
			if tc.told == "3" {
				if len(w.outcomes[0].Notes) != 3 {
					t.Errorf("%q", w.outcomes[0].Notes)
				}
			} else if !strings.Contains(line, tc.told) {
				t.Errorf("line %q", line)
			}
			if len(line) > 2000 || strings.ContainsAny(line, "\x1b\n") {
				t.Errorf("line of %d bytes", len(line))
			}
		})
	}
}

// TestFailingModels: one that crashes, fails or hangs is given up, and the one after it
// is asked. Its time is a fake clock's.
func TestFailingModels(t *testing.T) {
	for name, bad := range map[string]skills.Model{
		"it panics": func(context.Context, skills.Slot, string) (string, error) { panic("boom") },
		"it fails":  func(context.Context, skills.Slot, string) (string, error) { return "", errors.New("boom") },
		"it hangs until it is told": func(ctx context.Context, _ skills.Slot, _ string) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		},
		"it hangs for an hour whatever it is told": func(context.Context, skills.Slot, string) (string, error) {
			time.Sleep(time.Hour)
			return good, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var later atomic.Bool
				r := w.reviewer(Settings{On: true, WallSeconds: 60}, func(ctx context.Context, s skills.Slot, p string) (string, error) {
					if !later.Swap(true) {
						return bad(ctx, s, p)
					}
					return w.says(good)(ctx, s, p)
				})
				began := time.Now()
				r.After(task("bad", 5))
				r.After(task("good", 5))
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				if left := r.Close(ctx); left != 0 || time.Since(began) > 62*time.Second {
					t.Errorf("%d left after %v", left, time.Since(began))
				}
				if len(w.outcomes) != 2 || w.outcomes[0].Err == nil || w.outcomes[1].Err != nil {
					t.Errorf("%+v", w.outcomes)
				}
				time.Sleep(2 * time.Hour) // calls that were given up end
				if !strings.HasSuffix(w.have(), "warm-up:agent") {
					t.Error(w.have())
				}
			})
		})
	}
}

// TestCloseIsBounded: a hanging review ends with the time that Close is given, and the
// tasks behind it are counted.
func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.reviewer(Settings{On: true, WallSeconds: 86400}, func(context.Context, skills.Slot, string) (string, error) {
			time.Sleep(time.Hour) // deaf
			return good, nil
		})
		for i := range 4 {
			r.After(task(fmt.Sprint(i), 5))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		began := time.Now()
		if left := r.Close(ctx); left != 3 || time.Since(began) > 22*time.Second {
			t.Errorf("%d left after %v", left, time.Since(began))
		}
		if w.have() != "" {
			t.Error(w.have())
		}
		time.Sleep(2 * time.Hour) // the deaf call ends and adds nothing any more
		if w.have() != "" {
			t.Error(w.have())
		}
	})
}

// TestAfterNeverBlocks: with a model that hangs, more tasks than can wait are left out.
func TestAfterNeverBlocks(t *testing.T) {
	w := newWorld(t)
	release := make(chan struct{})
	r := w.reviewer(Settings{On: true}, func(context.Context, skills.Slot, string) (string, error) {
		<-release
		return "{}", nil
	})
	taken := 0
	for i := range 3 * waiting {
		if r.After(task(fmt.Sprint(i), 5)) {
			taken++
		}
	}
	if taken < waiting || taken > waiting+1 {
		t.Error(taken)
	}
	close(release)
	if left := closeNow(t, r); left != 3*waiting-taken {
		t.Errorf("%d left, %d taken", left, taken)
	}
}

func TestAListenerThatPanics(t *testing.T) {
	w := newWorld(t)
	r := New(Options{Settings: Settings{On: true}, Library: w.lib, Memories: w.mem, Model: w.says(good), Done: func(Outcome) { panic("x") }})
	r.After(task("a", 5))
	closeNow(t, r)
	if !strings.HasSuffix(w.have(), "warm-up:agent") {
		t.Error(w.have())
	}
}

// TestKeysAreMasked: a key of a known form goes to no model and into nothing that is
// kept, though nobody has said that it is one.
func TestKeysAreMasked(t *testing.T) {
	w := newWorld(t)
	key := "ghp_" + strings.Repeat("a1", 18)
	r := w.reviewer(Settings{On: true}, w.says(`{"memories": [{"content": "push with `+key+`", "tags": ["`+key+`"]}], "skills": [{"name": "push", "description": "How to push.", "body": "Push with `+key+`."}]}`))
	seen := task("a", 5)
	seen.Transcript.Result("GITHUB_TOKEN="+key, false)
	r.After(seen)
	r.Close(t.Context())
	if got := w.have(); strings.Contains(got, "a1a1") || !strings.Contains(got, "push with [key]") || !strings.Contains(got, "push:agent") {
		t.Error(got)
	}
	if len(w.prompts) != 1 || strings.Contains(w.prompts[0], "a1a1") {
		t.Errorf("%q", w.prompts)
	}
	if text, err := w.lib.View(t.Context(), "push", "", skills.Caller{}); err != nil || strings.Contains(fmt.Sprint(text), "a1a1") {
		t.Errorf("%v %v", text, err)
	}
}
