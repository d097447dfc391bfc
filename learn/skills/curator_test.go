package skills

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func (w *world) curator() *Curator { return NewCurator(w.Library, Aging{}) }

func (w *world) days(n float64) { w.time = w.time.Add(time.Duration(n * 24 * float64(time.Hour))) }

// pass makes a pass and says what it did.
func (w *world) pass() string {
	w.t.Helper()
	r, err := w.curator().Run(w.t.Context())
	w.must(err)
	if (len(r.Moves) > 0) != (r.Backup != "") {
		w.t.Errorf("%d moves, backup %q", len(r.Moves), r.Backup)
	}
	return moves(r.Moves)
}

func moves(all []Move) string {
	var out []string
	for _, m := range all {
		out = append(out, fmt.Sprintf("%s:%s-%s", m.Name, m.From, m.To))
	}
	return strings.Join(out, " ")
}

func (w *world) use(name string) {
	w.t.Helper()
	w.must(w.NoteUses(w.t.Context(), []string{name}, Caller{Task: "t"}))
}

// TestLifeCycle: active, stale, used again, stale, archived, brought back.
func TestLifeCycle(t *testing.T) {
	w := newWorld(t)
	w.create("a", ByAgent)
	for _, step := range []struct {
		days float64
		use  bool
		want string
	}{
		{29.75, false, ""},
		{0.25, false, "a:active-stale"},
		{1, false, ""},
		{0, true, ""}, // the use itself made it active
		{30, false, "a:active-stale"},
		{59.75, false, ""},
		{0.25, false, "a:stale-archived"},
		{100, false, ""},
	} {
		w.days(step.days)
		if step.use {
			w.use("a")
		}
		if got := w.pass(); got != step.want {
			t.Errorf("after %v days: %q, want %q", step.days, got, step.want)
		}
	}
	if w.names() != "" {
		t.Error("the archived skill is in the list")
	}
	archived, err := w.Archived()
	if err != nil || len(archived) != 1 || archived[0].State != Archived || archived[0].UseCount != 1 {
		t.Fatalf("%+v %v", archived, err)
	}
	backup, kept, err := w.curator().Rollback(t.Context(), "")
	w.must(err)
	if info, err := w.Find("a"); err != nil || info.State != Stale || info.UseCount != 1 {
		t.Errorf("rolled back to %s: %+v %v", backup.Name, info, err)
	}
	if _, err := os.Stat(filepath.Join(kept, archiveDir, "a", fileName)); err != nil {
		t.Errorf("what was replaced is not kept: %v", err)
	}
	w.must(w.Delete(t.Context(), "a", false))
	w.must(w.Restore(t.Context(), "a"))
	if info, err := w.Find("a"); err != nil || info.State != Active {
		t.Errorf("restored: %+v %v", info, err)
	}
	if got := w.pass(); got != "" {
		t.Errorf("a pass right after a restore: %q", got)
	}
}

func TestOnlyTheReviewersSkillsAge(t *testing.T) {
	w := newWorld(t)
	w.create("agents", ByAgent)
	w.create("users", ByUser)
	w.create("pinned", ByAgent)
	w.must(w.Pin(t.Context(), "pinned", true))
	agents := "---\nname: %s\ndescription: d\nmetadata:\n  created_by: agent\n---\n"
	w.write("home/external/SKILL.md", fmt.Sprintf(agents, "external"))
	w.write("repo/.si/skills/learned/SKILL.md", fmt.Sprintf(agents, "learned"))
	w.write("base/skills/uncounted/SKILL.md", fmt.Sprintf(agents, "uncounted"))
	w.days(365)
	if got := w.pass(); got != "agents:active-stale" {
		t.Errorf("first pass: %q", got)
	}
	w.days(365)
	if got := w.pass(); got != "agents:stale-archived uncounted:active-stale" {
		t.Errorf("second pass: %q", got)
	}
	w.must(w.Pin(t.Context(), "pinned", false))
	if got := w.pass(); got != "pinned:active-stale" {
		t.Errorf("unpinned: %q", got)
	}
}

// TestAClockThatJumps: a year ahead for one pass makes skills stale, which a use
// mends, and archives none; a clock that is set back stops nothing for ever.
func TestAClockThatJumps(t *testing.T) {
	w := newWorld(t)
	w.create("a", ByAgent)
	w.create("b", ByAgent)
	start := w.time
	w.days(3650)
	if got := w.pass(); got != "a:active-stale b:active-stale" {
		t.Errorf("ahead: %q", got)
	}
	if got := w.pass(); got != "" {
		t.Errorf("ahead, once more: %q", got)
	}
	w.use("a") // ten years ahead
	w.time = start.Add(time.Hour)
	if got := w.pass(); got != "b:stale-active" {
		t.Errorf("back: %q", got)
	}
	w.days(29)
	if got := w.pass(); got != "" {
		t.Errorf("29 days after: %q", got)
	}
	w.days(2)
	if got := w.pass(); got != "a:active-stale b:active-stale" {
		t.Errorf("31 days after: %q", got)
	}
}

func TestWhenAPassIsDue(t *testing.T) {
	w := newWorld(t)
	c := w.curator()
	due := func() bool {
		_, ran, err := c.RunIfDue(t.Context())
		w.must(err)
		return ran
	}
	day := func() bool { // a run of an hour, as every evening
		w.days(23.0 / 24)
		w.must(c.NoteActivity(t.Context()))
		w.days(1.0 / 24)
		return due()
	}
	if due() {
		t.Error("before the store was used")
	}
	w.must(c.NoteActivity(t.Context()))
	for n := 1; n <= 6; n++ {
		if day() {
			t.Errorf("on day %d", n)
		}
	}
	if !day() {
		t.Error("not on day 7")
	}
	for n := 1; n <= 6; n++ {
		if day() {
			t.Errorf("on day %d after", n)
		}
	}
	if !day() {
		t.Error("not on day 7 after")
	}
	for range 24 * 8 { // eight days without two idle hours
		w.days(1.0 / 24)
		w.must(c.NoteActivity(t.Context()))
		if due() {
			t.Fatal("without a rest")
		}
	}
	w.days(1.9 / 24)
	if due() {
		t.Error("after 1.9 hours")
	}
	w.days(0.1 / 24)
	if !due() {
		t.Error("not after two idle hours")
	}
	w.time = w.time.Add(-1000 * 24 * time.Hour)
	w.must(c.NoteActivity(t.Context()))
	w.days(8)
	if !due() {
		t.Error("not after the clock was set back")
	}
}

func TestNothingToDoMakesNoBackup(t *testing.T) {
	w := newWorld(t)
	w.create("a", ByAgent)
	w.pass()
	plan, err := w.curator().Plan()
	if err != nil || len(plan) != 0 {
		t.Error(plan, err)
	}
	w.days(31)
	if plan, err := w.curator().Plan(); err != nil || moves(plan) != "a:active-stale" {
		t.Error(plan, err)
	}
	if b, err := w.Backups(); err != nil || len(b) != 0 {
		t.Errorf("backups: %v %v", b, err)
	}
	if info, _ := w.Find("a"); info.State != Active {
		t.Error("the plan changed it")
	}
}

func TestBackupsKeepFive(t *testing.T) {
	w := newWorld(t)
	w.create("a", ByAgent)
	for i := range 8 {
		w.time = w.time.Add(-time.Minute) // by number, not by date
		_, err := w.backup()
		w.must(err)
		b, err := w.Backups()
		if err != nil || len(b) != min(i+1, 5) || b[0].seq != i+1 || b[0].Size == 0 {
			t.Fatalf("%d: %+v %v", i, b, err)
		}
	}
	if _, _, err := w.curator().Rollback(t.Context(), "skills-000001-x.tar.gz"); err == nil || !strings.Contains(err.Error(), "no backup") {
		t.Error(err)
	}
}

// TestBackupIsVerified: a copy that differs from the library is not a backup.
func TestBackupIsVerified(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, w *world, archive string){
		"a file changed": func(t *testing.T, w *world, _ string) {
			t.Helper()
			w.write("base/skills/a/SKILL.md", skillText("a", "x"))
		},
		"a file is gone": func(t *testing.T, w *world, _ string) {
			t.Helper()
			w.must(os.Remove(filepath.Join(w.Dir(), "a/SKILL.md")))
		},
		"the end is missing": func(t *testing.T, w *world, archive string) {
			t.Helper()
			info, err := os.Stat(archive)
			w.must(err)
			w.must(os.Truncate(archive, info.Size()-12))
		},
		"a bit is wrong": func(t *testing.T, w *world, archive string) {
			t.Helper()
			data, err := os.ReadFile(archive)
			w.must(err)
			data[len(data)/2] ^= 4
			w.must(os.WriteFile(archive, data, 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create("a", ByAgent)
			archive := filepath.Join(w.dir, "x.tar.gz")
			names, err := w.writeArchive(archive)
			w.must(err)
			w.must(verify(archive, w.Dir(), names))
			spoil(t, w, archive)
			if err := verify(archive, w.Dir(), names); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestNoBackupNoPass(t *testing.T) {
	w := newWorld(t)
	w.create("a", ByAgent)
	w.days(31)
	w.must(os.MkdirAll(w.base, 0o755))
	w.must(os.WriteFile(filepath.Join(w.base, backupsDir), nil, 0o644)) // a file where the folder belongs
	if _, err := w.curator().Run(t.Context()); err == nil {
		t.Error("no error")
	}
	if info, err := w.Find("a"); err != nil || info.State != Active {
		t.Errorf("%+v %v", info, err)
	}
}

// TestRollbackRefuses: an archive that would write elsewhere, or is no archive, leaves
// the library as it is.
func TestRollbackRefuses(t *testing.T) {
	entry := func(h tar.Header) func(*tar.Writer) error {
		return func(tw *tar.Writer) error { return tw.WriteHeader(&h) }
	}
	for name, fill := range map[string]func(*tar.Writer) error{
		"up":       entry(tar.Header{Name: "../evil", Typeflag: tar.TypeReg}),
		"absolute": entry(tar.Header{Name: "/tmp/evil", Typeflag: tar.TypeReg}),
		"device":   entry(tar.Header{Name: "dev", Typeflag: tar.TypeChar}),
		"hardlink": entry(tar.Header{Name: "x", Linkname: "/etc/passwd", Typeflag: tar.TypeLink}),
		"through a link": func(tw *tar.Writer) error {
			if err := tw.WriteHeader(&tar.Header{Name: "l", Linkname: "/tmp", Typeflag: tar.TypeSymlink}); err != nil {
				return err
			}
			return tw.WriteHeader(&tar.Header{Name: "l/evil", Typeflag: tar.TypeReg})
		},
		"torn": func(tw *tar.Writer) error {
			return tw.WriteHeader(&tar.Header{Name: "x", Size: 10, Typeflag: tar.TypeReg})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create("a", ByAgent)
			w.must(os.MkdirAll(w.at(backupsDir), 0o755))
			f, err := os.Create(filepath.Join(w.at(backupsDir), "skills-000001-20260101T000000Z.tar.gz"))
			w.must(err)
			zipped := gzip.NewWriter(f)
			tw := tar.NewWriter(zipped)
			w.must(fill(tw))
			_ = tw.Close() // the torn one cannot be closed
			w.must(zipped.Close())
			w.must(f.Close())
			if _, _, err := w.curator().Rollback(t.Context(), ""); err == nil {
				t.Error("no error")
			}
			if w.names() != "a:managed" {
				t.Errorf("the library: %s", w.names())
			}
			left, err := filepath.Glob(filepath.Join(w.base, nextPrefix+"*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left: %v %v", left, err)
			}
		})
	}
}

func TestRollbackOfALibraryThatIsGone(t *testing.T) {
	w := newWorld(t)
	w.create("a", ByAgent)
	_, err := w.backup()
	w.must(err)
	w.must(os.RemoveAll(w.Dir()))
	_, _, err = w.curator().Rollback(t.Context(), "")
	w.must(err)
	if w.names() != "a:managed" {
		t.Error(w.names())
	}
}

func TestStatus(t *testing.T) {
	w := newWorld(t)
	w.create("a", ByAgent)
	w.create("u", ByUser)
	w.must(w.curator().NoteActivity(t.Context()))
	w.days(31)
	s, err := w.curator().Status()
	w.must(err)
	if s.Skills[Active] != 2 || s.Curatable != 1 || !s.Due || s.LastPass != nil {
		t.Errorf("before: %+v", s)
	}
	w.pass()
	s, err = w.curator().Status()
	w.must(err)
	if s.Skills[Active] != 1 || s.Skills[Stale] != 1 || s.Due || len(s.Backups) != 1 || len(s.Result.Moves) != 1 {
		t.Errorf("after: %+v", s)
	}
	w.must(os.WriteFile(w.at(clocksFile), []byte("{"), 0o644))
	if s, err := w.curator().Status(); err != nil || len(s.Warnings) != 1 || s.Due {
		t.Errorf("broken clocks: %+v %v", s, err)
	}
}
