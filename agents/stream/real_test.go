package stream_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"si/agents"
	"si/agents/claude"
	"si/agents/codex"
	"si/agents/pi"
	"si/agents/stream"
	"si/internal/modelserver"
	"si/internal/proc"
	"si/internal/realagents"
	"si/internal/sandbox"
	"si/track"
)

// real is one program, as si is wired to it.
type real struct {
	name    string
	make    func(stream.Options) *stream.Backend
	folders agents.Folders
	model   string
}

func reals() []real {
	return []real{
		{"claude", claude.New, claude.Folders(), "claude-sonnet-4-5"},
		{"codex", codex.New, codex.Folders(), "scripted"},
		{"pi", pi.New, pi.Folders(), "scripted/scripted"},
	}
}

// stage is where a real program plays.
type stage struct {
	bin, home, work, tmp, files string
	server                      *modelserver.Server
	run                         *proc.Local
	self                        string

	mu     sync.Mutex
	events []agents.Event
	paid   []agents.Spent
}

func newStage(t *testing.T, script modelserver.Script) *stage {
	t.Helper()
	realagents.Asked(t)
	var err error
	s := &stage{home: t.TempDir(), work: t.TempDir(), tmp: t.TempDir(), files: t.TempDir()}
	if s.self, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	s.run = proc.New(proc.Options{Self: s.self, Mark: "real-" + t.Name()})
	s.bin = realagents.Need(t, s.run)
	if s.server, err = modelserver.Start(script); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := realagents.Home(s.home, s.server.URL()); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"store/options.go": "package store\n\nconst (\n\tbloomBits = 3\n)\n"} {
		path = filepath.Join(s.work, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// options are those of si, with the variables of the scripted server as the user's.
func (s *stage) options(t *testing.T, boxed bool) stream.Options {
	t.Helper()
	vars := map[string]string{"ANTHROPIC_BASE_URL": s.server.URL(), "ANTHROPIC_API_KEY": realagents.Key, "CLAUDE_CODE_MAX_RETRIES": "1"}
	o := stream.Options{
		Run: s.run, Dir: s.files, Root: os.Geteuid() == 0,
		Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
	}
	if boxed {
		box := sandbox.New(t.Context(), sandbox.Options{Run: s.run, Self: s.self, Path: os.Getenv("PATH")})
		if box.Report().Kind == sandbox.None {
			t.Skip("this machine has no sandbox: " + box.Report().Line())
		}
		o.Run = sandbox.Runner{Inner: s.run, Sandbox: box}
	}
	return o
}

func (s *stage) task(r real, boxed bool) agents.Task {
	plan := track.Plan{
		PlanID: "round_1_planner_a", PlannerID: "planner_a", Round: 1, Hypothesis: "More bits help", ApproachFamily: "data", TargetFiles: []string{"store/options.go"},
		Steps: []track.PlanStep{{Step: 1, File: "store/options.go", Change: "Set the constant bloomBits in store/options.go to the value 9."}},
	}
	task := agents.Task{
		Round: 1, Dir: s.work, Model: r.model, Log: filepath.Join(s.files, "agent.log"), Wall: 3 * time.Minute, Idle: time.Minute,
		Facts: agents.Facts{Families: track.Families(), Command: "make bench", Metric: "rows", Direction: track.HigherIsBetter, Plan: &plan},
		Env:   []string{"PATH=" + s.bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + s.home, "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + s.tmp, "SCRIPTED_KEY=" + realagents.Key},
		Watch: func(e agents.Event) { s.mu.Lock(); defer s.mu.Unlock(); s.events = append(s.events, e) },
		Paid:  func(p agents.Spent) { s.paid = append(s.paid, p) },
	}
	if boxed {
		profile := sandbox.Agent(sandbox.User{Home: s.home}, sandbox.AgentPlaces{
			Clone: s.work, Tmp: s.tmp, Own: r.folders.In(s.home).Writable, Visible: []string{filepath.Dir(filepath.Dir(s.bin)), s.home},
		})
		task.Contain = &profile
	}
	return task
}

func (s *stage) told(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, e := range s.events {
		fmt.Fprintf(&out, "%s %s %q failed=%v\n", e.Kind, e.Tool, e.Text, e.Failed)
	}
	for _, r := range s.server.Requests() {
		fmt.Fprintf(&out, "request %d %s %s form=%q tools=", r.N, r.Format, r.Model, r.Form)
		for _, tool := range r.Tools {
			out.WriteString(tool.Name + " ")
		}
		fmt.Fprintf(&out, "results=%v\n", r.Results())
	}
	for _, name := range []string{"agent.log", "agent.stderr.log"} {
		if data, err := os.ReadFile(filepath.Join(s.files, name)); err == nil {
			fmt.Fprintf(&out, "%s: %.1500s\n", name, data)
		}
	}
	return out.String()
}

func team(t *testing.T, b agents.Backend) *agents.Team {
	t.Helper()
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

func eachWay(t *testing.T, test func(t *testing.T, r real, boxed bool)) {
	t.Helper()
	for _, r := range reals() {
		for name, boxed := range map[string]bool{"open": false, "boxed": true} {
			t.Run(r.name+" "+name, func(t *testing.T) { test(t, r, boxed) })
		}
	}
}

func TestRealAgentsExecute(t *testing.T) {
	eachWay(t, func(t *testing.T, r real, boxed bool) {
		t.Helper()
		s := newStage(t, modelserver.DemoPlayer().Play)
		task := s.task(r, boxed)
		task.ID = "executor_a"
		err := team(t, r.make(s.options(t, boxed))).Execute(t.Context(), task)
		got, readErr := os.ReadFile(filepath.Join(s.work, "store", "options.go"))
		if err != nil || readErr != nil || !strings.Contains(string(got), "bloomBits = 9") {
			t.Fatalf("error %v; the file: %q, %v\n%s", err, got, readErr, s.told(t))
		}
		if len(s.paid) != 1 || s.paid[0].Usage == nil || s.paid[0].Usage.Output == 0 || s.paid[0].Session == "" || s.paid[0].Tools == 0 {
			t.Errorf("paid %+v\n%s", s.paid, s.told(t))
		}
		t.Logf("paid %+v of %+v", s.paid, s.paid[0].Usage)
	})
}

func TestRealAgentsPlan(t *testing.T) {
	eachWay(t, func(t *testing.T, r real, boxed bool) {
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
		s := newStage(t, player.Play)
		task := s.task(r, boxed)
		if boxed {
			task.Contain.Writable = slices.DeleteFunc(task.Contain.Writable, func(p string) bool { return p == s.work })
			task.Contain.ReadOnly = append(task.Contain.ReadOnly, s.work)
		}
		task.ID, task.Facts.Plan = "planner_a", nil
		p, err := team(t, r.make(s.options(t, boxed))).Plan(t.Context(), task)
		if err != nil || !strings.Contains(p.Hypothesis, "bloomBits") {
			t.Fatalf("plan %+v, error %v\n%s", p, err, s.told(t))
		}
		got, _ := os.ReadFile(filepath.Join(s.work, "store", "options.go"))
		if _, err := os.Stat(filepath.Join(s.work, "new.txt")); err == nil || strings.Contains(string(got), "stolen") {
			t.Errorf("a planner wrote to its workspace (shell asked: %v)", asked)
		}
		if len(s.paid) != 1 {
			t.Errorf("%d starts for one plan\n%s", len(s.paid), s.told(t))
		}
		t.Logf("shell asked: %v; %d requests", asked, len(s.server.Requests()))
	})
}

func TestRealAgentsNameTheirFailures(t *testing.T) {
	for _, r := range reals() {
		for name, tc := range map[string]struct {
			fault modelserver.Fault
			kind  agents.FailureKind
		}{
			"key":  {modelserver.Unauthorized(), agents.FailAuth},
			"plan": {modelserver.PlanLimit("You have hit your usage limit, try again in 2 hours."), agents.FailUsage},
		} {
			t.Run(r.name+" "+name, func(t *testing.T) {
				s := newStage(t, func(modelserver.Request) modelserver.Reply { return modelserver.Reply{Fault: tc.fault} })
				task := s.task(r, false)
				task.ID = "executor_a"
				err := team(t, r.make(s.options(t, false))).Execute(t.Context(), task)
				if agents.KindOf(err) != tc.kind {
					t.Errorf("error %s: %v\n%s", agents.KindOf(err), err, s.told(t))
				}
				t.Logf("%v", err)
			})
		}
	}
}
