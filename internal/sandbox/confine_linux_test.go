package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"si/internal/proc"
)

func TestWritesAreConfined(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		p := b.profile()
		b.wants(t, p, `echo a >made && mkdir -p sub/deep && mv made sub/deep/ && rm -r sub && echo b >"$TMPDIR/x" && echo c >"$HOME/y" && echo d >/dev/null`)
		mustWrite(t, filepath.Join(b.outside, "old"), "old")
		b.refuses(t, p,
			`echo evil >"$ROOT/outside/new"`, `echo evil >"$ROOT/outside/old"`, `rm "$ROOT/outside/old"`,
			`mv "$ROOT/outside/old" .`, `ln "$ROOT/outside/old" hard`, `mkdir "$ROOT/outside/dir"`, `: >"$ROOT/evil"`,
		)
		if got := mustRead(t, filepath.Join(b.outside, "old")); got != "old" {
			t.Errorf("the file outside is now %q", got)
		}
		if got := mustRead(t, filepath.Join(b.home, "y")); got != "c\n" {
			t.Errorf("what was written to HOME is %q on the machine", got)
		}
	})
}

// The shared folders look empty, and what is written to them goes away.
func TestSharedFoldersArePrivate(t *testing.T) {
	t.Parallel()
	b := newBox(t, Bubblewrap)
	name := fmt.Sprintf("/tmp/si-sandbox-test-%d", os.Getpid())
	mustWrite(t, b.at("old"), "old")
	p := b.profile()
	p.Private = sharedFolders()
	b.wants(t, p, `echo x >`+name+` && test -s `+name+` && echo x >made && test ! -e "$ROOT/old"`)
	if got := mustRead(t, filepath.Join(b.tree, "made")); got != "x\n" {
		t.Errorf("the tree in the private folder is not the machine's: %q", got)
	}
	if _, err := os.Stat(name); err == nil {
		os.Remove(name)
		t.Error("the file is on the machine")
	}
}

func TestReadOnlyPathsInsideTheTree(t *testing.T) {
	t.Parallel()
	b := newBox(t, Bubblewrap)
	p := b.profile()
	sealed := filepath.Join(b.tree, "bench/data/sealed.txt")
	mustWrite(t, sealed, "true")
	mustWrite(t, filepath.Join(b.tree, "bench/free.txt"), "free")
	p.ReadOnly = append(p.ReadOnly, sealed)
	b.refuses(t, p,
		`echo evil >.git/config`, `echo evil >.git/hooks/pre-commit`, `mv .git .git2`, `rm -rf .git`, `git config user.name evil`,
		`echo evil >bench/data/sealed.txt`, `rm bench/data/sealed.txt`, `mv bench/data/sealed.txt moved`, `ln bench/data/sealed.txt x`,
		`mv bench bench2`, `mv bench/data bench/data2`, `rm -rf bench/data`, `chmod 777 bench/data/sealed.txt`, `: >other && mv other bench/data/sealed.txt`,
	)
	b.wants(t, p, `git status >/dev/null && test "$(cat bench/data/sealed.txt)" = true && rm bench/free.txt && echo x >bench/data/new && mv bench/data/new bench/data/newer`)
}

// Landlock cannot do it, and says so.
func TestLandlockReportsWhatItCannot(t *testing.T) {
	t.Parallel()
	b := newBox(t, Landlock)
	for _, p := range []Promise{ReadOnlyInside, SamePath, ProcessLimit} {
		if b.Sandbox.Report().Enforces(p) {
			t.Errorf("%s: reported as enforced", p)
		}
	}
	p := b.profile()
	p.Hidden = append(p.Hidden, filepath.Join(b.tree, ".git"))
	if _, err := b.Run(t.Context(), b.command(p, "true")); err == nil {
		t.Error("a hidden path in a writable folder was accepted")
	}
	p = b.profile()
	p.Bind = []proc.Bind{{From: b.tree, To: b.outside}}
	if _, err := b.Run(t.Context(), b.command(p, "true")); err == nil {
		t.Error("a bind was accepted")
	}
}

func TestHiddenPaths(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		held, shown := b.at("held/out"), b.at("held/out/of/shown")
		mustWrite(t, held+"/answers", "42")
		mustWrite(t, shown+"/file", "shown")
		mustWrite(t, b.at("userhome/.ssh/id_ed25519"), "key")
		mustWrite(t, b.at("userhome/.claude.json"), "token")
		mustWrite(t, b.at("userhome/code/main.c"), "int main;")
		if err := os.Symlink(held, b.at("link")); err != nil {
			t.Fatal(err)
		}
		p := b.profile() // after the files: the tables are matched against what is there
		p.Hidden = append(p.Hidden, b.at("link"), b.at("held/out/answers"), b.at("not/there"), b.at("userhome/code/main.c/not"))
		p.ReadOnly = append(p.ReadOnly, shown)
		b.refuses(t, p,
			`cat "$ROOT/held/out/answers"`, `cat "$ROOT/link/answers"`, `cat "$ROOT/userhome/.ssh/id_ed25519"`,
			`cat "$ROOT/userhome/.claude.json"`, `echo x >"$ROOT/held/out/new"`, `rm -r "$ROOT/userhome/.ssh"`,
		)
		b.wants(t, p, `ls "$ROOT/userhome" >/dev/null && test "$(cat "$ROOT/held/out/of/shown/file")" = shown && cat "$ROOT/userhome/code/main.c"`)
		b.refuses(t, p, `echo x >"$ROOT/held/out/of/shown/file"`)
		b.sh(t, p, `cp -r "$ROOT/held" "$ROOT/userhome" .`)
		for _, name := range []string{"held/out/answers", "userhome/.ssh/id_ed25519", "userhome/.claude.json"} {
			if data, err := os.ReadFile(filepath.Join(b.tree, name)); err == nil && len(data) > 0 {
				t.Errorf("%s was copied: %q", name, data)
			}
		}
	})
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
		p := b.profile()
		if res := b.child(t, p, "dial", port); res.Code != 1 {
			t.Errorf("the machine's loopback was reached: %d", res.Code)
		}
		p.Network = true
		if res := b.child(t, p, "dial", port); res.Code != 0 {
			t.Errorf("with network: code %d\n%s", res.Code, res.Stderr.Tail)
		}
	})
}

func TestOtherProcessesAreOutOfReach(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		if b.Sandbox.Report().Kind == Landlock && landlockVersion() < abiScope {
			t.Skip("this kernel's Landlock does not refuse signals")
		}
		victim := exec.Command("sleep", "60")
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
		b.sh(t, b.profile(), fmt.Sprintf("kill -9 %d", victim.Process.Pid))
		if err := victim.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("the process has ended: %v", err)
		}
		// A zombie can be signalled too.
		stat := mustRead(t, fmt.Sprintf("/proc/%d/stat", victim.Process.Pid))
		if containsAny(stat, ") Z") {
			t.Error("the process was killed")
		}
	})
}

func TestRightsOfRootAreGone(t *testing.T) {
	t.Parallel()
	b := newBox(t, Bubblewrap)
	mustMkdir(t, b.at("veil"))
	p := b.profile()
	p.Hidden = append(p.Hidden, b.at("veil"))
	for _, at := range []string{filepath.Join(b.tree, ".git"), b.at("veil")} {
		if res := b.child(t, p, "umount", at); res.Code != 1 {
			t.Errorf("umount %s: code %d %s", at, res.Code, res.Stdout.Tail)
		}
	}
	// The sandbox's first process belongs to the same user.
	b.refuses(t, p, `cat /proc/1/environ`)
	// Never where the first process could be the machine's.
	b.wants(t, p, `[ "$(readlink /proc/self/ns/pid)" != "`+ownNamespace()+`" ] && { kill -9 1; kill -TERM 1; kill -STOP 1; true; }`)
	if res := b.sh(t, p, `grep Cap /proc/self/status | cut -f2 | sort -u`); trimmed(res.Stdout.Head) != "0000000000000000" {
		t.Errorf("capabilities are left: %s", res.Stdout.Head)
	}
	b.refuses(t, p, `mount --bind "$TMPDIR" /mnt || { echo "not permitted"; false; }`, `mknod disk b 8 0`, `chmod 755 /etc`)
}

// Root owns the machine's settings and needs no capability to write to them;
// bubblewrap alone leaves /proc/sys writable to it.
func TestTheMachinesSettingsAreReadOnly(t *testing.T) {
	t.Parallel()
	b := newBox(t, Bubblewrap)
	agent := Agent(User{}, AgentPlaces{Clone: b.tree, Tmp: b.tmp})
	agent.Private = nil
	for _, p := range []Profile{b.profile(), agent} {
		b.refuses(t, p,
			`cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern`, `echo 1 >/proc/sys/vm/drop_caches`,
			`echo h >/proc/sysrq-trigger`, `mkdir /sys/fs/cgroup/si-sandbox-test`,
		)
	}
}

func TestNesting(t *testing.T) {
	t.Parallel()
	b := newBox(t, Bubblewrap)
	script := `bwrap --ro-bind / / --dev /dev --unshare-user --unshare-pid --die-with-parent true`
	if b.Sandbox.Report().Enforces(NoNesting) {
		if res := b.sh(t, b.profile(), script); res.Code == 0 {
			t.Error("a sandbox was made inside the benchmark's")
		}
	}
	agent := Agent(User{Home: b.at("userhome")}, AgentPlaces{Clone: b.tree, Tmp: b.tmp})
	agent.Private = nil
	b.wants(t, agent, script)
	if os.Geteuid() != 0 { // for root it could write to the machine's settings
		b.wants(t, agent, `bwrap --ro-bind / / --dev /dev --proc /proc --unshare-user --unshare-pid --die-with-parent true`)
	}
	b.refuses(t, agent, `bwrap --bind / / --unshare-user sh -c 'echo evil >"$ROOT/evil"'`)
}
