package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	landRead  = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	landFile  = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev | ll.AccessFSResolveUnix
	mostRules = 20_000 // a rule holds a folder in kernel memory
)

// landlockVersion is 0 where the kernel has no Landlock, or has it switched off.
func landlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// handled is all that the kernel can refuse, up to what the profile allows.
func handled(abi int, network bool) landlock.Config {
	fs := landlock.AccessFSSet(1<<13 - 1)
	for version, right := range map[int]landlock.AccessFSSet{
		abiRefer: ll.AccessFSRefer, abiTruncate: ll.AccessFSTruncate, abiIoctl: ll.AccessFSIoctlDev, abiUnix: ll.AccessFSResolveUnix,
	} {
		if abi >= version {
			fs |= right
		}
	}
	c := landlock.Config{HandledAccessFS: fs}
	if abi >= abiScope {
		c.Scoped = ll.ScopeSignal
	}
	if network {
		return c
	}
	if abi >= abiTCP {
		c.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	if abi >= abiScope {
		c.Scoped |= ll.ScopeAbstractUnixSocket
	}
	if abi >= abiUDP {
		c.HandledAccessNet |= ll.AccessNetBindUDP | ll.AccessNetConnectSendUDP
	}
	return c
}

// restrict restricts this thread and what it executes. The caller holds the
// thread for good.
func (l *land) restrict() error {
	config := handled(landlockVersion(), l.Network)
	rules, err := l.rules(config.HandledAccessFS)
	if err != nil {
		return fmt.Errorf("prepare Landlock: %w", err)
	}
	fd, flags, err := config.NewRulesetFD(rules...)
	if err != nil {
		return fmt.Errorf("prepare Landlock: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges for Landlock: %w", err)
	}
	if err := ll.LandlockRestrictSelf(fd, flags); err != nil {
		return fmt.Errorf("enforce Landlock: %w", err)
	}
	return nil
}

// allowance collects rules.
type allowance struct {
	hidden  []string
	handled landlock.AccessFSSet
	rules   []landlock.Rule
}

func (l *land) rules(handled landlock.AccessFSSet) ([]landlock.Rule, error) {
	a := &allowance{hidden: []string{"/dev"}, handled: handled}
	for _, h := range l.Hidden {
		a.hidden = append(a.hidden, h.String())
	}
	a.allow("/", ll.AccessFSReadDir) // names; "ls" of a folder with something hidden in it should work
	if err := a.readable("/"); err != nil {
		return nil, err
	}
	for _, v := range l.Visible {
		if err := a.readable(v.String()); err != nil {
			return nil, err
		}
	}
	for _, w := range l.Writable {
		a.allow(w.String(), handled)
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm"} {
		a.allow(filepath.Join("/dev", name), handled)
	}
	for _, d := range l.Devices {
		a.allow(d.String(), handled)
	}
	return a.rules, nil
}

// allow adds a rule for a path that is there; of a file's rights a folder's are no part.
func (a *allowance) allow(path string, rights landlock.AccessFSSet) {
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	if !info.IsDir() {
		rights &= landFile
	}
	if rights &= a.handled; rights != 0 {
		a.rules = append(a.rules, landlock.PathAccess(rights, path).IgnoreIfMissing())
	}
}

// readable allows reading all below path but what is hidden. Links are passed
// over: a rule for one would be a rule for what it leads to.
func (a *allowance) readable(path string) error {
	inside := false
	for _, h := range a.hidden {
		if h == path {
			return nil
		}
		inside = inside || within(h, path)
	}
	if !inside {
		a.allow(path, landRead)
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil //nolint:nilerr // who cannot list it here cannot read it inside either
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			continue
		}
		if err := a.readable(filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	if len(a.rules) > mostRules {
		return fmt.Errorf("the folders around hidden paths have more than %d entries; install bubblewrap", mostRules)
	}
	return nil
}
