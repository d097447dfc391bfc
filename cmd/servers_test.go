package cmd_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"si/internal/modelserver"
	"si/learn/skills"
	"si/track"
)

const scriptedKey = "sk-scripted-never-in-a-file"

// served is a small repository, a model server that plays si's roles, and an
// environment with its key.
type served struct {
	t      *testing.T
	dir    string
	server *modelserver.Server
}

func serve(t *testing.T, p modelserver.Player) served {
	t.Helper()
	return serveScript(t, p.Play)
}

func serveScript(t *testing.T, script modelserver.Script) served {
	t.Helper()
	server, err := modelserver.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	s := served{t, t.TempDir(), server}
	writeFile(t, filepath.Join(s.repo(), "params.txt"), "width = 10\ndepth = 3\n")
	writeFile(t, filepath.Join(s.repo(), "bench.sh"), "awk '{ sum += $3 } END { printf \"{\\\"primary\\\": %d}\\n\", sum }' params.txt\n")
	gitIn(t, s.repo(), "init", "-q", "-b", "main")
	gitIn(t, s.repo(), "add", "-A")
	gitIn(t, s.repo(), "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
	return s
}

func (s served) repo() string { return filepath.Join(s.dir, "repo") }

func (s served) si(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), program(s.t, "si"), args...)
	cmd.Dir = s.repo()
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(s.dir, "home"), "XDG_STATE_HOME=" + filepath.Join(s.dir, "state"), "GIT_CONFIG_NOSYSTEM=1",
		"OPENAI_BASE_URL=" + s.server.URL() + "/v1", "OPENAI_API_KEY=" + scriptedKey,
		"ANTHROPIC_BASE_URL=" + s.server.URL(), "ANTHROPIC_API_KEY=" + scriptedKey,
		"OLLAMA_HOST=" + strings.TrimPrefix(s.server.URL(), "http://"),
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("si %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s served) init(more ...string) {
	s.t.Helper()
	s.si(append([]string{"init", "--trust", "--seed", "1", "--objective", "Raise the sum", "--scope", "params.txt", "--benchmark", "sh bench.sh", "--sealed", "bench.sh", "--max-iterations", "1", "--agents", "2"}, more...)...)
}

func (s served) settings(change func(o *track.Options)) {
	s.t.Helper()
	path := filepath.Join(s.repo(), ".omc/self-improve/topics/default/config/settings.json")
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	var o track.Options
	if err := json.Unmarshal(data, &doc); err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(doc["si"], &o); err != nil {
		s.t.Fatal(err)
	}
	change(&o)
	if doc["si"], err = json.Marshal(o); err != nil {
		s.t.Fatal(err)
	}
	if data, err = json.Marshal(doc); err != nil {
		s.t.Fatal(err)
	}
	writeFile(s.t, path, string(data))
}

func raise() modelserver.Player {
	return modelserver.Player{
		Changes: []modelserver.Change{{File: "params.txt", Name: "width", Value: "40"}, {File: "params.txt", Name: "depth", Value: "2"}},
		Usage:   modelserver.Usage{Input: 1000, CacheRead: 200, Output: 50}, Edit: true,
	}
}

// TestAModelServerPlaysARound lets a model server play every role: what it finds is
// kept, what it costs is told by role, and its key is nowhere on the disk.
func TestAModelServerPlaysARound(t *testing.T) {
	for _, agent := range []string{"openai:scripted", "anthropic:scripted"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			s := serve(t, raise())
			writeFile(t, filepath.Join(s.dir, "home/.config/si/prices.json"), `{"date": "2026-11-30", "prices": [{"model": "scripted", "input": 10, "output": 100}]}`)
			s.init("--agent", agent)
			out := s.si("run", "--no-tui")
			if got := gitIn(t, s.repo(), "show", "improve/raise_the_sum:params.txt"); !strings.Contains(got, "width = 40") {
				t.Errorf("the gain was not kept:\n%s\n%s", got, out)
			}
			for _, want := range []string{"executor +" + agent, `tokens, \$0\.`, "planner_a is done"} {
				if !regexp.MustCompile(want).MatchString(out) {
					t.Errorf("the summary lacks %q:\n%s", want, out)
				}
			}
			var status struct{ Roles []track.RoleCost }
			if err := json.Unmarshal([]byte(s.si("status", "--json")), &status); err != nil {
				t.Fatal(err)
			}
			for _, c := range status.Roles {
				if c.Spent.Usage == nil || c.Spent.Usage.CacheRead == 0 || c.Spent.CostUSD == nil || c.Unknown > 0 {
					t.Errorf("%s cost %+v", c.Role, c)
				}
			}
			if len(status.Roles) != 6 { // those of a round, and the one that looks back
				t.Errorf("%d roles were paid", len(status.Roles))
			}
			refuseKey(t, s.dir)
		})
	}
}

// refuseKey looks for the key in every file below dir.
func refuseKey(t *testing.T, dir string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		seen++
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), scriptedKey) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil || seen < 20 {
		t.Errorf("%d files looked at, %v", seen, err)
	}
}

// TestABudgetEndsTheRunWithWhatItHas: when there is no money left for a task, the
// round goes on with what was made, and then the run ends and says why.
func TestABudgetEndsTheRunWithWhatItHas(t *testing.T) {
	s := serve(t, raise())
	s.init("--agent", "ollama:scripted", "--max-iterations", "5")
	s.settings(func(o *track.Options) { o.Budget.Tokens = 14_000 })
	out := s.si("run", "--no-tui")
	for _, want := range []string{"Status: budget", "Reason: the budget of 14000 tokens of the run is spent"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	var status struct{ Roles []track.RoleCost }
	if err := json.Unmarshal([]byte(s.si("status", "--json")), &status); err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, c := range status.Roles {
		sum += c.Spent.Usage.Total()
	}
	if step := int64(1250); sum < 7_000 || sum > 14_000+2*step { // two work side by side, and a step under way is paid for
		t.Errorf("%d tokens were spent within 14000", sum)
	}
}

// TestAStandInPlaysAtAUsageLimit: an agent at its usage limit costs the round
// nothing where another can play.
func TestAStandInPlaysAtAUsageLimit(t *testing.T) {
	p := raise()
	p.Before = func(_, _ string, r modelserver.Request) (modelserver.Reply, bool) {
		if r.Model != "dear" {
			return modelserver.Reply{}, false
		}
		return modelserver.Reply{Fault: modelserver.PlanLimit("You have reached your usage limit. Try again in 4 hours.")}, true
	}
	s := serve(t, p)
	s.init("--agent", "openai:dear")
	s.settings(func(o *track.Options) { o.Agents.Fallbacks = map[string][]string{"default": {"anthropic:cheap"}} })
	out := s.si("run", "--no-tui")
	if got := gitIn(t, s.repo(), "show", "improve/raise_the_sum:params.txt"); !strings.Contains(got, "width = 40") {
		t.Errorf("the gain was not kept:\n%s", out)
	}
	dear := 0
	for _, r := range s.server.Requests() {
		if r.Model == "dear" {
			dear++
		}
	}
	if dear != 1 || strings.Contains(out, "failed") {
		t.Errorf("the one at its limit was asked %d times:\n%s", dear, out)
	}
}

// TestASkillIsWrittenAndUsed: the reviewer of the first run leaves a skill, an agent of
// the second one is shown it, reads it, and that is counted.
func TestASkillIsWrittenAndUsed(t *testing.T) {
	path := regexp.MustCompile(`/\S+/widen-the-store/SKILL\.md`)
	p := raise()
	for _, value := range []string{"50", "60", "70"} { // the second round begins at the fourth
		p.Changes = append(p.Changes, modelserver.Change{File: "params.txt", Name: "width", Value: value})
	}
	p.Before = func(role, _ string, r modelserver.Request) (modelserver.Reply, bool) {
		prompt := r.Text("user")
		at := path.FindString(prompt)
		if role != "executor" || at == "" || len(r.Results()) > 0 {
			return modelserver.Reply{}, false
		}
		call, can := modelserver.ShellCall(r, "cat "+at)
		return modelserver.Reply{Text: "I read how it is done.", Calls: []modelserver.Call{call}}, can
	}
	play := p.Play
	s := serveScript(t, func(r modelserver.Request) modelserver.Reply {
		if strings.Contains(r.Text("user"), "You look back at a task") {
			return modelserver.Reply{Text: `{"memories": [{"content": "width dominates the sum", "type": "fact", "tags": ["sum"]}],
				"skills": [{"name": "widen-the-store", "description": "How to set the width in params.txt; use it to raise the sum.", "category": "tuning", "body": "Set width, then run bench.sh."}]}`, Usage: p.Usage}
		}
		return play(r)
	})
	s.init("--agent", "openai:scripted")
	s.settings(func(o *track.Options) { o.Skills.Review = track.ReviewOptions{On: true, MinToolCalls: 1} })
	first := s.si("run", "--no-tui")
	var listed skills.Listing
	list := s.si("skills", "list", "--json")
	if err := json.Unmarshal([]byte(list), &listed); err != nil || len(listed.Skills) != 1 || listed.Skills[0].UseCount != 0 || listed.Skills[0].CreatedBy != "agent" {
		t.Fatalf("%v: %s\n%s", err, list, first)
	}
	s.init("--max-iterations", "2")
	second := s.si("run", "--no-tui")
	list = s.si("skills", "list", "--json")
	if err := json.Unmarshal([]byte(list), &listed); err != nil || len(listed.Skills) != 1 || listed.Skills[0].UseCount == 0 {
		t.Errorf("%v: the use was not counted: %s\n%s", err, list, second)
	}
	if said := s.si("memory", "list"); !strings.Contains(said, "width dominates the sum") {
		t.Errorf("the memory is gone: %s", said)
	}
	told := false
	for _, r := range s.server.Requests() {
		told = told || strings.Contains(r.Text("user"), "# What is remembered") && strings.Contains(r.Text("user"), "width dominates the sum")
	}
	if !told {
		t.Error("no prompt of the second run holds what is remembered")
	}
	refuseKey(t, s.dir)
	growOld(t, s.repo())
}

// growOld lets the one skill of a repository go without a use for as long as it takes to
// be put away, and takes the pass back.
func growOld(t *testing.T, repo string) {
	t.Helper()
	now := time.Now()
	library, err := skills.Open(skills.Standard(skills.Where{
		Base: filepath.Join(repo, ".omc"), Top: repo, Learned: filepath.Join(repo, ".si", "skills"), Now: func() time.Time { return now },
	}))
	if err != nil {
		t.Fatal(err)
	}
	const name = "widen-the-store"
	before, err := library.Find(name)
	if err != nil || before.State != skills.Active || len(before.UsedIn) == 0 {
		t.Fatalf("%+v %v", before, err)
	}
	curator := skills.NewCurator(library, skills.Aging{})
	for _, step := range []struct {
		days     int
		from, to skills.State
	}{{29, "", ""}, {8, skills.Active, skills.Stale}, {52, "", ""}, {8, skills.Stale, skills.Archived}} {
		now = now.AddDate(0, 0, step.days)
		result, _, err := curator.RunIfDue(t.Context())
		if err != nil || (step.to == "") != (len(result.Moves) == 0) {
			t.Fatalf("%+v: %+v %v", step, result, err)
		}
		if step.to != "" && (result.Backup == "" || result.Moves[0].From != step.from || result.Moves[0].To != step.to) {
			t.Errorf("%+v: %+v", step, result)
		}
	}
	if _, err := library.Find(name); err == nil {
		t.Error("the archived skill is offered still")
	}
	if _, _, err := curator.Rollback(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	after, err := library.Find(name)
	if err != nil || after.State != skills.Stale || after.UseCount != before.UseCount {
		t.Errorf("rolled back: %+v %v", after, err)
	}
	if err := library.NoteUses(t.Context(), []string{name}, skills.Caller{Task: "later"}); err != nil {
		t.Fatal(err)
	}
	if after, err = library.Find(name); err != nil || after.State != skills.Active {
		t.Errorf("used again: %+v %v", after, err)
	}
}
