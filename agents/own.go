package agents

import (
	"path/filepath"
	"slices"
)

// Folders are what an agent program needs of the user's home, relative to it:
// folders and files, those that are not there left out when they are used.
type Folders struct {
	Writable []string // configuration, logins, sessions, caches
	Readable []string // the program itself
}

// In gives the folders below home; none when home is not absolute.
func (f Folders) In(home string) Folders {
	if !filepath.IsAbs(home) {
		return Folders{}
	}
	below := func(names []string) []string {
		var out []string
		for _, name := range names {
			out = append(out, filepath.Join(home, filepath.FromSlash(name)))
		}
		return out
	}
	return Folders{Writable: below(f.Writable), Readable: below(f.Readable)}
}

// And is what both need.
func (f Folders) And(g Folders) Folders {
	return Folders{Writable: joined(f.Writable, g.Writable), Readable: joined(f.Readable, g.Readable)}
}

func joined(a, b []string) []string {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// AllFolders are the folders and files in which the known agent programs keep their
// configuration, logins and sessions: what a program of which nothing is known may
// turn out to need, and a benchmark must not be able to read.
func AllFolders() Folders {
	return Folders{Writable: []string{
		".claude", ".claude.json", ".config/claude", ".codex", ".gemini", ".config/opencode", ".local/share/opencode", ".local/state/opencode",
		".pi", ".config/goose", ".local/share/goose", ".local/state/goose", ".aider.conf.yml", ".config/github-copilot", ".copilot", ".cursor", ".qwen", ".config/amp", ".local/share/amp",
	}}
}
