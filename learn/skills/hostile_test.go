package skills

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestLinksThatComeAndGo: a folder changes places with a link to another's while the
// library looks. What lies behind the link is never shown, whenever it was made.
func TestLinksThatComeAndGo(t *testing.T) {
	w := newWorld(t)
	w.create("a", ByUser)
	w.write("secrets/x.md", "secret")
	dir := filepath.Join(w.Dir(), "a")
	w.write("base/skills/a/refs/x.md", "plain")
	w.must(os.Symlink(filepath.Join(w.dir, "secrets"), filepath.Join(dir, "link")))
	stop := make(chan struct{})
	var flips sync.WaitGroup
	flips.Go(func() {
		at := func(name string) string { return filepath.Join(dir, name) }
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, m := range [][2]string{{"refs", "real"}, {"link", "refs"}, {"refs", "link"}, {"real", "refs"}} {
				if err := os.Rename(at(m[0]), at(m[1])); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	shown, refused := 0, 0
	for shown+refused < 20_000 && (shown < 50 || refused < 50) {
		switch got, err := w.quickView("a", "refs/x.md"); {
		case strings.Contains(got, "secret"):
			t.Fatal("the secret was shown")
		case err != nil:
			refused++
		default:
			shown++
		}
	}
	close(stop)
	flips.Wait()
	if shown == 0 || refused == 0 {
		t.Errorf("shown %d times, refused %d times: nothing was tried", shown, refused)
	}
}

// quickView is what View does to a file, without the count.
func (w *world) quickView(name, file string) (string, error) {
	r, err := openRooted(filepath.Join(w.Dir(), name), w.hooks)
	if err != nil {
		return "", err
	}
	defer r.close()
	return readFile(r, file)
}

// TestFullDisk: a backup that finds no room is no backup, and without one there is no
// pass. The room is that of a limit on the size of files, in a process of its own.
func TestFullDisk(t *testing.T) {
	for _, room := range []int{0, 100, 4 << 10, 200 << 10} {
		t.Run(fmt.Sprint(room, " bytes"), func(t *testing.T) {
			base := crashLibrary(t)
			random := rand.NewChaCha8([32]byte{})
			data := make([]byte, 1<<20)
			_, _ = random.Read(data) // never fails
			if err := os.WriteFile(filepath.Join(base, "skills", "c", "asset"), data, 0o644); err != nil {
				t.Fatal(err)
			}
			backups := func() string {
				names, err := filepath.Glob(filepath.Join(base, backupsDir, "*"))
				hidden, _ := filepath.Glob(filepath.Join(base, backupsDir, ".*"))
				return fmt.Sprint(names, hidden, err)
			}
			before, kept := library(t, base), backups()
			t.Setenv("DOOM_ROOM", fmt.Sprint(room))
			out, err := runDoomed(base, "pass", "")
			if err == nil || !strings.Contains(out, "file too large") {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := library(t, base); got != before {
				t.Error("the library changed")
			}
			if got := backups(); got != kept {
				t.Errorf("backups %s, before %s", got, kept)
			}
			t.Setenv("DOOM_ROOM", "")
			if out, err := runDoomed(base, "pass", ""); err != nil || library(t, base) == before {
				t.Errorf("with room again: %v\n%s", err, out)
			}
		})
	}
}

// TestErasedIsGone: a skill that is erased leaves its name free, also where the archive
// had one.
func TestErasedIsGone(t *testing.T) {
	w := newWorld(t)
	w.create("a", ByUser)
	w.must(w.Delete(t.Context(), "a", true))
	if err := w.Restore(t.Context(), "a"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	w.create("a", ByAgent)
}

// TestASkillHoldsNoKey: a key that an agent saw is in no skill for the next one.
func TestASkillHoldsNoKey(t *testing.T) {
	w := newWorld(t)
	key := "Use ghp_" + strings.Repeat("a1", 18)
	if err := w.Create(t.Context(), "a", ByAgent, Fields{Description: ptr("d"), Body: &key}); err == nil || !strings.Contains(err.Error(), "a token of GitHub") || w.names() != "" {
		t.Errorf("%v", err)
	}
	w.create("b", ByAgent)
	if err := w.Patch(t.Context(), "b", Fields{Description: &key}); err == nil || !strings.Contains(err.Error(), "a token of GitHub") {
		t.Errorf("%v", err)
	}
}
