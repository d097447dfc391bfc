package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Sweep ends what an earlier run of this program left behind: the processes of
// this user that carry an SI_RUN which mark accepts, the ones that the registries
// name (by number, start and boot, all three), and all their descendants. It
// never ends this process or an ancestor of it, even if they carry such a mark.
// The caller holds the track's lock, so that no living run is swept. Files of the
// registries whose processes are no more are removed.
func Sweep(mark func(string) bool, registries ...string) (killed int, err error) {
	var files []string
	var errs []error
	for _, folder := range registries {
		more, err := entryFiles(folder)
		files = append(files, more...)
		errs = append(errs, err)
	}
	killed, left := endAll(func() []process { return leftBehind(mark, files) }, nil, leftoverGrace, nil)
	if left > 0 {
		errs = append(errs, fmt.Errorf("end the processes that an earlier run left behind: %d could not be ended; look for %s= in /proc/*/environ", left, MarkVariable))
		return killed, errors.Join(errs...)
	}
	for _, f := range files {
		if err := os.Remove(f); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return killed, errors.Join(errs...)
}

func leftBehind(mark func(string) bool, files []string) []process {
	all := processes()
	kin := kinOf(all, os.Getpid())
	named := map[int]bool{}
	for _, f := range files {
		if e, ok := readEntry(f); ok {
			if now, known := identify(e.PID); known && now == e {
				named[e.PID] = true
			}
		}
	}
	roots := where(all, func(p process) bool {
		return !kin[p.pid] && ownedByUs(p.pid) && (named[p.pid] || mark != nil && marked(p.pid, mark))
	})
	return spare(withDescendants(all, roots), kin)
}

// ownedByUs matters to root, who may read every environment.
func ownedByUs(pid int) bool {
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// identify says what tells a living process from all others.
func identify(pid int) (entry, bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return entry{}, false
	}
	p, err := readProcess(pid)
	return entry{PID: pid, Start: p.start, Boot: strings.TrimSpace(string(boot))}, err == nil
}
