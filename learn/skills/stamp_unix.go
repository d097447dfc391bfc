//go:build unix

package skills

import (
	"time"

	"golang.org/x/sys/unix"
)

// stamp tells whether a file or folder changed since it was read.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64 // nanoseconds
	folder       bool
}

// settled is how old a change must be before an equal stamp is believed: two
// changes within one tick of the file system's clock look the same.
const settled = 2 * time.Second

// stampOf returns the zero stamp where nothing can be read. A link is followed when
// follow is set: its target's changes count.
func stampOf(path string, follow bool) stamp { return stampAt(unix.AT_FDCWD, path, follow) }

// stampAt is stampOf for a path below an open folder: of ten thousand skills the way
// from the top of the file system costs more than the rest.
func stampAt(dir int, path string, follow bool) stamp {
	var st unix.Stat_t
	flags := unix.AT_SYMLINK_NOFOLLOW
	if follow {
		flags = 0
	}
	if err := unix.Fstatat(dir, path, &st, flags); err != nil {
		return stamp{}
	}
	return stamp{
		dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		folder: st.Mode&unix.S_IFMT == unix.S_IFDIR,
	}
}

// believable reports whether an equal stamp means an equal content. It asks the
// machine's clock, as file systems do, and not the injected one.
func (s stamp) believable(readAt time.Time) bool {
	return s != stamp{} && time.Unix(0, max(s.mtime, s.ctime)).Before(readAt.Add(-settled))
}
