package loop

import (
	"crypto/sha256"
	"fmt"
)

// listing is a hash over what lies below dir: names, and the stamp of each file. It
// costs one walk, and shows every change that was made since the last one.
func listing(dir string) ([sha256.Size]byte, error) {
	h := sha256.New()
	err := eachStamp(dir, func(name string, s stamp) {
		if s.mode.IsDir() {
			s = stamp{mode: s.mode} // what changes in it has stamps of its own
		}
		_, _ = fmt.Fprintf(h, "%q %v ", name, s) // a hash takes every write
	})
	var sum [sha256.Size]byte
	copy(sum[:], h.Sum(nil))
	return sum, err
}
