package loop

import (
	"fmt"

	"si/internal/clean"
	"si/internal/stamps"
)

// Undoing so much before a run means that each run makes it anew: most likely a build.
const (
	rebuiltFiles = 50
	rebuiltBytes = 4 << 20
)

// undone is what a restore took away.
type undone struct {
	files   int
	bytes   int64
	example string // one of the paths, in the folder
}

// undoing counts the files among what differs.
func undoing(differing []string, now map[string]stamps.Stamp) (u undone) {
	for _, name := range differing {
		if at, there := now[name]; there && at.IsRegular() {
			u.files, u.bytes, u.example = u.files+1, u.bytes+at.Size, name
		}
	}
	return u
}

// rebuilds says that each run makes much anew that is put back before the next, with
// what to do; "" when there is nothing to say. A benchmark that builds in its run costs
// a build in each of the hundreds of runs of a night.
func (b *lab) rebuilds() string {
	for _, a := range b.arms {
		for _, s := range []*snapshot{a.home, a.laid} {
			if s == nil || s.undone.files < rebuiltFiles && s.undone.bytes < rebuiltBytes {
				continue
			}
			folder := "its HOME"
			if s == a.laid {
				folder = "the tree"
			}
			return fmt.Sprintf("each run makes %d files, %.1f MB, anew in %s, such as %s, and they are taken away before the next: if that is a build, "+
				"a set-up command (--setup, si.setup_command) that builds does it once a candidate", s.undone.files, float64(s.undone.bytes)/(1<<20), folder, clean.Line(s.undone.example, 100))
		}
	}
	return ""
}
