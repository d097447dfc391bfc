package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"si/internal/proc"
)

// planOf writes a plan as words; R is the folder of the test.
func planOf(t *testing.T, root string, p Profile) string {
	t.Helper()
	r, err := resolve(p)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := mounts(r)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]string, len(plan))
	for i, m := range plan {
		name := map[use]string{writable: "w", readOnly: "r", private: "p", hidden: "h"}[m.use]
		if m.pin {
			name = "pin"
		}
		words[i] = name + ":" + strings.TrimPrefix(m.at, root)
		if m.from != m.at {
			words[i] += "<" + strings.TrimPrefix(m.from, root)
		}
	}
	return strings.Join(words, " ")
}

func TestOrderOfMounts(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/c/d", "a/x", "arm", "at", "tmp/tree"} {
		mustMkdir(t, filepath.Join(root, dir))
	}
	mustWrite(t, filepath.Join(root, "a/b/c/file"), "x")
	if err := os.Symlink(filepath.Join(root, "a"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(root, n))
		}
		return out
	}
	bind := func(from, to string) []proc.Bind { return []proc.Bind{{From: in(from)[0], To: in(to)[0]}} }
	for name, tc := range map[string]struct {
		p    Profile
		want string
	}{
		"nothing":                                {Profile{}, ""},
		"what is read-only anyway":               {Profile{ReadOnly: in("a/b")}, ""},
		"visible in hidden":                      {Profile{ReadOnly: in("a/b/c"), Hidden: in("a")}, "h:/a r:/a/b/c"},
		"writable in hidden":                     {Profile{Writable: in("a/b"), Hidden: in("a")}, "h:/a w:/a/b"},
		"hidden in writable in hidden":           {Profile{Writable: in("a/b"), Hidden: in("a/b/c/d", "a")}, "h:/a w:/a/b pin:/a/b/c h:/a/b/c/d"},
		"hidden in hidden":                       {Profile{Hidden: in("a", "a/b", "a/b/c/file")}, "h:/a"},
		"writable in writable":                   {Profile{Writable: in("a", "a/b")}, "w:/a"},
		"read-only file in writable":             {Profile{Writable: in("a"), ReadOnly: in("a/b/c/file")}, "w:/a pin:/a/b pin:/a/b/c r:/a/b/c/file"},
		"read-only folder right in writable":     {Profile{Writable: in("a"), ReadOnly: in("a/b")}, "w:/a r:/a/b"},
		"the stricter use of one path":           {Profile{Writable: in("a"), ReadOnly: in("a"), Hidden: in("a")}, "h:/a"},
		"tree in a private folder":               {Profile{Writable: in("tmp/tree"), Private: in("tmp")}, "p:/tmp w:/tmp/tree"},
		"missing":                                {Profile{Hidden: in("no", "a/b/c/file/x"), ReadOnly: in("no"), Private: in("no")}, ""},
		"by a link":                              {Profile{Writable: in("link/b"), Hidden: in("link")}, "h:/a w:/a/b"},
		"by a link and by name":                  {Profile{Writable: in("a"), Hidden: in("link")}, "h:/a"},
		"a bind":                                 {Profile{Writable: in("arm"), Bind: bind("arm", "at")}, "w:/arm w:/at</arm"},
		"a bind of what has stricter parts":      {Profile{Writable: in("a"), ReadOnly: in("a/x"), Hidden: in("a/b/c"), Bind: bind("a", "at")}, "w:/a w:/at</a pin:/a/b r:/a/x pin:/at/b</a/b r:/at/x</a/x h:/a/b/c h:/at/b/c</a/b/c"},
		"a bind to a place in a private folder":  {Profile{Private: in("tmp"), Bind: bind("arm", "tmp/new/at")}, "p:/tmp w:/tmp/new/at</arm"},
		"a hidden file in the sandbox's own dev": {Profile{Hidden: []string{"/dev/null"}}, ""},
	} {
		if got := planOf(t, root, tc.p); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
	}
	refusesPlans(t, map[string]Profile{
		"a bind onto a hidden path": {Hidden: in("at"), Bind: bind("arm", "at")},
		"a bind into its source":    {Bind: bind("a", "a/b")},
		"a bind to nowhere":         {Bind: bind("arm", "nowhere")},
		"a bind from nowhere":       {Bind: bind("nowhere", "at")},
		"a device elsewhere":        {Devices: in("arm")},
		"everything writable":       {Writable: []string{"/"}},
		"everything hidden":         {Hidden: []string{"/"}},
	})
}

func refusesPlans(t *testing.T, profiles map[string]Profile) {
	t.Helper()
	for name, p := range profiles {
		r, err := resolve(p)
		if err == nil {
			_, err = mounts(r)
		}
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestProfilesOfBenchmarkAndAgent(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	for _, f := range []string{"home/.ssh/id", "home/.claude/settings.json", "home/.claude.json", "home/.cargo/credentials.toml", "home/.codex/auth.json", "repo/.git/objects/aa", "state/clone/f"} {
		mustWrite(t, at(f), "x")
	}
	mustMkdir(t, at("tmp"))
	u := User{Home: at("home"), Env: []string{
		"SSH_AUTH_SOCK=" + at("agent.sock"), "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/7/bus,guid=1",
		"DOCKER_HOST=tcp://127.0.0.1:2375", "CONTAINER_HOST=unix:///run/me/podman.sock", "XDG_RUNTIME_DIR=/",
	}}
	b := Benchmark(u, BenchmarkPlaces{Tree: at("repo"), Home: at("home2"), Tmp: at("tmp"), Hidden: []string{at("held")}, Written: []string{at("absent")}})
	for _, want := range []string{at("home/.ssh"), at("home/.claude"), at("home/.claude.json"), at("home/.cargo/credentials.toml"), at("agent.sock"), "/run/user/7/bus", "/run/me/podman.sock", "/run", at("held")} {
		if !slices.Contains(b.Hidden, want) {
			t.Errorf("benchmark: %s is not hidden", want)
		}
	}
	if b.Network || b.Nested || !slices.Contains(b.ReadOnly, at("repo/.git")) || !slices.Equal(b.Writable, []string{at("repo"), at("home2"), at("tmp")}) {
		t.Errorf("benchmark: %+v", b)
	}
	a := Agent(u, AgentPlaces{
		Clone: at("state/clone"), Tmp: at("tmp"), Own: []string{at("home/.claude"), at("home/.claude.json"), at("home/.cache/claude")},
		Objects: []string{at("repo/.git/objects")}, Repository: at("repo"), Hidden: []string{at("state"), at("tmp")},
	})
	for _, own := range []string{at("home/.claude"), at("home/.claude.json")} {
		if slices.Contains(a.Hidden, own) || !slices.Contains(a.Writable, own) {
			t.Errorf("agent: its own %s is not writable", own)
		}
	}
	if !slices.Contains(a.Hidden, at("home/.codex")) || !slices.Contains(a.Hidden, at("repo")) || !a.Network || !a.Nested {
		t.Errorf("agent: %+v", a)
	}
	if got := planOf(t, root, Profile{Writable: a.Writable[:1], ReadOnly: a.ReadOnly[:1], Hidden: []string{at("repo"), at("state")}}); got != "h:/repo h:/state w:/state/clone r:/repo/.git/objects" {
		t.Errorf("agent's mounts: %s", got)
	}
	// What was hidden by name is not laid open because it is writable too.
	if !slices.Contains(a.Hidden, at("tmp")) {
		t.Error("agent: a path that was hidden by name is not")
	}
}

func TestGPUsAreFound(t *testing.T) {
	t.Parallel()
	dev := t.TempDir()
	for _, name := range []string{"nvidia0", "nvidiactl", "kfd", "sda", "mem", "dri/card0"} {
		mustWrite(t, filepath.Join(dev, name), "")
	}
	got := gpus(dev)
	for i := range got {
		got[i] = filepath.Base(got[i])
	}
	slices.Sort(got)
	if want := "[dri kfd nvidia0 nvidiactl]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		said string
		m    facts
		want string
	}{
		{errNoBwrap.Error(), facts{}, "apt install bubblewrap"},
		{"bwrap: Unknown option --cap-drop", facts{}, "too old"},
		{"bwrap: setting up uid map: Permission denied", facts{appArmor: "1", most: "9", container: true}, "AppArmor"},
		{"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", facts{appArmor: "1"}, "AppArmor"},
		{"bwrap: No permissions to create a new namespace, likely because the kernel does not allow non-privileged user namespaces.", facts{clone: "0"}, "unprivileged_userns_clone=1"},
		{"bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)", facts{most: "0"}, "max_user_namespaces"},
		{"bwrap: Creating new namespace failed: Operation not permitted", facts{container: true, most: "9"}, "seccomp=unconfined"},
		{"bwrap: Can't mount proc on /newroot/proc: Operation not permitted", facts{container: true}, "systempaths"},
		{"bwrap: Creating new namespace failed: Operation not permitted", facts{}, "administrator"},
		{"the kernel has no Landlock, or it is switched off", facts{}, "lsm="},
	} {
		if got := strings.Join(adviceFor(tc.said, tc.m), "; "); !strings.Contains(got, tc.want) {
			t.Errorf("%s %+v: %q, want %q in it", tc.said, tc.m, got, tc.want)
		}
	}
	if got := adviceFor("bwrap: Can't find source path /x: No such file or directory", facts{}); got != nil {
		t.Errorf("advice about something else: %q", got)
	}
}

func TestReports(t *testing.T) {
	t.Parallel()
	all := tried{}
	for _, p := range Promises() {
		all[p] = true
	}
	holed := tried{WriteConfined: true, NetworkOff: false}
	for name, tc := range map[string]struct {
		r    Report
		line string
		not  []Promise
	}{
		"old bubblewrap":  {bwrapReport("0.6.1", all, true), "sandbox: bubblewrap 0.6.1; not enforced: ", []Promise{NoNesting}},
		"it did not hold": {bwrapReport("0.8.0", holed, false), "sandbox: bubblewrap 0.8.0; not enforced: no network", []Promise{NetworkOff}},
		"Landlock 1":      {landlockReport(1, all), "sandbox: landlock ABI 1; not enforced: writes", []Promise{WriteConfined, ReadOnlyInside, NetworkOff, OwnProcesses, SamePath}},
		"Landlock 7":      {landlockReport(7, all), "sandbox: landlock ABI 7; not enforced: ", []Promise{ReadOnlyInside, NetworkOff, SamePath, ProcessLimit}},
		"none":            {noneReport("no", []string{"f"}, []string{"a"}), "sandbox: none", []Promise{WriteConfined, PathsHidden, NetworkOff}},
	} {
		if len(tc.r.Findings) != len(Promises()) || !strings.HasPrefix(tc.r.Line(), tc.line) {
			t.Errorf("%s: %s", name, tc.r.Line())
		}
		for _, p := range tc.not {
			if tc.r.Enforces(p) {
				t.Errorf("%s: %s is reported as enforced", name, p)
			}
		}
	}
	if !landlockReport(10, all).Enforces(NetworkOff) || !landlockReport(6, all).Enforces(OwnProcesses) {
		t.Error("what Landlock enforces is reported as not enforced")
	}
}
