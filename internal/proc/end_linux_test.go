package proc

import (
	"os/exec"
	"testing"
	"time"
)

// TestAnEmptyTableIsNoProof: a process that forks and ends while the table is read is
// missed together with its child. Who knows better is asked before nothing is believed.
func TestAnEmptyTableIsNoProof(t *testing.T) {
	t.Parallel()
	for name, proof := range map[string]bool{"where the kernel tells": true, "where a second look must do": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			missed := exec.Command("sleep", "1000")
			if err := missed.Start(); err != nil {
				t.Fatal(err)
			}
			waited := make(chan struct{})
			go func() {
				defer close(waited)
				_ = missed.Wait()
			}()
			defer func() {
				_ = missed.Process.Kill()
				<-waited
			}()
			looks := 0
			find := func() []process {
				if looks++; looks == 1 || closed(waited) {
					return nil
				}
				p, err := readProcess(missed.Process.Pid)
				if err != nil || !p.alive() {
					return nil
				}
				return []process{p}
			}
			var gone func() bool
			if proof {
				gone = func() bool { return closed(waited) }
			}
			if ended, left := endAll(find, gone, time.Minute, nil); ended != 1 || left != 0 {
				t.Errorf("%d ended, %d left, want the one that was missed at first", ended, left)
			}
		})
	}
}
