package sandbox

import (
	"os"
	"path/filepath"
)

// Names inside the sandbox's own /dev, which is empty but for the usual devices.
const (
	selfInside    = "/dev/.si-self"
	startedInside = "/dev/.si-started"
)

// bwrapFlags start the program self, which stays the first process of the process
// namespace: bubblewrap's own one would hide the command's CPU time and memory
// from the supervisor's wait, and without one the command would be the first
// process itself, for which signals have no default effect.
//
// The supervisor gives each command a session without a terminal, so that
// --new-session is not needed.
func bwrapFlags(p Profile, r resolved, keepUserns bool) ([]string, error) {
	plan, err := mounts(r)
	if err != nil {
		return nil, err
	}
	flags := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL",
		"--die-with-parent", "--as-pid-1",
	}
	if !p.Network {
		flags = append(flags, "--unshare-net")
	}
	if !p.Nested && !keepUserns {
		flags = append(flags, "--disable-userns")
	}
	if p.Nested && os.Geteuid() == 0 {
		// Since Linux 5.12 nobody maps root into a user namespace without it. It lets
		// a command make files that give rights, as root's command can by their mode.
		flags = append(flags, "--cap-add", "CAP_SETFCAP")
	}
	flags = append(flags, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	for _, c := range kernelSettings("/proc") {
		flags = append(flags, "--ro-bind", c, c)
	}
	for _, d := range r.devices {
		flags = append(flags, "--dev-bind-try", d, d)
	}
	return append(flags, mountFlags(plan)...), nil
}

// kernelSettings are the parts of /proc that are about the machine and not about
// a process. Root may write to them without any capability, because it owns them:
// to kernel.core_pattern for example, which names a program that the kernel runs.
// Bubblewrap covers those folders only which are themselves writable.
func kernelSettings(root string) []string {
	if os.Geteuid() != 0 {
		return nil // and a covered /proc would keep a nested sandbox from mounting its own
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		info, err := e.Info()
		isProcess := e.Name()[0] >= '0' && e.Name()[0] <= '9'
		if err == nil && !isProcess && (e.IsDir() || info.Mode().IsRegular() && info.Mode().Perm()&0o222 != 0) {
			out = append(out, filepath.Join(root, e.Name()))
		}
	}
	return out
}

func mountFlags(plan []mount) []string {
	var flags, last []string
	for _, m := range plan {
		switch {
		case m.use == hidden && !isFolder(m.from):
			// Without permission for devices the null device cannot even be opened.
			flags = append(flags, "--ro-bind", os.DevNull, m.at)
		case m.use == hidden:
			flags = append(flags, "--tmpfs", m.at)
			last = append(last, "--remount-ro", m.at) // when the places in it have been made
		case m.use == private:
			flags = append(flags, "--tmpfs", m.at)
		case m.use == readOnly:
			flags = append(flags, "--ro-bind", m.from, m.at)
		default:
			flags = append(flags, "--bind", m.from, m.at)
		}
	}
	return append(flags, last...)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// findBwrap looks in the absolute folders of path only: a relative one would let
// a repository bring its own.
func findBwrap(path string) (string, bool) {
	for _, dir := range filepath.SplitList(path) {
		full := filepath.Join(dir, "bwrap")
		info, err := os.Stat(full)
		if filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return full, true
		}
	}
	return "", false
}
