package proposals

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"si/internal/durable"
	"si/learn/place"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func anything(string) error { return nil }

func checkout(t *testing.T, hooks durable.Hooks) place.Place {
	t.Helper()
	top := t.TempDir()
	if err := os.WriteFile(filepath.Join(top, "CLAUDE.md"), []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := place.Open(&durable.Store{Hooks: hooks}, top)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func wanted() Proposal {
	return Proposal{Title: "Say it in the rules", Reason: "F-1 shows it", From: []string{"F-1"}, At: noon, Files: []File{
		{Path: "CLAUDE.md", Before: Hash([]byte("old\n")), Content: ptr("new\n")},
		{Path: ".si/hooks/check.sh", Content: ptr("true\n")},
	}}
}

func made(t *testing.T, p place.Place) Proposal {
	t.Helper()
	one, err := Make(t.Context(), p, wanted())
	if err != nil {
		t.Fatal(err)
	}
	return one
}

func text(t *testing.T, p place.Place, name string) string {
	t.Helper()
	data, err := p.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestApproveWritesWhatWasShown(t *testing.T) {
	p := checkout(t, durable.Hooks{})
	one := made(t, p)
	if one.ID != "P-1" || text(t, p, "CLAUDE.md") != "old\n" {
		t.Fatalf("making one changed something: %+v", one)
	}
	done, err := Approve(t.Context(), p, "P-1", noon, anything)
	if err != nil || done.State != Approved || text(t, p, "CLAUDE.md") != "new\n" || text(t, p, ".si/hooks/check.sh") != "true\n" {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := Approve(t.Context(), p, "P-1", noon, anything); err == nil {
		t.Error("it was approved twice")
	}
	if _, err := Reject(t.Context(), p, "P-1", "no", noon); err == nil {
		t.Error("what was approved was rejected")
	}
}

func TestApproveRefusesWhatChanged(t *testing.T) {
	p := checkout(t, durable.Hooks{})
	made(t, p)
	if err := os.WriteFile(filepath.Join(p.Top(), "CLAUDE.md"), []byte("a person's\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Approve(t.Context(), p, "P-1", noon, anything)
	if !errors.Is(err, ErrChanged) || text(t, p, "CLAUDE.md") != "a person's\n" || text(t, p, ".si/hooks/check.sh") != "" {
		t.Errorf("%v", err)
	}
}

func TestApproveAsksThePolicyAgain(t *testing.T) {
	p := checkout(t, durable.Hooks{})
	made(t, p)
	_, err := Approve(t.Context(), p, "P-1", noon, func(path string) error {
		if path == ".si/hooks/check.sh" {
			return errors.New("KERNEL now")
		}
		return nil
	})
	if err == nil || text(t, p, "CLAUDE.md") != "old\n" {
		t.Errorf("a path that is KERNEL was written: %v", err)
	}
}

func TestRejectionIsRemembered(t *testing.T) {
	p := checkout(t, durable.Hooks{})
	made(t, p)
	if _, err := Reject(t.Context(), p, "P-1", " ", noon); err == nil {
		t.Error("a rejection without a reason")
	}
	if _, err := Reject(t.Context(), p, "P-1", "we do not\nwant that", noon); err != nil {
		t.Fatal(err)
	}
	old, err := Make(t.Context(), p, wanted())
	if !errors.Is(err, ErrKnown) || old.Said != "we do not want that" {
		t.Errorf("it was proposed again: %+v, %v", old, err)
	}
	other := wanted()
	other.Files[0].Content = ptr("other\n")
	if one, err := Make(t.Context(), p, other); err != nil || one.ID != "P-2" {
		t.Errorf("%+v, %v", one, err)
	}
}

func TestHostileProposals(t *testing.T) {
	for name, change := range map[string]func(*Proposal){
		"a path outside":    func(p *Proposal) { p.Files[0].Path = "../x" },
		"an absolute path":  func(p *Proposal) { p.Files[0].Path = "/etc/passwd" },
		"a crooked path":    func(p *Proposal) { p.Files[0].Path = "a/../b" },
		"no file":           func(p *Proposal) { p.Files = nil },
		"a huge file":       func(p *Proposal) { p.Files[0].Content = ptr(strings.Repeat("x", maxContent+1)) },
		"no title":          func(p *Proposal) { p.Title = "\x1b[2J" },
		"hundreds of files": func(p *Proposal) { p.Files = make([]File, 300) },
	} {
		t.Run(name, func(t *testing.T) {
			p := checkout(t, durable.Hooks{})
			one := wanted()
			change(&one)
			if _, err := Make(t.Context(), p, one); err == nil {
				t.Error("it was taken")
			}
		})
	}
	p := checkout(t, durable.Hooks{})
	made(t, p)
	for name, data := range map[string]string{"P-2.json": "{", "P-3.json": `{"id":"P-4"}`, "x.json": `{"id":"P-9","state":"pending"}`} {
		if err := os.WriteFile(filepath.Join(p.Top(), ".si/proposals", name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, faults, err := List(p)
	if err != nil || len(all) != 1 || len(faults) != 3 {
		t.Errorf("%+v, %q, %v", all, faults, err)
	}
	other := wanted()
	other.Files[0].Content = nil
	if one, err := Make(t.Context(), p, other); err != nil || one.ID != "P-4" { // P-2 and P-3 are in use, readable or not
		t.Errorf("%+v, %v", one, err)
	}
}

func TestFollowTakesDecisionsOver(t *testing.T) {
	loop, person := checkout(t, durable.Hooks{}), checkout(t, durable.Hooks{})
	one := made(t, loop)
	if err := Keep(t.Context(), person, one); err != nil {
		t.Fatal(err)
	}
	if taken, _, err := Follow(t.Context(), loop, person, anything); err != nil || len(taken) != 0 {
		t.Fatalf("nothing was decided: %+v, %v", taken, err)
	}
	if _, err := Approve(t.Context(), person, "P-1", noon, anything); err != nil {
		t.Fatal(err)
	}
	taken, faults, err := Follow(t.Context(), loop, person, anything)
	if err != nil || len(taken) != 1 || len(faults) > 0 || text(t, loop, "CLAUDE.md") != "new\n" {
		t.Errorf("%+v, %q, %v", taken, faults, err)
	}
	if taken, _, _ := Follow(t.Context(), loop, person, anything); len(taken) > 0 {
		t.Errorf("taken over twice: %+v", taken)
	}
}

// killed stands in for the death of the process.
type killed struct{}

// TestApproveKilledAtEachWrite stops at each write and approves again.
func TestApproveKilledAtEachWrite(t *testing.T) {
	for at := 1; ; at++ {
		n, armed := 0, false
		stop := func(durable.Op, string) {
			if n++; armed && n == at {
				panic(killed{})
			}
		}
		p := checkout(t, durable.Hooks{Before: stop, After: stop})
		made(t, p)
		n, armed = 0, true
		died := func() (died bool) {
			defer func() {
				if r := recover(); r != nil {
					if _, ok := r.(killed); !ok {
						panic(r)
					}
					died = true
				}
			}()
			_, err := Approve(t.Context(), p, "P-1", noon, anything)
			if err != nil {
				t.Fatal(err)
			}
			return false
		}()
		armed = false
		if !died {
			if at < 6 {
				t.Fatalf("only %d points", at)
			}
			return
		}
		one, err := Get(p, "P-1")
		if err != nil {
			t.Fatalf("at %d: %v", at, err)
		}
		if one.State == Pending {
			one, err = Approve(t.Context(), p, "P-1", noon, anything)
		}
		if err != nil || one.State != Approved || text(t, p, "CLAUDE.md") != "new\n" || text(t, p, ".si/hooks/check.sh") != "true\n" {
			t.Errorf("at %d: %+v, %v", at, one, err)
		}
	}
}
