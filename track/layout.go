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
	s = p.Within(s)
	for _, dir := range p.dirs() {
		if err := s.Folder(dir); err != nil {
			return fmt.Errorf("lay out the track: %w; to keep state elsewhere set OMC_STATE_DIR to the real folder", err)
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

// Within returns the store for what is written in the track: one that writes
// through no link from the state base on.
func (p Paths) Within(s *durable.Store) *durable.Store {
	return s.Within(filepath.Dir(p.StateBase()))
}
