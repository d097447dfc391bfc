package acp

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"si/agents"
)

// fence is what a role may be allowed. It is a courtesy among programs that ask;
// what holds those that do not is their containment.
type fence struct {
	dir     string // the workspace, without links
	edits   bool
	servers []string
}

func newFence(t agents.Task) fence {
	f := fence{dir: real(t.Dir), edits: t.Role.Edits()}
	for _, m := range t.MCP {
		f.servers = append(f.servers, m.Name)
	}
	return f
}

// inside says whether a path is in the workspace, whatever links lead to it, and
// whether it belongs to git.
func (f fence) inside(path string) (in, git bool) {
	if path == "~" || strings.HasPrefix(path, "~/") || strings.ContainsRune(path, 0) {
		return false, false
	}
	if u, err := url.Parse(path); err == nil && u.Scheme == "file" {
		path = u.Path
	}
	if slices.Contains(strings.Split(path, "/"), "..") { // behind a link it leads elsewhere than it reads
		return false, false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	rel, err := filepath.Rel(f.dir, real(path))
	if err != nil || !filepath.IsLocal(rel) {
		return false, false
	}
	return true, slices.ContainsFunc(strings.Split(rel, string(filepath.Separator)), func(part string) bool { return strings.EqualFold(part, ".git") })
}

// real is a path without links, as far as it exists. One that cannot be resolved
// is no path inside of anything.
func real(path string) string {
	path, rest := filepath.Clean(path), ""
	for {
		resolved, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(resolved, rest)
		}
		if _, lerr := os.Lstat(path); !os.IsNotExist(lerr) { // a link that leads nowhere, or nothing that may be looked at
			return string(filepath.Separator)
		}
		parent := filepath.Dir(path)
		if parent == path {
			return filepath.Join(path, rest)
		}
		rest = filepath.Join(filepath.Base(path), rest)
		path = parent
	}
}

// namesPath says whether a parameter of that name holds a path.
func namesPath(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	for _, end := range []string{"path", "file", "filename", "cwd", "workdir", "directory", "dir", "folder", "uri"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
