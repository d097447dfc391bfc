package loop

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"si/internal/sandbox"
)

// The labels of a validation.
const (
	labelFit     = "fit"      // agents could have seen what it uses
	labelHeldOut = "held-out" // they could not
)

// mostHeldOut bounds the files that are looked for in the history.
const mostHeldOut = 500

// checkHidden refuses held-out data inside the repository: every clone has it.
func checkHidden(cfg Config, paths []string) error {
	for _, p := range paths {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		rel, err := filepath.Rel(cfg.Repo.Toplevel(), filepath.Clean(p))
		if err == nil && (rel == "." || filepath.IsLocal(rel)) {
			return fmt.Errorf("si.hidden_paths: %q lies in the repository, where every workspace has it; move it elsewhere", p)
		}
	}
	return nil
}

// label says whether a validation is held out from the agents: its data are hidden
// by the sandbox, and the repository does not hold them. why is told when it is not,
// though settings name such data.
func (l *Loop) label(ctx context.Context) (label, why string, err error) {
	hidden := l.settings.Value.SI.HiddenPaths
	if len(hidden) == 0 {
		return labelFit, "", nil
	}
	if l.cfg.Sandbox == nil || !l.cfg.Sandbox.Report().Enforces(sandbox.PathsHidden) {
		return labelFit, "nothing on this machine can hide si.hidden_paths from agents", nil
	}
	files, err := filesBelow(hidden)
	if err != nil {
		return labelFit, "", err
	}
	switch len(files) {
	case 0:
		return labelFit, "si.hidden_paths hold no file", nil
	case mostHeldOut:
		return labelFit, fmt.Sprintf("si.hidden_paths hold %d files or more, too many to look for in the history", mostHeldOut), nil
	}
	found, err := l.cfg.Repo.Holds(ctx, files)
	if err != nil {
		return labelFit, "", err
	}
	if len(found) > 0 {
		return labelFit, "the repository's history holds " + strings.Join(found, ", "), nil
	}
	return labelHeldOut, "", nil
}

// filesBelow lists the regular files of paths that are not empty, the first ones of
// many.
func filesBelow(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			return nil, fmt.Errorf("look at held-out data: %w", err)
		}
		err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return fmt.Errorf("look at held-out data: %w", err)
			}
			info, err := d.Info()
			if err == nil && info.Mode().IsRegular() && info.Size() > 0 && len(files) < mostHeldOut {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// tellLabel says at the start what the label of validations will be.
func (l *Loop) tellLabel(ctx context.Context) error {
	if err := checkHidden(l.cfg, l.settings.Value.SI.HiddenPaths); err != nil {
		return err
	}
	label, why, err := l.label(ctx)
	if err != nil || why == "" {
		return err
	}
	return l.note("results are labelled %q, not %q: %s", label, labelHeldOut, why)
}
