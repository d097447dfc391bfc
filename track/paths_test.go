package track

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"si/internal/durable"
)

func env(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestResolveRoot(t *testing.T) {
	flat := func(t *testing.T, dir string) {
		t.Helper()
		write(t, filepath.Join(dir, "ws/repo/.omc/self-improve/config/settings.json"), "{}")
	}
	flatState := func(t *testing.T, dir string) {
		t.Helper()
		write(t, filepath.Join(dir, "ws/repo/.omc/self-improve/state/agent-settings.json"), "{}")
	}
	marker := func(t *testing.T, dir string) {
		t.Helper()
		write(t, filepath.Join(dir, "ws/.omc-workspace"), "")
	}
	cases := []struct {
		name    string
		prepare func(*testing.T, string)
		in      ResolveInput
		env     func(string) string
		root    string // below the temporary folder
		mode    ScopeMode
		slug    string
	}{
		{"default", nil, ResolveInput{}, nil, "ws/repo/.omc/self-improve/topics/default", ScopeDefault, "default"},
		{"topic", nil, ResolveInput{Topic: "Faster  Parser_v2"}, nil, "ws/repo/.omc/self-improve/topics/faster-parser-v2", ScopeTopic, "faster-parser-v2"},
		{"slug", nil, ResolveInput{Slug: "parser"}, nil, "ws/repo/.omc/self-improve/topics/parser", ScopeTopic, "parser"},
		{"slug before topic", nil, ResolveInput{Slug: "a", Topic: "b"}, nil, "ws/repo/.omc/self-improve/topics/a", ScopeTopic, "a"},
		{"flat by settings", flat, ResolveInput{}, nil, "ws/repo/.omc/self-improve", ScopeLegacy, "default"},
		{"flat by state", flatState, ResolveInput{}, nil, "ws/repo/.omc/self-improve", ScopeLegacy, "default"},
		{"flat takes no session", flat, ResolveInput{SessionID: "s1"}, nil, "ws/repo/.omc/self-improve", ScopeLegacy, "default"},
		{"a topic beside the flat layout", flat, ResolveInput{Topic: "x"}, nil, "ws/repo/.omc/self-improve/topics/x", ScopeTopic, "x"},
		{"session", nil, ResolveInput{Topic: "x", SessionID: "s-1.a"}, nil, "ws/repo/.omc/self-improve/topics/x/sessions/s-1.a", ScopeSession, "x"},
		{"session of the environment", nil, ResolveInput{}, env("OMC_SESSION_ID", "e1"), "ws/repo/.omc/self-improve/topics/default/sessions/e1", ScopeSession, "default"},
		{"session given wins", nil, ResolveInput{SessionID: "s1"}, env("OMC_SESSION_ID", "e1"), "ws/repo/.omc/self-improve/topics/default/sessions/s1", ScopeSession, "default"},
		{"workspace marker before git", marker, ResolveInput{}, nil, "ws/.omc/self-improve/topics/default", ScopeDefault, "default"},
		{"state dir before marker", marker, ResolveInput{}, env("OMC_STATE_DIR", "../../elsewhere"), "ws/elsewhere/self-improve/topics/default", ScopeDefault, "default"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			work := filepath.Join(dir, "ws/repo/sub")
			if err := os.MkdirAll(work, 0o755); err != nil {
				t.Fatal(err)
			}
			if c.prepare != nil {
				c.prepare(t, dir)
			}
			c.in.ProjectRoot, c.in.WorkDir, c.in.Env = filepath.Join(dir, "ws/repo"), work, c.env
			p, err := Resolve(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(dir, c.root); p.Root != want {
				t.Errorf("root %s, want %s", p.Root, want)
			}
			if p.ScopeMode != c.mode || p.TopicSlug != c.slug {
				t.Errorf("got %s %s, want %s %s", p.ScopeMode, p.TopicSlug, c.mode, c.slug)
			}
			if (p.SessionID != nil) != (c.mode == ScopeSession) {
				t.Errorf("session id %v in mode %s", p.SessionID, c.mode)
			}
		})
	}
}

func TestResolveOutsideRepository(t *testing.T) {
	dir := t.TempDir()
	p, err := Resolve(ResolveInput{WorkDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if p.ProjectRoot != dir || p.StateBase() != filepath.Join(dir, ".omc") {
		t.Errorf("got project root %s and base %s", p.ProjectRoot, p.StateBase())
	}
}

func TestResolveRefuses(t *testing.T) {
	long := strings.Repeat("a", 300)
	cases := []struct {
		name string
		in   ResolveInput
		want string
	}{
		{"slug that leads out", ResolveInput{Slug: "../../etc"}, `'/' cannot stand in it`},
		{"slug of dots", ResolveInput{Slug: ".."}, "nothing of it"},
		{"slug with a backslash", ResolveInput{Slug: `a\b`}, "cannot stand in it"},
		{"slug with an escape code", ResolveInput{Slug: "a\x1b[31m"}, "cannot stand in it"},
		{"slug with a zero byte", ResolveInput{Slug: "a\x00"}, "cannot stand in it"},
		{"long slug", ResolveInput{Slug: long}, "at most 200"},
		{"long topic", ResolveInput{Topic: long}, "--slug"},
		{"cjk topic", ResolveInput{Topic: "解析器性能"}, "--slug"},
		{"emoji topic", ResolveInput{Topic: "🚀"}, "--slug"},
		{"session that leads out", ResolveInput{SessionID: "../x"}, "session id"},
		{"session of dots", ResolveInput{SessionID: "a..b"}, "session id"},
		{"session with a newline", ResolveInput{SessionID: "a\nb"}, "session id"},
		{"long session", ResolveInput{SessionID: long}, "session id"},
		{"hidden session", ResolveInput{SessionID: ".x"}, "session id"},
		{"relative folder", ResolveInput{WorkDir: "x"}, "absolute"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.in.WorkDir == "" {
				c.in.WorkDir = t.TempDir()
			}
			_, err := Resolve(c.in)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestTopicSlug(t *testing.T) {
	for topic, want := range map[string]string{
		"Été à Paris":        "ete-a-paris",
		"--a__b  c--":        "a-b-c",
		"C++ / Rust: speed!": "c-rust-speed",
		"!!!":                "default",
		"ﬁne ²":              "fine-2",
		"性能 v2":              "v2",
		"../../etc/passwd":   "etc-passwd",
	} {
		if got, err := topicSlug(topic); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", topic, got, err, want)
		}
	}
}

func TestGoalSlug(t *testing.T) {
	for objective, want := range map[string]string{
		"Make the Parser faster!":   "make_the_parser_faster",
		"":                          "goal",
		"性能":                        "goal",
		strings.Repeat("word ", 30): strings.TrimSuffix(strings.Repeat("word_", 12), "_"),
		strings.Repeat("x", 100):    strings.Repeat("x", 60),
	} {
		got := GoalSlug(objective)
		if got != want || len(got) > 60 {
			t.Errorf("%.30q: got %q, want %q", objective, got, want)
		}
	}
}

func TestPathsJSONKeys(t *testing.T) {
	p, err := Resolve(ResolveInput{WorkDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	o, err := parseObject(data)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, m := range o {
		keys = append(keys, m.key)
	}
	want := strings.Fields(`project_root base_root topic_slug scope_mode session_id root config_dir state_dir plans_dir
		tracking_dir settings_path goal_path harness_path idea_path agent_settings_path iteration_state_path
		research_briefs_dir iteration_history_dir merge_reports_dir plan_archive_dir raw_data_path baseline_path
		events_path progress_path`)
	if !reflect.DeepEqual(keys, want) {
		t.Errorf("keys %v, want %v", keys, want)
	}
	if v, _ := o.get("session_id"); string(v) != "null" {
		t.Errorf("session_id is %s without a session, want null", v)
	}
}

func TestRoundPaths(t *testing.T) {
	dir := t.TempDir()
	p, err := Resolve(ResolveInput{WorkDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		p.BriefPath(3):                     "state/research_briefs/round_3.json",
		p.PlanPath(3, "planner_a"):         "plans/round_3/plan_planner_a.json",
		p.PlanPath(3, "a"):                 "plans/round_3/plan_planner_a.json",
		p.ArchivedPlanPath(3, "planner_a"): "state/plan_archive/round_3/plan_planner_a.json",
		p.ResultPath(3, "executor_b"):      "state/results/round_3/executor_b.json",
		p.HistoryPath(3):                   "state/iteration_history/round_3.json",
		p.MergeReportPath(3):               "state/merge_reports/round_3.json",
		p.LogPath(3, "planner_a"):          "logs/round_3/planner_a.log",
		p.ControlDir():                     "state/control",
		p.JournalPath():                    "state/journal.jsonl",
		p.LockPath():                       "state/lock",
		p.ProgressSVGPath():                "tracking/progress.svg",
	} {
		if got != filepath.Join(p.Root, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, id := range []string{"../../../x", "a/b", "..", "\x00", strings.Repeat("é", 500)} {
		for _, path := range []string{p.PlanPath(1, id), p.ResultPath(1, id), p.LogPath(1, id)} {
			rel, err := filepath.Rel(filepath.Join(p.Root), path)
			if err != nil || strings.HasPrefix(rel, "..") || strings.Count(rel, "/") > 3 || strings.ContainsRune(rel, 0) {
				t.Errorf("id %q leads to %s", id, path)
			}
		}
	}
}

func TestEnsureLayout(t *testing.T) {
	dir := t.TempDir()
	p, err := Resolve(ResolveInput{WorkDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.EnsureLayout(&durable.Store{}); err != nil {
			t.Fatal(err)
		}
		for _, d := range p.dirs() {
			if info, err := os.Stat(d); err != nil || !info.IsDir() {
				t.Errorf("%s is no folder: %v", d, err)
			}
		}
		data, err := LoadIdeas(p)
		if err != nil || len(data) == 0 || Ideas(data) != "" {
			t.Errorf("new idea.md holds the ideas %q of %d bytes, %v", Ideas(data), len(data), err)
		}
	}
}

func TestEnsureLayoutRefusesLinks(t *testing.T) {
	for _, at := range []string{".omc", ".omc/self-improve", ".omc/self-improve/topics/default/state"} {
		t.Run(at, func(t *testing.T) {
			dir, victim := t.TempDir(), t.TempDir()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, at)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(victim, filepath.Join(dir, at)); err != nil {
				t.Fatal(err)
			}
			p, err := Resolve(ResolveInput{WorkDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.EnsureLayout(&durable.Store{}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("got %v, want a refusal of the link", err)
			}
			if entries, _ := os.ReadDir(victim); len(entries) > 0 {
				t.Errorf("%v were written behind the link", entries)
			}
		})
	}
}
