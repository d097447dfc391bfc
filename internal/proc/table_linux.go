package proc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// maxEnviron bounds what is read of a process's environment, which it may have
// made as large as it likes.
const maxEnviron = 4 << 20

// processes reads the process table. Zombies are in it: they still are parents
// and members of groups.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer closeAll(dir)
	names, _ := dir.Readdirnames(-1)
	all := make([]process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := readProcess(pid); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// readProcess reads /proc/PID/stat (proc_pid_stat(5)). The second field is the
// program's name in parentheses; the program chooses it, so fields are counted
// from the last parenthesis.
func readProcess(pid int) (process, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return process{}, err
	}
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(f) < 20 {
		return process{}, fmt.Errorf("read the state of process %d: %d fields after its name, want 20 or more", pid, len(f))
	}
	p := process{pid: pid, state: f[0][0]}
	for i, to := range []*int{&p.ppid, &p.group, &p.session} {
		if *to, err = strconv.Atoi(string(f[1+i])); err != nil {
			return process{}, fmt.Errorf("read the state of process %d: %w", pid, err)
		}
	}
	if p.start, err = strconv.ParseUint(string(f[19]), 10, 64); err != nil {
		return process{}, fmt.Errorf("read the state of process %d: %w", pid, err)
	}
	return p, nil
}

func (p process) alive() bool { return p.state != 'Z' && p.state != 'X' }

// signal sends sig unless the number has passed to another process. Whether it
// helped is seen in the table.
func (p process) signal(sig syscall.Signal) {
	if now, err := readProcess(p.pid); err == nil && now.start == p.start && p.pid > 1 {
		_ = syscall.Kill(p.pid, sig)
	}
}

// withDescendants is the living ones of roots and of all that is below them.
func withDescendants(all, roots []process) []process {
	children := make(map[int][]process, len(all))
	for _, p := range all {
		children[p.ppid] = append(children[p.ppid], p)
	}
	seen := map[int]bool{}
	var out []process
	for queue := slices.Clone(roots); len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		if seen[p.pid] {
			continue
		}
		seen[p.pid] = true
		if p.alive() {
			out = append(out, p)
		}
		queue = append(queue, children[p.pid]...)
	}
	return out
}

func where(all []process, f func(process) bool) []process {
	var out []process
	for _, p := range all {
		if f(p) {
			out = append(out, p)
		}
	}
	return out
}

// descendantsOf lists what lives below pid, without pid.
func descendantsOf(pid int) []process {
	all := processes()
	return withDescendants(all, where(all, func(p process) bool { return p.ppid == pid }))
}

// groupOf lists the living members of the group or session that pid led.
func groupOf(pid int) []process {
	return where(processes(), func(p process) bool {
		return (p.group == pid || p.session == pid) && p.alive()
	})
}

// orphansOf lists what is left of a command whose supervisor was killed: its
// session, and what carries the mark and is not below this process, where
// everything that is still looked after is.
func orphansOf(leader int, mark string) []process {
	all := processes()
	self := os.Getpid()
	kin := kinOf(all, self)
	ours := withDescendants(all, where(all, func(p process) bool { return p.pid == self }))
	return spare(withDescendants(all, where(all, func(p process) bool {
		if p.session == leader || p.group == leader {
			return true
		}
		cared := slices.ContainsFunc(ours, func(o process) bool { return o.pid == p.pid })
		return mark != "" && !cared && !kin[p.pid] && marked(p.pid, func(m string) bool { return m == mark })
	})), kin)
}

// kinOf is pid and its ancestors: what must never be ended from here.
func kinOf(all []process, pid int) map[int]bool {
	parent := make(map[int]int, len(all))
	for _, p := range all {
		parent[p.pid] = p.ppid
	}
	kin := map[int]bool{}
	for ; pid > 0 && !kin[pid]; pid = parent[pid] {
		kin[pid] = true
	}
	return kin
}

func spare(all []process, kin map[int]bool) []process {
	return where(all, func(p process) bool { return !kin[p.pid] })
}

// marked says whether the process was started with an SI_RUN that accept takes.
func marked(pid int, accept func(string) bool) bool {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false // gone, or another user's
	}
	defer closeAll(f)
	data, _ := io.ReadAll(io.LimitReader(f, maxEnviron)) // what was read counts; a process that ends meanwhile needs no ending
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		if mark, ok := bytes.CutPrefix(entry, []byte(MarkVariable+"=")); ok && accept(string(mark)) {
			return true
		}
	}
	return false
}

// nameOf is how /proc/PID/fd shows a pipe or socket. A pipe has one name for both ends.
func nameOf(f *os.File) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return ""
	case info.Mode()&os.ModeSocket != 0:
		return fmt.Sprintf("socket:[%d]", st.Ino)
	}
	return fmt.Sprintf("pipe:[%d]", st.Ino)
}

// endHolders ends the processes that still hold the far end of an output after
// the tree of leader has ended. A direct child of this process is passed over:
// it may be one that is just being started and has not closed its copy yet.
func endHolders(link string, leader int) int {
	if link == "" {
		return 0
	}
	self := os.Getpid()
	ended, _ := endAll(func() []process {
		all := processes()
		kin := kinOf(all, self) // this process holds the pipe too, at the end that reads
		holds := where(all, func(p process) bool {
			return p.session == leader || p.ppid != self && !kin[p.pid] && holdsFile(p.pid, link)
		})
		return spare(withDescendants(all, holds), kin)
	}, nil, leftoverGrace, nil)
	return ended
}

func holdsFile(pid int, link string) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		return err == nil && to == link
	})
}
