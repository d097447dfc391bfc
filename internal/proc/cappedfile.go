package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// cappedFile is an output file that stops growing at max. After an error it
// takes no more, and the error is kept: the child is drained all the same.
type cappedFile struct {
	f    *os.File
	room int64
	max  int64
	full bool
	err  error
}

// createCapped makes a new file at path. What was there is removed first and
// never written through: a link planted in a log folder would otherwise lead to
// a file of the user, and a FIFO would block.
func createCapped(path string, maxBytes int64) (*cappedFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("create the folder of output file %s: %w", path, err)
	}
	if err := removeOld(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create output file: %w", err)
	}
	return &cappedFile{f: f, room: maxBytes, max: maxBytes}, nil
}

func removeOld(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at output file: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() && mode.Type() != fs.ModeSymlink {
		return fmt.Errorf("replace output file %s: it is no regular file (%s); remove it or choose another name", path, mode)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("replace output file: %w", err)
	}
	return nil
}

func (c *cappedFile) write(p []byte) {
	if c.err != nil || c.full {
		return
	}
	fit := p[:min(c.room, int64(len(p)))]
	c.put(fit)
	c.room -= int64(len(fit))
	if len(fit) < len(p) {
		c.full = true
		c.put(fmt.Appendf(nil, "\n[si: the output went on; only its first %d bytes are kept here]\n", c.max))
	}
}

func (c *cappedFile) put(p []byte) {
	if c.err != nil || len(p) == 0 {
		return
	}
	if _, err := c.f.Write(p); err != nil {
		c.err = fmt.Errorf("write output file: %w (the file is incomplete)", err)
	}
}

func (c *cappedFile) close() {
	if err := c.f.Close(); err != nil && c.err == nil {
		c.err = fmt.Errorf("close output file: %w (the file may be incomplete)", err)
	}
}
