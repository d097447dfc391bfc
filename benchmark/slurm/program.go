package slurm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyProgram puts this program into the work folder, which the nodes see, under
// the name of its digest: a new build of it that is installed meanwhile does not
// change the jobs that wait, and the path that it was started from need not be
// shared.
func (l *Launcher) copyProgram() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.program != "" {
		return l.program, nil
	}
	sum, err := fileDigest(l.o.Self)
	if err != nil {
		return "", fmt.Errorf("copy this program to the work folder: %w", err)
	}
	target := filepath.Join(l.programDir(), "si-"+sum[:16])
	if have, err := fileDigest(target); err != nil || have != sum {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("copy this program to the work folder: %w", err)
		}
		if err := copyFile(l.o.Self, target); err != nil {
			return "", fmt.Errorf("copy this program to the work folder: %w", err)
		}
	}
	l.program = target
	return target, nil
}

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// copyFile renames the copy into place: a node must not execute half of it.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), ".copy-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = out.Close()
			_ = os.Remove(out.Name())
		}
	}()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := out.Chmod(0o500); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}
