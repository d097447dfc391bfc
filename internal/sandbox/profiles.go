package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"si/internal/proc"
)

// BenchmarkPlaces are the paths of one measurement. Tree, Home and Tmp exist.
type BenchmarkPlaces struct {
	Tree    string // the checkout that is measured
	Home    string // the run's own
	Tmp     string // the run's own TMPDIR
	Caches  []string
	Written []string // other folders that the run may write to: build caches
	Hidden  []string // held-out data; empty for the validation, which needs it
	// At shows the tree at this path too, the same for both arms of a duel. Empty: at its own path only.
	At      string
	Network bool
	Limits  proc.Limits
}

// Benchmark lets a measurement write to its tree and its own folders, and read
// all else but credentials. The tree's .git is read-only.
func Benchmark(u User, b BenchmarkPlaces) Profile {
	p := Profile{
		Writable: append([]string{b.Tree, b.Home, b.Tmp}, present(b.Written)...),
		ReadOnly: slices.Concat([]string{filepath.Join(b.Tree, ".git")}, b.Caches, programsInRun()),
		Devices:  gpus("/dev"),
		Network:  b.Network,
		Limits:   b.Limits,
	}
	if b.Network {
		p.ReadOnly = append(p.ReadOnly, nameResolution()...)
	}
	if b.At != "" {
		p.Bind = []proc.Bind{{From: b.Tree, To: b.At}}
	}
	return u.withheld(p, b.Hidden)
}

// AgentPlaces are the paths of one agent's task. Clone and Tmp exist.
type AgentPlaces struct {
	Clone      string
	Tmp        string
	Own        []string // the agent program's configuration and cache: writable, also where they are credentials
	Objects    []string // object folders that the clone borrows from, in Repository or elsewhere
	Repository string   // the user's
	Hidden     []string // the folders of workspaces and of the state base, held-out data
	Visible    []string // read-only files inside hidden folders: a prompt, a skill
	Limits     proc.Limits
}

// Agent lets an agent write to its clone and its program's own folders, with
// network and with the right to make a sandbox of its own. The user's repository
// is hidden but for the objects; so are other workspaces.
func Agent(u User, a AgentPlaces) Profile {
	p := Profile{
		Writable: append([]string{a.Clone, a.Tmp}, present(a.Own)...),
		ReadOnly: slices.Concat(a.Objects, a.Visible, nameResolution(), programsInRun()),
		Devices:  gpus("/dev"),
		Network:  true,
		Nested:   true,
		Limits:   a.Limits,
	}
	hide := slices.Clone(a.Hidden)
	if a.Repository != "" {
		hide = append(hide, a.Repository)
	}
	return u.withheld(p, hide)
}

// sharedFolders are those in which every program of the machine leaves files and
// sockets.
func sharedFolders() []string { return []string{"/tmp", "/var/tmp"} }

// withheld adds what the user's commands may not see. What is writable for this
// command wins over the tables, not over hide: an agent's own configuration is on
// the list of credentials, and a TMPDIR can be the shared one.
func (u User) withheld(p Profile, hide []string) Profile {
	named := make(map[string]bool, len(p.Writable))
	for _, w := range p.Writable {
		named[resolvedOrSame(w)] = true
	}
	taken := func(path string) bool { return named[resolvedOrSame(path)] }
	own := func(path string) bool {
		return slices.ContainsFunc(p.Writable, func(w string) bool { return within(path, resolvedOrSame(w)) })
	}
	p.Hidden = slices.Concat(slices.DeleteFunc(u.hidden(), taken), slices.DeleteFunc(boundSockets(socketTable), own), hide)
	p.Private = slices.DeleteFunc(sharedFolders(), taken)
	return p
}

func resolvedOrSame(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// present drops optional folders that are not there: in a read-only home nobody
// can make them either.
func present(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		_, err := os.Stat(p)
		return os.IsNotExist(err)
	})
}

// gpus finds the devices of graphics processors below dev, which the sandbox's own
// device folder lacks: NVIDIA, AMD, those of the kernel's interface, and WSL's.
func gpus(dev string) []string {
	var out []string
	for _, pattern := range []string{"nvidia*", "kfd", "dri", "dxg", "accel"} {
		found, err := filepath.Glob(filepath.Join(dev, pattern))
		if err == nil {
			out = append(out, found...)
		}
	}
	return out
}
