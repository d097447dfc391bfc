package loop

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"si/agents"
	"si/benchmark"
	"si/gitops"
	"si/internal/proc"
	"si/internal/sandbox"
)

// Both arms of a comparison are shown at the same two paths, so that neither the
// name of a folder nor its length can make a difference.
func (b *lab) treeAt() string { return filepath.Join(b.l.cfg.WorkDir, "at", "tree") }
func (b *lab) homeAt() string { return filepath.Join(b.l.cfg.WorkDir, "at", "home") }

// access is what one command of the benchmark's side may reach beyond its tree.
type access struct {
	network bool // the machine's
	caches  bool // the download caches of toolchains are writable
	heldOut bool // the held-out data
}

// contain puts a job into the sandbox: its tree, HOME and TMPDIR are writable, the
// rest of the machine is read-only, other trees, agents' workspaces, the track and
// credentials are hidden.
func (b *lab) contain(job *benchmark.Job, a *arm, may access) error {
	box := b.l.cfg.Sandbox
	if box == nil {
		return nil
	}
	places := sandbox.BenchmarkPlaces{
		Tree: a.path, Home: job.Home, Tmp: job.Tmp, Network: may.network || b.l.settings.Value.SI.Measure.Network,
		Hidden: []string{b.l.cfg.WorkDir, JobsDir(b.l.cfg.WorkDir), b.l.cfg.Paths.StateBase()}, Limits: b.l.limits(),
	}
	if !may.heldOut {
		places.Hidden = append(places.Hidden, b.l.settings.Value.SI.HiddenPaths...)
	}
	caches := benchmark.Caches(b.meter.Host)
	if may.caches {
		for _, dir := range caches {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		places.Written = caches
	} else {
		places.Caches = caches
	}
	profile := sandbox.Benchmark(b.l.user(), places)
	if box.Report().Enforces(sandbox.SamePath) {
		for _, dir := range []string{b.treeAt(), b.homeAt()} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
		job.DirAt, job.HomeAt = b.treeAt(), b.homeAt()
		profile.Bind = append(profile.Bind, proc.Bind{From: a.path, To: job.DirAt}, proc.Bind{From: job.Home, To: job.HomeAt})
	}
	job.Contain = &profile
	return nil
}

// containAgent puts an agent into the sandbox: its workspace and its program's own
// folders are writable; the user's repository, other workspaces, the track and
// held-out data are hidden.
func (r *round) containAgent(t *agents.Task) error {
	if r.cfg.Sandbox == nil {
		return nil
	}
	o := r.settings.Value.SI.Agents
	needs := r.cfg.Folders[t.Role].In(r.user().Home)
	own := o.Writable
	if own == nil {
		own = needs.Writable
	}
	return r.contain(t, own, slices.Concat(r.linkedTo(), o.Readable, needs.Readable, r.skillFolders(), r.ownProgram(t)))
}

// containCommand holds a command that the program runs on an agent's word. It is no
// agent: it gets no key, no login of any agent program, and the network only where the
// benchmark has it.
func (r *round) containCommand(t *agents.Task) error {
	t.Env = agents.AgentEnv(r.cfg.Lookup, nil)
	if r.cfg.Sandbox == nil {
		return nil
	}
	if err := r.contain(t, nil, slices.Concat(r.linkedTo(), r.settings.Value.SI.Agents.Readable)); err != nil {
		return err
	}
	t.Contain.Hidden = append(t.Contain.Hidden, agents.AllFolders().In(r.user().Home).Writable...)
	t.Contain.Network, t.Contain.Nested = r.settings.Value.SI.Measure.Network, false
	return nil
}

// holds tells whether anything holds what runs here back.
func (l *Loop) holds() bool {
	return l.cfg.Sandbox != nil && l.cfg.Sandbox.Report().Kind != sandbox.None
}

// contain lets a task write to its workspace, if its role edits, and to own, and read
// what is visible.
func (r *round) contain(t *agents.Task, own, visible []string) error {
	tmp := r.tmpOf(t.ID)
	cache := filepath.Join(r.cfg.WorkDir, "agents-cache")
	for _, dir := range []string{tmp, cache} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	profile := sandbox.Agent(r.user(), sandbox.AgentPlaces{
		Clone: t.Dir, Tmp: tmp, Own: append([]string{cache}, own...), Objects: objectFolders(r.cfg.Repo),
		Repository: r.cfg.Repo.Toplevel(), Visible: visible, Limits: r.limits(),
		Hidden: append([]string{r.cfg.WorkDir, JobsDir(r.cfg.WorkDir), r.cfg.Paths.StateBase(), r.cfg.Repo.CommonDir()}, r.settings.Value.SI.HiddenPaths...),
	})
	if !t.Role.Edits() {
		profile.Writable = slices.DeleteFunc(profile.Writable, func(p string) bool { return p == t.Dir })
		profile.ReadOnly = append(profile.ReadOnly, t.Dir)
	}
	t.Contain = &profile
	t.Env = append(slices.DeleteFunc(t.Env, func(e string) bool { return benchmark.NameOf(e) == "TMPDIR" || benchmark.NameOf(e) == "XDG_CACHE_HOME" }),
		"TMPDIR="+tmp, "XDG_CACHE_HOME="+cache, "GOCACHE="+filepath.Join(cache, "go-build"))
	// An executor's workspace is laid later, and one that an agent has spoilt is laid
	// anew: those are held then. Until that all of the repository is hidden.
	_ = r.holdWorktree(t)
	return nil
}

// holdWorktree is for an agent whose git works in the user's own repository: of that
// the worktree's own part is writable and the rest can only be read, the objects not
// even that. What the base reaches is lent, and new objects go to the agent's TMPDIR.
// Until this is done the whole of the repository is hidden.
func (r *round) holdWorktree(t *agents.Task) error {
	if t.Contain == nil || r.settings.Value.SI.Isolation != "worktree" {
		return nil
	}
	common := r.cfg.Repo.CommonDir()
	admin, env, err := r.cfg.Repo.LentTo(t.Dir, filepath.Join(r.tmpOf(t.ID), "objects"))
	if err != nil {
		return err
	}
	p := t.Contain
	p.Hidden = append(slices.DeleteFunc(p.Hidden, func(h string) bool { return h == common }), filepath.Join(common, "objects"))
	p.ReadOnly = append(p.ReadOnly, common)
	if t.Role.Edits() {
		p.Writable = append(p.Writable, admin)
	}
	t.Env = append(t.Env, env...)
	return nil
}

// tmpOf is the folder of an agent's temporary files.
func (r *round) tmpOf(id string) string { return filepath.Join(r.cfg.WorkDir, "agents", "tmp_"+id) }

// ownProgram is this program, for an agent that is to start it.
func (r *round) ownProgram(t *agents.Task) []string {
	if len(t.MCP) == 0 {
		return nil
	}
	return []string{r.cfg.Self}
}

// objectFolders are those that clones borrow from: packs of what their base reaches;
// where those cannot be made, the folders of the repository, of its submodules, and of
// what it borrows from itself.
func objectFolders(repo *gitops.Repo) []string {
	if lent := repo.Lent(); lent != "" {
		return []string{lent}
	}
	common := repo.CommonDir()
	folders := []string{filepath.Join(common, "objects")}
	_ = filepath.WalkDir(filepath.Join(common, "modules"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "objects" {
			folders = append(folders, path)
			return fs.SkipDir
		}
		return nil // what cannot be read is not lent
	})
	data, err := os.ReadFile(filepath.Join(common, "objects", "info", "alternates"))
	if err != nil {
		return folders
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); filepath.IsAbs(line) {
			folders = append(folders, line)
		}
	}
	return folders
}

// linkedTo are the untracked paths of the checkout that workspaces have links to.
func (l *Loop) linkedTo() []string {
	var out []string
	for _, o := range l.settings.Value.SI.Links {
		if o.Mode == "link" {
			out = append(out, filepath.Join(l.cfg.Repo.Toplevel(), o.Path))
		}
	}
	return out
}

// user is whose machine it is.
func (l *Loop) user() sandbox.User {
	home, _ := l.cfg.Lookup("HOME")
	u := sandbox.User{Home: home}
	for _, name := range []string{"SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST", "CONTAINERD_ADDRESS"} {
		if value, ok := l.cfg.Lookup(name); ok {
			u.Env = append(u.Env, name+"="+value)
		}
	}
	return u
}

func (l *Loop) limits() proc.Limits {
	o := l.settings.Value.SI.Limits
	return proc.Limits{Processes: o.Processes, MemoryBytes: int64(o.MemoryMB) << 20, FileBytes: int64(o.FileMB) << 20}
}

// contained says in one line what this run's commands are held in.
func (l *Loop) contained() string {
	if l.cfg.Sandbox == nil {
		return notEnforced
	}
	report := l.cfg.Sandbox.Report()
	if report.Kind == sandbox.None {
		return notEnforced + " (" + report.Line() + ")"
	}
	return report.Line()
}
