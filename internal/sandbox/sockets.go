package sandbox

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// socketTable lists the sockets of the machine; other systems than Linux have none.
const socketTable = "/proc/net/unix"

// mostSockets bounds how many are hidden one by one.
const mostSockets = 200

// boundSockets are the places of sockets that somebody has opened, but for those in the
// folders that are hidden whole: over one of them a command could have something outside
// of its sandbox work for it. The table is that of proc(5): the path is the last field.
func boundSockets(table string) []string {
	f, err := os.Open(table)
	if err != nil {
		return nil
	}
	defer f.Close() // opened for reading only
	var out []string
	covered := append(sharedFolders(), services()...)
	for lines := bufio.NewScanner(f); lines.Scan() && len(out) < mostSockets; {
		_, path, ok := strings.Cut(lines.Text(), " /")
		if path = filepath.Clean("/" + path); !ok || slices.Contains(out, path) {
			continue
		}
		if !slices.ContainsFunc(covered, func(dir string) bool { return within(path, dir) }) {
			out = append(out, path)
		}
	}
	return out
}
