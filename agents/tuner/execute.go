package tuner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"si/agents"
	"si/track"
)

// execute is the executor's part: exactly the edit of the plan, in a workspace
// that nobody else writes to. A plan that was carried out already is no fault: a
// loop that was killed asks again.
func execute(ctx context.Context, t agents.Task) (string, error) {
	if t.Facts.Plan == nil {
		return "", errors.New("execute a plan: the task has none")
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	p := *t.Facts.Plan
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return "", fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	data, done, err := edited(root, scopeOf(t.Facts), p)
	if err != nil {
		return "", fmt.Errorf("carry out %s: %w", p.PlanID, err)
	}
	e := p.SI.Edit
	said := fmt.Sprintf("Set %s from %s to %s on line %d of %s.", e.Knob, e.Old, e.New, e.Line, e.Path)
	if done {
		return said + " It stood there already.", nil
	}
	if err := overwrite(root, e.Path, data); err != nil {
		return "", fmt.Errorf("carry out %s: %w", p.PlanID, err)
	}
	return said, nil
}

// edited returns the file of a plan's edit as it will be, and whether it is so
// already. It refuses when the place is not as the plan saw it.
func edited(root *os.Root, s scope, p track.Plan) (data []byte, done bool, err error) {
	if p.SI == nil || p.SI.Edit == nil {
		return nil, false, errors.New("the plan has no exact edit (si.edit), and the built-in tuner does not write code; give the executor another backend")
	}
	e := *p.SI.Edit
	if err := checkEdit(s, p, e); err != nil {
		return nil, false, err
	}
	if err := plainPath(root, e.Path); err != nil {
		return nil, false, err
	}
	content, err := readSmall(root, e.Path)
	if err != nil {
		return nil, false, fmt.Errorf("read the file: %w", err)
	}
	return replaceAt(content, e)
}

// checkEdit refuses edits that are not one value for another in a permitted file:
// a plan may come from anywhere.
func checkEdit(s scope, p track.Plan, e track.Edit) error {
	before, ok1 := parseValue(e.Old)
	after, ok2 := parseValue(e.New)
	switch {
	case !filepath.IsLocal(e.Path) || clean(e.Path) != e.Path:
		return fmt.Errorf("%q is not a path inside the repository", e.Path)
	case !s.allows(e.Path):
		return fmt.Errorf("%q is sealed or out of scope", e.Path)
	case !slices.Contains(p.TargetFiles, e.Path):
		return fmt.Errorf("%q is not one of the plan's target files", e.Path)
	case !ok1 || !ok2 || (before.kind == toggle) != (after.kind == toggle):
		return fmt.Errorf("%q to %q is not one value for another", e.Old, e.New)
	case e.Line < 1 || e.Column < 0 || e.Column > len(e.Text)-len(e.Old) || e.Text[e.Column:e.Column+len(e.Old)] != e.Old:
		return fmt.Errorf("the edit does not fit its own text: %q is not at byte %d of %q", e.Old, e.Column, e.Text)
	}
	return nil
}

// plainPath refuses links on the way to a file: they can lead to a sealed one.
func plainPath(root *os.Root, p string) error {
	for at := p; at != "."; at = path.Dir(at) {
		info, err := root.Lstat(at)
		if err != nil {
			return fmt.Errorf("look at the file: %w", err)
		}
		if info.Mode()&os.ModeSymlink != 0 {
			return fmt.Errorf("%q is a link; name the file that it leads to", at)
		}
	}
	return nil
}

func replaceAt(content []byte, e track.Edit) ([]byte, bool, error) {
	lines := strings.Split(string(content), "\n")
	if e.Line > len(lines) {
		return nil, false, fmt.Errorf("%s has no line %d any more; plan anew", e.Path, e.Line)
	}
	line, end := strings.CutSuffix(lines[e.Line-1], "\r")
	goal := e.Text[:e.Column] + e.New + e.Text[e.Column+len(e.Old):]
	if line == goal {
		return content, true, nil
	}
	if line != e.Text {
		return nil, false, fmt.Errorf("line %d of %s has changed: it is %q, the plan saw %q; plan anew", e.Line, e.Path, line, e.Text)
	}
	if end {
		goal += "\r"
	}
	lines[e.Line-1] = goal
	return []byte(strings.Join(lines, "\n")), false, nil
}

// overwrite keeps the file's mode and identity. A torn write is of no account: a
// workspace is thrown away with the task that did not end.
func overwrite(root *os.Root, p string, data []byte) error {
	f, err := root.OpenFile(p, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return fmt.Errorf("open the file for writing: %w", err)
	}
	if _, err := f.Write(data); err != nil {
		return errors.Join(fmt.Errorf("write the file: %w", err), f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	return nil
}
