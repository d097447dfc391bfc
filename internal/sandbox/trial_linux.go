package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// ownNamespace names the process namespace of this process.
func ownNamespace() string {
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return name
}

// try tries from inside what a sandbox promises, and prints what it found.
func (o order) try() int {
	runtime.LockOSThread() // Landlock restricts a thread
	if o.Land != nil {
		if err := o.Land.restrict(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return codeCannotRun
		}
	}
	t := o.Trial
	found := tried{
		WriteConfined:  t.canWrite(t.Writable) && !t.canWrite(t.Outside),
		ReadOnlyInside: !opens(t.Fixed.String(), os.O_WRONLY),
		PathsHidden:    t.secretsKept(),
		OwnProcesses:   ownNamespace() != t.Namespace || unix.Kill(t.Process, 0) != nil,
		SamePath:       len(t.Arm) > 0 && opens(t.Arm.String(), os.O_RDONLY),
	}
	if t.Port > 0 {
		found[NetworkOff] = !connects(t.Port)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		return codeCannotRun
	}
	return 0
}

func (t *trial) canWrite(dir pathBytes) bool {
	return opens(filepath.Join(dir.String(), "probe"), os.O_WRONLY|os.O_CREATE)
}

func (t *trial) secretsKept() bool {
	for _, s := range t.Secrets {
		data, err := os.ReadFile(s.String())
		if err == nil && len(data) > 0 {
			return false
		}
	}
	return true
}

func opens(path string, flag int) bool {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// connects uses no poller, because that would connect from another thread.
func connects(port int) bool {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) == nil
}
