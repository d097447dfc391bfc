package proc

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// entry names a process beyond doubt: the number alone is used again.
type entry struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks after boot
	Boot  string `json:"boot"`
}

const (
	entrySuffix = ".process.json"
	maxEntry    = 4 << 10
)

// record is the registry's files for one child. That a file cannot be written
// does not stop the child: the mark finds it too.
type record struct {
	files    []string
	warnings []string
}

func (r *record) add(folder string, pid int) {
	if folder == "" {
		return
	}
	path, err := writeEntry(folder, pid)
	if err != nil {
		r.warnings = append(r.warnings, err.Error())
		return
	}
	if path != "" {
		r.files = append(r.files, path)
	}
}

func (r *record) remove() {
	for _, f := range r.files {
		_ = os.Remove(f) // a stale file names nothing that lives
	}
}

// writeEntry renames the file into place, so that nobody reads half of it. It
// need not outlive a power cut: after one there is another boot.
func writeEntry(folder string, pid int) (string, error) {
	e, known := identify(pid)
	if !known {
		return "", nil // it has ended, or there is nothing to tell it by on this system
	}
	data, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("register process %d: %w", pid, err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("register process %d: %w", pid, err)
	}
	path := filepath.Join(folder, fmt.Sprintf("%d-%d%s", pid, e.Start, entrySuffix))
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return "", fmt.Errorf("register process %d: %w", pid, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return "", fmt.Errorf("register process %d: %w", pid, err)
	}
	return path, nil
}

// entryFiles lists the registry's files. A folder that is not there has none.
func entryFiles(folder string) ([]string, error) {
	names, err := os.ReadDir(folder)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the registry of processes: %w", err)
	}
	var out []string
	for _, n := range names {
		if n.Type().IsRegular() && (strings.HasSuffix(n.Name(), entrySuffix) || strings.HasSuffix(n.Name(), entrySuffix+".new")) {
			out = append(out, filepath.Join(folder, n.Name()))
		}
	}
	return out, nil
}

// readEntry reads a file that a crash may have cut short; such a one names nothing.
func readEntry(path string) (entry, bool) {
	f, err := os.Open(path)
	if err != nil {
		return entry{}, false
	}
	defer closeAll(f)
	var e entry
	data, err := io.ReadAll(io.LimitReader(f, maxEntry))
	if err != nil || json.Unmarshal(data, &e) != nil {
		return entry{}, false
	}
	return e, e.PID > 1 && e.Boot != ""
}
