package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ExcludeLine adds one line to info/exclude unless it is there. It is the only
// thing on the user's side that this package changes; fingerprints overlook it.
func (r *Repo) ExcludeLine(_ context.Context, pattern string) error {
	const op = "exclude"
	file := filepath.Join(r.common, "info", "exclude")
	if pattern == "" || strings.ContainsAny(pattern, "\n\r\x00") {
		return &Error{Op: op, Path: pattern, Msg: "not a line of a pattern"}
	}
	r.admin.Lock()
	defer r.admin.Unlock()
	r.exclude[pattern] = true
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s %s: %w", op, pattern, err)
	}
	if slices.Contains(strings.Split(string(data), "\n"), pattern) {
		return nil
	}
	line := pattern + "\n"
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		line = "\n" + line
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("%s %s: %w", op, pattern, err)
	}
	// Appended in place, in one write: the file may be a link of the user's.
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("%s %s: %w", op, pattern, err)
	}
	_, err = f.WriteString(line)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s %s: %w", op, pattern, err)
	}
	return nil
}

// withoutOurs takes our lines out of the content of info/exclude.
func (r *Repo) withoutOurs(data []byte) []byte {
	r.admin.Lock()
	defer r.admin.Unlock()
	var kept []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		if !r.exclude[line] {
			kept = append(kept, line)
		}
	}
	return []byte(strings.Join(kept, "\n"))
}
