package benchmark

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxResultBytes = 64 << 20 // of all result files of a run together
	maxResultFiles = 2000
)

// resultFile is one file that a run wrote.
type resultFile struct {
	path string
	data []byte
}

// clearResults deletes the result files of an earlier run, so that a file which
// is there afterwards was made by this one, and returns the file system's time,
// which every file written from now on is not older than.
func clearResults(dir string, patterns []string) (time.Time, *Fault, error) {
	if len(patterns) == 0 {
		return time.Time{}, nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return time.Time{}, nil, fmt.Errorf("clear result files: %w", err)
	}
	defer func() { _ = root.Close() }()
	paths, fault := matchResults(root, patterns)
	if fault != nil {
		return time.Time{}, fault, nil
	}
	for _, p := range paths {
		if fault := clearResult(root, p); fault != nil {
			return time.Time{}, fault, nil
		}
	}
	at, err := diskTime(dir)
	return at, nil, err
}

func clearResult(root *os.Root, p string) *Fault {
	info, fault := lstatBelow(root, p)
	if fault != nil {
		return fault
	}
	if info.IsDir() {
		return parseFault("", "the result file %s is a folder in this tree", cleanLine(p))
	}
	if err := root.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return parseFault("", "the result file %s of an earlier run cannot be deleted: %v", cleanLine(p), err)
	}
	return nil
}

// diskTime is the present time by the clock that stamps files in dir. The
// clock of the file system is coarser than ours, and another one on a network.
func diskTime(dir string) (time.Time, error) {
	f, err := os.CreateTemp(dir, ".si-clock-*")
	if err != nil {
		return time.Time{}, fmt.Errorf("read the clock of the file system: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, fmt.Errorf("read the clock of the file system: %w", err)
	}
	return info.ModTime(), nil
}

// collectResults reads the result files of a run that began at since. Each is
// a regular file, reached through no symbolic link, and written since then.
func collectResults(dir string, patterns []string, since time.Time) ([]resultFile, *Fault) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, parseFault("", "the result files cannot be reached: %v", err)
	}
	defer func() { _ = root.Close() }()
	paths, fault := matchResults(root, patterns)
	if fault != nil {
		return nil, fault
	}
	if len(paths) == 0 {
		return nil, parseFault("", "the run wrote no result file %s; check si.benchmark.result_files", strings.Join(patterns, ", "))
	}
	var files []resultFile
	left := int64(maxResultBytes)
	for _, p := range paths {
		data, fault := readResult(root, p, since, left)
		if fault != nil {
			return nil, fault
		}
		left -= int64(len(data))
		files = append(files, resultFile{p, data})
	}
	return files, nil
}

// matchResults lists what is at the patterns, sorted. A pattern that names an
// existing file exactly is not read as a glob.
func matchResults(root *os.Root, patterns []string) ([]string, *Fault) {
	var paths []string
	for _, pattern := range patterns {
		if _, err := root.Lstat(pattern); err == nil {
			paths = append(paths, pattern)
			continue
		}
		errMany := errors.New("too many")
		err := doublestar.GlobWalk(root.FS(), pattern, func(p string, _ fs.DirEntry) error {
			if paths = append(paths, p); len(paths) > maxResultFiles {
				return errMany
			}
			return nil
		}, doublestar.WithNoFollow())
		if errors.Is(err, errMany) {
			return nil, parseFault("", "more than %d files are at %s; narrow si.benchmark.result_files", maxResultFiles, pattern)
		}
		if err != nil {
			return nil, parseFault("", "look for the result files %s: %v", pattern, err)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// lstatBelow is Lstat that also refuses a link in place of any folder of p: a
// path through a link is not the path that was named.
func lstatBelow(root *os.Root, p string) (fs.FileInfo, *Fault) {
	for i, c := range p {
		if c != '/' {
			continue
		}
		info, err := root.Lstat(p[:i])
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, parseFault("", "the result file %s lies below a symbolic link, %s", cleanLine(p), cleanLine(p[:i]))
		}
	}
	info, err := root.Lstat(p)
	if err != nil {
		return nil, parseFault("", "the result file %s cannot be read: %v", cleanLine(p), err)
	}
	return info, nil
}

func readResult(root *os.Root, p string, since time.Time, limit int64) ([]byte, *Fault) {
	named, fault := lstatBelow(root, p)
	if fault != nil {
		return nil, fault
	}
	if !named.Mode().IsRegular() {
		return nil, parseFault("", "the result file %s is not a regular file but %s", cleanLine(p), kindOf(named.Mode()))
	}
	// Neither waits on a pipe nor follows a link that took the file's place.
	f, err := root.OpenFile(p, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, parseFault("", "the result file %s cannot be read: %v", cleanLine(p), err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !os.SameFile(info, named) {
		return nil, parseFault("", "the result file %s changed while it was read", cleanLine(p))
	}
	if info.ModTime().Before(since) {
		return nil, parseFault("", "the result file %s is older than the run; it has to be written by it", cleanLine(p))
	}
	if info.Size() > limit {
		return nil, parseFault("", "the result files are larger than %d MiB together", maxResultBytes>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, parseFault("", "the result file %s cannot be read: %v", cleanLine(p), err)
	}
	return data, nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "a special file"
}
