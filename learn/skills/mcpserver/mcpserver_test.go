package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"si/internal/durable"
	"si/learn/place"
	"si/learn/skills"
	"si/track"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type world struct {
	t   *testing.T
	dir string
	Source
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	for name, text := range files {
		full := filepath.Join(w.dir, name)
		w.must(os.MkdirAll(filepath.Dir(full), 0o755))
		w.must(os.WriteFile(full, []byte(text), 0o644))
	}
	top := filepath.Join(w.dir, "repo")
	w.must(os.MkdirAll(top, 0o755))
	p, err := place.Open(&durable.Store{}, top)
	w.must(err)
	paths, err := track.Resolve(track.ResolveInput{ProjectRoot: top, WorkDir: top})
	w.must(err)
	lib, err := skills.Open(skills.Standard(skills.Where{
		Base: paths.StateBase(), Top: top, Learned: p.Skills(), Home: filepath.Join(w.dir, "home"),
		Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) },
	}))
	w.must(err)
	w.Source = Source{Library: lib, Place: &p, Track: &paths, Version: "test", Caller: skills.Caller{Task: "run/1/executor_a"}}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// connect is a client of the server, over pipes.
func (w *world) connect() *mcp.ClientSession {
	w.t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := Serve(context.Background(), w.Source, inR, outW)
		_ = outW.Close()
		served <- err
	}()
	s := w.client(&mcp.IOTransport{Reader: outR, Writer: inW})
	w.t.Cleanup(func() {
		_ = s.Close()
		_ = inW.Close()
		if err := <-served; err != nil {
			w.t.Errorf("serve: %v", err)
		}
	})
	return s
}

func (w *world) client(transport mcp.Transport) *mcp.ClientSession {
	w.t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(w.t.Context(), transport, nil)
	w.must(err)
	return s
}

// call is the text of an answer, with "error: " before that of a failed one.
func call(t *testing.T, s *mcp.ClientSession, tool string, args any) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "protocol: " + err.Error()
	}
	var parts []string
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, c.Text)
		}
	}
	out := strings.Join(parts, "\n")
	if r.IsError {
		return "error: " + out
	}
	return out
}

type args map[string]any

func skillFile(name, about string) string {
	return "---\nname: " + name + "\ndescription: " + about + "\n---\nBody of " + name + ".\n"
}

func TestTools(t *testing.T) {
	s := newWorld(t, nil).connect()
	got, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range got.Tools {
		names = append(names, fmt.Sprintf("%s:%v", tool.Name, tool.Annotations != nil && tool.Annotations.ReadOnlyHint))
		if len(tool.Description) < 20 || tool.InputSchema == nil {
			t.Errorf("%s: %q", tool.Name, tool.Description)
		}
	}
	if got := strings.Join(names, " "); got != "knowledge_brief:true skill_manage:false skill_view:true skills_list:true track_status:true" {
		t.Error(got)
	}
	bare := (&world{t: t, Source: Source{Version: "test"}}).connect()
	if got, err := bare.ListTools(t.Context(), nil); err == nil && len(got.Tools) > 0 {
		t.Errorf("without a source: %v", got.Tools)
	}
}

// TestSkills is what an agent does: list, read, create, read again, patch, put away.
func TestSkills(t *testing.T) {
	w := newWorld(t, map[string]string{
		"home/.agents/skills/tables/SKILL.md":           skillFile("tables", "Writes tables"),
		"home/.agents/skills/tables/references/wide.md": "wide ones",
		"repo/.agents/skills/tables/SKILL.md":           skillFile("tables", "shadowed"),
		"repo/.si/skills/learned/SKILL.md":              skillFile("learned", "Learned here"),
	})
	s := w.connect()
	for _, step := range []struct {
		tool string
		args args
		want string
	}{
		{"skills_list", nil, "- learned: Learned here (learned)\n- tables: Writes tables (external)\n"},
		{"skill_view", args{"name": "tables"}, "Body of tables.\n\nOther files of this skill, to be read with skill_view and path: references/wide.md"},
		{"skill_view", args{"name": "tables", "path": "references/wide.md"}, "wide ones"},
		{"skill_manage", args{"action": "create", "name": "warm-up", "description": "Warms up", "body": "Run once."}, `{"name":"warm-up","ok":true}`},
		{"skill_view", args{"name": "warm-up"}, "Run once.\n"},
		{"skill_manage", args{"action": "create", "name": "warm-up", "description": "x", "body": "y"}, "error: create the skill \"warm-up\": the name is taken"},
		{"skill_manage", args{"action": "patch", "name": "warm-up", "description": "Warms the cache"}, `{"name":"warm-up","ok":true}`},
		{"skill_manage", args{"action": "edit", "name": "warm-up", "content": "---\nname: warm-up\ndescription: d\nmetadata:\n  created_by: agent\n---\nTwice.\n"}, `{"name":"warm-up","ok":true}`},
		{"skill_view", args{"name": "warm-up"}, "Twice.\n"},
		{"skill_manage", args{"action": "delete", "name": "warm-up"}, `{"name":"warm-up","ok":true}`},
		{"skill_view", args{"name": "warm-up"}, "error: no such skill"},
		{"skills_list", nil, "- learned: Learned here (learned)\n- tables: Writes tables (external, used 2×)\n"},
		{"skill_manage", args{"action": "delete", "name": "tables"}, "error: read only"},
		{"skill_manage", args{"action": "patch", "name": "learned", "body": "x"}, "error: read only: \"learned\" belongs"},
	} {
		got := call(t, s, step.tool, step.args)
		if want, isErr := strings.CutPrefix(step.want, "error: "); isErr && !strings.Contains(got, want) || !isErr && got != step.want {
			t.Errorf("%s %v:\ngot  %s\nwant %s", step.tool, step.args, got, step.want)
		}
	}
	if i, err := w.Library.Find("tables"); err != nil || i.UseCount != 2 || i.ViewCount != 2 || fmt.Sprint(i.UsedIn) != "[run/1/executor_a]" {
		t.Errorf("%+v %v", i, err)
	}
	archived, err := w.Library.Archived()
	if err != nil || len(archived) != 1 || archived[0].CreatedBy != skills.ByUser {
		t.Errorf("%+v %v", archived, err)
	}
}

func TestBadArguments(t *testing.T) {
	w := newWorld(t, map[string]string{
		"home/.agents/skills/tables/SKILL.md": skillFile("tables", "Writes tables"), "secret": "secret",
	})
	w.must(os.Symlink(filepath.Join(w.dir, "secret"), filepath.Join(w.dir, "home/.agents/skills/tables/link")))
	s := w.connect()
	for _, tc := range []struct {
		name, tool string
		args       any
		want       string
	}{
		{"no name", "skill_view", args{}, "name"},
		{"a number for a name", "skill_view", args{"name": 7}, "name"},
		{"an unknown field", "skill_view", args{"name": "tables", "file": "x"}, "file"},
		{"no object", "skill_view", []int{1}, ""},
		{"up and out", "skill_view", args{"name": "tables", "path": "../../../secret"}, "two dots"},
		{"absolute", "skill_view", args{"name": "tables", "path": filepath.Join(w.dir, "secret")}, "not below"},
		{"through a link", "skill_view", args{"name": "tables", "path": "link"}, "cannot be read"},
		{"an unknown action", "skill_manage", args{"action": "burn", "name": "tables"}, "action"},
		{"no description", "skill_manage", args{"action": "create", "name": "x", "body": "y"}, "description: missing"},
		{"a bad name", "skill_manage", args{"action": "create", "name": "../x", "description": "d", "body": "y"}, "others than"},
		{"content for create", "skill_manage", args{"action": "create", "name": "x", "content": "y"}, "belongs to the action edit"},
		{"edit without content", "skill_manage", args{"action": "edit", "name": "x", "body": "y"}, "takes content"},
		{"nothing to patch", "skill_manage", args{"action": "patch", "name": "x"}, "at least one field"},
		{"an unknown kind", "knowledge_brief", args{"kinds": []string{"x"}}, "no kind"},
		{"a huge budget", "knowledge_brief", args{"budget": 1 << 30}, "budget"},
		{"a bad glob", "knowledge_brief", args{"paths": []string{"[" + strings.Repeat("a", 5000)}}, ""},
		{"no track", "track_status", nil, "there is no track"},
		{"an unknown tool", "rm_rf", nil, "rm_rf"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := call(t, s, tc.tool, tc.args)
			if !strings.HasPrefix(got, "error: ") && !strings.HasPrefix(got, "protocol: ") && tc.want != "" || !strings.Contains(got, tc.want) || strings.Contains(got, "secret\n") {
				t.Errorf("%s\nwant %q", got, tc.want)
			}
		})
	}
	if got := call(t, s, "skills_list", nil); !strings.Contains(got, "tables") {
		t.Errorf("after all that: %s", got)
	}
}

func TestOneTaskChangesOnlySoMuch(t *testing.T) {
	w := newWorld(t, nil)
	s := w.connect()
	made := 0
	for i := range 2 * maxChanges {
		if strings.Contains(call(t, s, "skill_manage", args{"action": "create", "name": fmt.Sprint("s", i), "description": "d", "body": "b"}), "true") {
			made++
		}
	}
	if made != maxChanges {
		t.Error(made)
	}
}

// TestConcurrentCalls: answers belong to their questions, and every look is counted.
func TestConcurrentCalls(t *testing.T) {
	w := newWorld(t, nil)
	w.Caller.Task = ""
	s := w.connect()
	var wg sync.WaitGroup
	const n = 24
	for i := range n {
		wg.Go(func() {
			name, body := fmt.Sprintf("s%d", i), fmt.Sprintf("body %d", i)
			if got := call(t, s, "skill_manage", args{"action": "create", "name": name, "description": "d", "body": body}); !strings.Contains(got, `"ok":true`) {
				t.Error(got)
			}
			for range 3 {
				if got := call(t, s, "skill_view", args{"name": name}); got != body+"\n" {
					t.Errorf("%s: %q", name, got)
				}
				call(t, s, "skills_list", nil)
			}
		})
	}
	wg.Wait()
	listing, err := w.Library.List()
	w.must(err)
	views := 0
	for _, i := range listing.Skills {
		views += i.ViewCount
	}
	if len(listing.Skills) != n || views != 3*n {
		t.Errorf("%d skills, %d views", len(listing.Skills), views)
	}
}

func TestKnowledge(t *testing.T) {
	entry := func(id, text, where string) string {
		return fmt.Sprintf("  - id: %s\n    kind: gotcha\n    text: %s\n    confidence: 0.8\n    provenance: [{source: human, reference: r}]\n    applies_to: [%q]\n", id, text, where)
	}
	w := newWorld(t, map[string]string{"repo/.si/knowledge/a.yaml": "entries:\n" + entry("K-1", "about go", "src/**") + entry("K-2", "about docs", "docs/**")})
	s := w.connect()
	got := call(t, s, "knowledge_brief", args{"paths": []string{"src/x.go"}})
	if !strings.Contains(got, "**[K-1]** (gotcha, 0.80) about go") || strings.Contains(got, "K-2") {
		t.Error(got)
	}
	if got := call(t, s, "knowledge_brief", args{"paths": []string{"other/x"}}); got != "Nothing is known about these paths." {
		t.Error(got)
	}
	w.must(os.WriteFile(filepath.Join(w.dir, "repo/.si/knowledge/b.yaml"), []byte("entries:\n  - id: K-1\n"), 0o644))
	if got := call(t, s, "knowledge_brief", args{"paths": []string{"src/x.go"}}); !strings.HasPrefix(got, "error: ") {
		t.Errorf("a broken store: %s", got)
	}
}

func TestTrackStatus(t *testing.T) {
	const root = "repo/.omc/self-improve/topics/default/"
	w := newWorld(t, map[string]string{
		root + "state/agent-settings.json":            `{"iterations": 2, "best_score": 12.5, "status": "running"}`,
		root + "config/settings.json":                 `{"primary_metric": "rps", "benchmark_direction": "higher_is_better", "max_iterations": 9, "target_value": 20}`,
		root + "config/goal.md":                       "# Goal\n\n## Objective\n\nServe more.\n",
		root + "tracking/baseline.json":               `{"baseline_score": 10}`,
		root + "state/iteration_state.json":           `{"iteration": 3, "status": "in_progress", "current_step": "execution"}`,
		root + "state/iteration_history/round_1.json": `{"iteration": 1, "winner": {"plan_id": "p1", "score": 12.5, "approach_family": "data", "hypothesis": "Pool \u001b[31mbuffers"}, "losers": [{"plan_id": "p2", "score": 9, "approach_family": "other", "hypothesis": "Spin", "failure_analysis": {"what": "slower"}}]}`,
		root + "state/iteration_history/round_2.json": `{"iteration": 2, "winner": null, "losers": []}`,
	})
	got := call(t, w.connect(), "track_status", nil)
	var s TrackState
	if err := json.Unmarshal([]byte(got), &s); err != nil {
		t.Fatal(got, err)
	}
	text := fmt.Sprintf("%s %s %v %s %d/%s %d/%d %s %s %v %v %v", s.Track, s.Objective, s.Running, s.Status, s.Round, s.Step, s.Rounds, s.MaxRounds, s.Metric, s.Direction, *s.Baseline, *s.Best, *s.Target)
	if text != "default Serve more. false running 3/execution 2/9 rps higher_is_better 10 12.5 20" {
		t.Error(text)
	}
	if len(s.Kept) != 1 || s.Kept[0].Hypothesis != "Pool buffers" || s.Kept[0].Round != 1 || len(s.Others) != 1 || s.Others[0].Why != "slower" {
		t.Errorf("%+v %+v", s.Kept, s.Others)
	}
}

// TestStdinEnds: the server ends by itself when its agent does, and answers first what
// was asked before.
func TestStdinEnds(t *testing.T) {
	w := newWorld(t, map[string]string{"home/.agents/skills/tables/SKILL.md": skillFile("tables", "Writes tables")})
	questions := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"skill_view","arguments":{"name":"tables"}}}
`
	for name, in := range map[string]string{"at once": "", "after a question": questions, "in the middle of a line": questions + `{"jsonrpc": "2.`, "nonsense": "hello\n"} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			ended := make(chan error, 1)
			go func() { ended <- Serve(t.Context(), w.Source, io.NopCloser(strings.NewReader(in)), nopCloser{&out}) }()
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Fatal("it does not end")
			}
			if strings.HasPrefix(in, questions) && !strings.Contains(out.String(), "Body of tables.") {
				t.Errorf("the question was not answered: %s", out.String())
			}
		})
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (w *world) open(dir string) *Door {
	w.t.Helper()
	d, err := Open(w.t.Context(), dir, w.Source)
	w.must(err)
	return d
}

// through is a client that comes through the bridge, as an agent's does.
func (w *world) through(d *Door) (s *mcp.ClientSession, ended <-chan error) {
	w.t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := Bridge(context.Background(), d.Path(), inR, outW)
		_ = outW.Close()
		done <- err
	}()
	return w.client(&mcp.IOTransport{Reader: outR, Writer: inW}), done
}

// TestDoor: an agent comes in by the socket, also by one whose path is too long for an
// address, and what it does is counted for its task.
func TestDoor(t *testing.T) {
	w := newWorld(t, map[string]string{"home/.agents/skills/tables/SKILL.md": skillFile("tables", "Writes tables")})
	for name, dir := range map[string]string{"short": filepath.Join(w.dir, "a"), "long": filepath.Join(w.dir, strings.Repeat("x", 150))} {
		t.Run(name, func(t *testing.T) {
			w.must(os.MkdirAll(dir, 0o700))
			w.must(os.WriteFile(filepath.Join(dir, socketName), nil, 0o600)) // a crash left something
			d := w.open(dir)
			if info, err := os.Lstat(d.Path()); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			s, ended := w.through(d)
			if got := call(t, s, "skill_view", args{"name": "tables"}); got != "Body of tables.\n" {
				t.Error(got)
			}
			w.must(s.Close())
			if err := <-ended; err != nil {
				t.Error(err)
			}
			w.must(d.Close())
			if _, err := os.Lstat(d.Path()); !os.IsNotExist(err) {
				t.Errorf("the socket is left: %v", err)
			}
			if err := Bridge(t.Context(), d.Path(), strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), "may have ended") {
				t.Error(err)
			}
		})
	}
	if i, _ := w.Library.Find("tables"); i.UseCount != 2 {
		t.Errorf("%+v", i)
	}
}

// TestDoorCloses: a session that is open, one that says nothing, and those that are too
// many are ended, and nothing of them is left.
func TestDoorCloses(t *testing.T) {
	w := newWorld(t, nil)
	dir := filepath.Join(w.dir, "a")
	w.must(os.MkdirAll(dir, 0o700))
	d := w.open(dir)
	s, ended := w.through(d)
	var silent []net.Conn
	for range 2 * maxSessions {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "unix", d.Path())
		w.must(err)
		silent = append(silent, c)
	}
	refused := silent[len(silent)-1]
	if _, err := refused.Read(make([]byte, 1)); err == nil {
		t.Error("there is no bound to sessions")
	}
	w.must(d.Close())
	if err := <-ended; err != nil {
		t.Error(err)
	}
	_ = s.Close()
	for _, c := range silent {
		_ = c.Close()
	}
}

// TestTheAgentPlaysWithItsFolder: what it puts there leads nowhere.
func TestTheAgentPlaysWithItsFolder(t *testing.T) {
	w := newWorld(t, map[string]string{"victim/" + socketName: "mine"})
	dir := filepath.Join(w.dir, "a")
	w.must(os.MkdirAll(dir, 0o700))
	d := w.open(dir)
	w.must(os.Rename(dir, dir+"-moved"))
	w.must(os.Symlink(filepath.Join(w.dir, "victim"), dir))
	w.must(d.Close())
	if data, err := os.ReadFile(filepath.Join(w.dir, "victim", socketName)); string(data) != "mine" {
		t.Errorf("%q %v", data, err)
	}
}

// TestAPanicEndsOneCall: the process that it happens in is the loop's.
func TestAPanicEndsOneCall(t *testing.T) {
	w := newWorld(t, nil)
	server := New(w.Source)
	mcp.AddTool(server, &mcp.Tool{Name: "boom"}, func(context.Context, *mcp.CallToolRequest, nothing) (*mcp.CallToolResult, any, error) {
		panic("\x1b[2Jboom")
	})
	ours, theirs := mcp.NewInMemoryTransports()
	session, err := server.Connect(t.Context(), ours, nil)
	w.must(err)
	defer session.Close()
	s := w.client(theirs)
	defer s.Close()
	if got := call(t, s, "boom", nil); !strings.Contains(got, "it crashed: boom") {
		t.Error(got)
	}
	if got := call(t, s, "skills_list", nil); got != "There is no skill yet." {
		t.Error(got)
	}
}
