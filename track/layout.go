package track

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"si/internal/durable"
	"si/templates"
)

// EnsureLayout creates the folders of the track, and idea.md when it is absent,
// so that there is a place for ideas with its instructions. Folders that are
// links are refused: a repository can hold one, and everything would be written
// to where it points.
func (p Paths) EnsureLayout(s *durable.Store) error {
	for _, dir := range p.dirs() {
		if err := p.refuseLinks(dir); err != nil {
			return err
		}
		if err := durable.MkdirAll(dir); err != nil {
			return fmt.Errorf("lay out the track: %w", err)
		}
	}
	_, err := os.Lstat(p.IdeaPath)
	if errors.Is(err, os.ErrNotExist) {
		return s.Replace(p.IdeaPath, []byte(templates.Idea()), 0o644)
	}
	return err
}

func (p Paths) dirs() []string {
	return []string{
		p.ConfigDir, p.StateDir, p.PlansDir, p.TrackingDir, p.ResearchBriefsDir, p.IterationHistoryDir,
		p.MergeReportsDir, p.PlanArchiveDir, p.ControlDir(), filepath.Dir(p.LogDir(0)), filepath.Join(p.StateDir, "results"),
	}
}

// refuseLinks checks dir and its parents up to the state base.
func (p Paths) refuseLinks(dir string) error {
	top := filepath.Dir(p.StateBase())
	for ; dir != top && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err == nil && info.Mode()&os.ModeSymlink != 0 {
			return &FileError{Path: dir, What: "a symbolic link where a folder of the track belongs", Hint: "remove it; to keep state elsewhere set OMC_STATE_DIR to the real folder"}
		}
	}
	return nil
}
