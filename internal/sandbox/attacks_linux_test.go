package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Names of what is left in a store, and the key of a System V segment.
const (
	memory    = "si-sandbox-memory"
	memoryKey = 0x51515151
)

// remember leaves something in a store of the kernel.
func remember(store string) int {
	var err error
	switch store {
	case "keyring":
		_, err = unix.AddKey("user", memory, []byte("42"), unix.KEY_SPEC_SESSION_KEYRING)
	case "files in memory":
		err = os.WriteFile("/dev/shm/"+memory, []byte("42"), 0o600)
	case "shared memory":
		_, err = unix.SysvShmGet(memoryKey, 4096, unix.IPC_CREAT|0o600)
	case "message queue":
		err = openQueue(unix.O_CREAT)
	}
	return told(err)
}

// recall looks for it.
func recall(store string) int {
	var err error
	switch store {
	case "keyring":
		_, err = unix.KeyctlSearch(unix.KEY_SPEC_SESSION_KEYRING, "user", memory, 0)
	case "files in memory":
		_, err = os.ReadFile("/dev/shm/" + memory)
	case "shared memory":
		_, err = unix.SysvShmGet(memoryKey, 4096, 0o600)
	case "message queue":
		err = openQueue(0)
	}
	return told(err)
}

func openQueue(flags int) error {
	name, err := unix.BytePtrFromString(memory)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), uintptr(flags|unix.O_RDWR), 0o600, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func told(err error) int {
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// What a command leaves in the kernel's own stores does not reach the next command: a
// candidate could remember its answers there, and a user's keys lie in one of them.
func TestTheKernelRemembersNothing(t *testing.T) {
	t.Parallel()
	b := newBox(t, Bubblewrap)
	p := b.profile()
	// As after a login, which gives each session a ring of keys. It belongs to this
	// thread, which ends with the test.
	runtime.LockOSThread()
	newKeyring()
	for _, store := range []string{"keyring", "files in memory", "shared memory", "message queue"} {
		if res := b.child(t, p, "remember", store); res.Code != 0 {
			t.Logf("%s: not tried, it cannot be written here: %s%s", store, res.Stdout.Tail, res.Stderr.Tail)
			continue
		}
		if res := b.child(t, p, "recall", store); res.Code == 0 {
			t.Errorf("%s: the next command finds what was left there", store)
		}
	}
}

// A command gets its three files and no other: one of the program's own would let it
// write to a log or read a prompt of another.
func TestNoFileLeaks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		res := b.sh(t, b.profile(), `for f in /proc/self/fd/*; do [ -e "$f" ] && echo "${f##*/}"; done; exec ls /proc/self/fd`)
		for _, fd := range strings.Fields(string(res.Stdout.Head)) {
			if fd != "0" && fd != "1" && fd != "2" && fd != "3" { // 3 is the folder that is listed
				t.Errorf("descriptor %s is open", fd)
			}
		}
	})
}
