package acp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"si/agents"
	"si/internal/modelserver"
	"si/internal/proc"
	"si/internal/realagents"
	"si/internal/sandbox"
	"si/track"
)

// realStage is a place where the real gemini plays against a scripted model server, with
// a home that is thrown away.
type realStage struct {
	*stage
	run    proc.Runner
	work   string
	server *modelserver.Server
}

func newRealStage(t *testing.T, role agents.Role, boxed bool, script modelserver.Script) *realStage {
	t.Helper()
	realagents.Asked(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	local := proc.New(proc.Options{Self: self, Mark: "real-" + t.Name()})
	bin := realagents.Need(t, local)
	r := &realStage{stage: newStage(t), run: local}
	r.work, r.task.Role, r.task.Prompt = r.task.Dir, role, ""
	if r.server, err = modelserver.Start(script); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.server.Close(); err != nil {
			t.Error(err)
		}
	})
	home, tmp := t.TempDir(), t.TempDir()
	if err := realagents.Home(home, r.server.URL()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(r.work, "store"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.work, "store", "options.go"), []byte("package store\n\nconst (\n\tbloomBits = 3\n)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"GEMINI_API_KEY": realagents.Key, "GOOGLE_GEMINI_BASE_URL": r.server.URL()}
	r.o = Options{Lookup: func(name string) (string, bool) { v, found := vars[name]; return v, found }}
	r.o.Profile, _ = Find("gemini")
	plan := track.Plan{
		PlanID: "round_1_planner_a", PlannerID: "planner_a", Round: 1, Hypothesis: "More bits help", ApproachFamily: "data", TargetFiles: []string{"store/options.go"},
		Steps: []track.PlanStep{{Step: 1, File: "store/options.go", Change: "Set the constant bloomBits in store/options.go to the value 9."}},
	}
	r.task.Env = []string{"PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + tmp}
	r.task.Model, r.task.Wall, r.task.Idle = "gemini-2.5-pro", 3*time.Minute, time.Minute
	r.task.Facts = agents.Facts{Families: track.Families(), Command: "make bench", Metric: "rows", Direction: track.HigherIsBetter, Plan: &plan}
	if boxed {
		r.box(t, self, home, tmp, bin, local)
	}
	return r
}

func (r *realStage) box(t *testing.T, self, home, tmp, bin string, local proc.Runner) {
	t.Helper()
	box := sandbox.New(t.Context(), sandbox.Options{Run: local, Self: self, Path: os.Getenv("PATH")})
	if box.Report().Kind == sandbox.None {
		t.Skip("this machine has no sandbox: " + box.Report().Line())
	}
	r.run = sandbox.Runner{Inner: local, Sandbox: box}
	profile := sandbox.Agent(sandbox.User{Home: home}, sandbox.AgentPlaces{
		Clone: r.work, Tmp: tmp, Own: r.o.Profile.Folders().In(home).Writable, Visible: []string{filepath.Dir(filepath.Dir(bin)), home},
	})
	if !r.task.Role.Edits() {
		profile.Writable = slices.DeleteFunc(profile.Writable, func(p string) bool { return p == r.work })
		profile.ReadOnly = append(profile.ReadOnly, r.work)
	}
	r.task.Contain = &profile
}

func (r *realStage) team(t *testing.T) *agents.Team {
	t.Helper()
	b := New(r.run, r.o)
	byRole := map[agents.Role]agents.Backend{}
	for _, role := range agents.Roles() {
		byRole[role] = b
	}
	out, err := agents.NewTeam(byRole)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (r *realStage) told(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, e := range r.events {
		fmt.Fprintln(&out, show(e))
	}
	for _, q := range r.server.Requests() {
		fmt.Fprintf(&out, "request %d %s %s results=%v\n", q.N, q.Format, q.Model, q.Results())
	}
	return out.String() + r.logged(t)
}

func bothWays(t *testing.T, test func(t *testing.T, boxed bool)) {
	t.Helper()
	for name, boxed := range map[string]bool{"open": false, "boxed": true} {
		t.Run(name, func(t *testing.T) { test(t, boxed) })
	}
}

func TestRealGeminiExecutes(t *testing.T) {
	bothWays(t, func(t *testing.T, boxed bool) {
		t.Helper()
		r := newRealStage(t, agents.Executor, boxed, modelserver.DemoPlayer().Play)
		var paid []agents.Spent
		r.task.Paid = func(s agents.Spent) { paid = append(paid, s) }
		began := time.Now()
		err := r.team(t).Execute(t.Context(), r.task)
		got, readErr := os.ReadFile(filepath.Join(r.work, "store", "options.go"))
		if err != nil || readErr != nil || !strings.Contains(string(got), "bloomBits = 9") {
			t.Fatalf("error %v; the file: %q, %v\n%s", err, got, readErr, r.told(t))
		}
		if len(paid) != 1 || paid[0].Usage == nil || paid[0].Usage.Output == 0 || paid[0].Session == "" || paid[0].Tools == 0 || paid[0].Model != "gemini-2.5-pro" {
			t.Errorf("paid %+v\n%s", paid, r.told(t))
		}
		t.Logf("%.1f s, paid %+v\n%s", time.Since(began).Seconds(), paid, r.told(t))
	})
}

func TestRealGeminiPlansAndChangesNothing(t *testing.T) {
	bothWays(t, func(t *testing.T, boxed bool) {
		t.Helper()
		player := modelserver.DemoPlayer()
		asked := false
		player.Before = func(_, _ string, q modelserver.Request) (modelserver.Reply, bool) {
			call, can := modelserver.ShellCall(q, "echo stolen > store/options.go; echo x > new.txt")
			if !can || asked {
				return modelserver.Reply{}, false
			}
			asked = true
			return modelserver.Reply{Calls: []modelserver.Call{call}}, true
		}
		r := newRealStage(t, agents.Planner, boxed, player.Play)
		r.task.ID, r.task.Facts.Plan = "planner_a", nil
		r.task.Facts.Planners = []string{"planner_a"}
		plan, err := r.team(t).Plan(t.Context(), r.task)
		got, readErr := os.ReadFile(filepath.Join(r.work, "store", "options.go"))
		if err != nil || readErr != nil || !strings.Contains(string(got), "bloomBits = 3") || plan.Hypothesis == "" {
			t.Fatalf("error %v, plan %+v; the file: %q, %v\n%s", err, plan, got, readErr, r.told(t))
		}
		if _, err := os.Stat(filepath.Join(r.work, "new.txt")); err == nil {
			t.Errorf("it wrote a file\n%s", r.told(t))
		}
		t.Logf("asked for a shell: %v\n%s", asked, r.told(t))
	})
}

const realSleeper = "sleep 765432"

func TestRealGeminiThatIsStoppedInAToolCallLeavesNothing(t *testing.T) {
	player := modelserver.DemoPlayer()
	player.Before = func(_, _ string, q modelserver.Request) (modelserver.Reply, bool) {
		call, can := modelserver.ShellCall(q, realSleeper)
		if !can || len(q.Results()) > 0 {
			return modelserver.Reply{Text: "no shell"}, true
		}
		return modelserver.Reply{Calls: []modelserver.Call{call}}, true
	}
	r := newRealStage(t, agents.Executor, false, player.Play)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stopped time.Time
	r.on = func(e agents.Event) {
		if e.Kind == agents.EventPermission && strings.Contains(e.Text, realSleeper) {
			stopped = time.Now()
			cancel()
		}
	}
	err := r.team(t).Execute(ctx, r.task)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v\n%s", err, r.told(t))
	}
	files, globErr := filepath.Glob("/proc/[0-9]*/cmdline")
	if globErr != nil {
		t.Fatal(globErr)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(strings.ReplaceAll(string(text), "\x00", " "), realSleeper) {
			t.Errorf("left behind: %s %q", f, text)
		}
	}
	t.Logf("gone %.1f s after it was told to stop", time.Since(stopped).Seconds())
}

func TestRealGeminiSaysThatItsKeyIsWrong(t *testing.T) {
	r := newRealStage(t, agents.Executor, false, func(modelserver.Request) modelserver.Reply {
		return modelserver.Reply{Fault: modelserver.Unauthorized()}
	})
	err := r.team(t).Execute(t.Context(), r.task)
	if agents.KindOf(err) != agents.FailAuth {
		t.Errorf("error %s: %v\n%s", agents.KindOf(err), err, r.told(t))
	}
	t.Logf("%v", err)
}
