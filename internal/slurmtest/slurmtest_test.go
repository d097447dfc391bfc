package slurmtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The script is checked by the shell that will run it, also where no Slurm is.
func TestScriptParses(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-n")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestScriptRefusesWhatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir() + "/none"
	for _, args := range [][]string{{}, {"up"}, {"up", dir}, {"away", dir}, {"drop", dir}} {
		cmd := exec.Command("/bin/sh", append([]string{"-c", script, "slurm.sh"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "usage:") {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
	if out, err := exec.Command("/bin/sh", "-c", script, "slurm.sh", "down", dir).CombinedOutput(); err != nil {
		t.Errorf("down of nothing: %v, %s", err, out)
	}
}

func TestFreePortsAreFree(t *testing.T) {
	port, err := freePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port+1))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if allFree(port, 3) {
		t.Error("a port in use passed for free")
	}
}

func TestStartAndStop(t *testing.T) {
	var dir string
	t.Run("a cluster", func(t *testing.T) {
		c := Start(t, 2)
		dir = c.dir
		if out := c.Run(t, "srun", "-N2", "hostname"); len(strings.Fields(out)) != 2 {
			t.Errorf("srun on two nodes printed %q", out)
		}
		c.Drop(t, c.Nodes[1])
		c.Raise(t, c.Nodes[1])
		if out := c.Run(t, "srun", "-w", c.Nodes[1], "printenv", "SLURMD_NODENAME"); strings.TrimSpace(out) != c.Nodes[1] {
			t.Errorf("after a restart of the node: %q", out)
		}
	})
	if dir == "" {
		return
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is left")
	}
	if out, err := exec.Command("pgrep", "-f", dir+"/").CombinedOutput(); err == nil {
		t.Errorf("processes are left: %s", out)
	}
}
