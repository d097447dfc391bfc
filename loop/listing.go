package loop

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// listing is a digest of every name below dir with its mode, size and time of
// change: what a command left there shows, without reading any file.
func listing(dir string) ([sha256.Size]byte, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(h, "%q %v ", path, info.Mode()) // a hash takes every write
		if !d.IsDir() {
			_ = binary.Write(h, binary.LittleEndian, []int64{info.Size(), info.ModTime().UnixNano()})
		}
		return nil
	})
	var sum [sha256.Size]byte
	copy(sum[:], h.Sum(nil))
	if err != nil {
		return sum, fmt.Errorf("look at what is in %s: %w", dir, err)
	}
	return sum, nil
}
