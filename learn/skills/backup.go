package skills

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"si/internal/durable"
)

const (
	backupsDir  = "skills-backups"
	keptBackups = 5
	stampFormat = "20060102T150405Z"
)

// Backup is a verified copy of the managed root, counters and archive included.
type Backup struct {
	Name string    `json:"name"`
	Path string    `json:"path"`
	Size int64     `json:"size"` // bytes
	At   time.Time `json:"at"`
	seq  int
}

// Backups lists the backups, newest first: by their number, since a clock can be set
// back.
func (l *Library) Backups() ([]Backup, error) {
	entries, err := os.ReadDir(l.at(backupsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the backups of the skills: %w", err)
	}
	pattern := regexp.MustCompile(`^skills-(\d{6,9})-(\d{8}T\d{6}Z)\.tar\.gz$`)
	backups := []Backup{}
	for _, e := range entries {
		m := pattern.FindStringSubmatch(e.Name())
		info, err := e.Info()
		if m == nil || err != nil || !info.Mode().IsRegular() {
			continue
		}
		seq, _ := strconv.Atoi(m[1])           // the pattern has digits only
		at, _ := time.Parse(stampFormat, m[2]) // a wrong date shows as no date
		path := filepath.Join(l.at(backupsDir), m[0])
		backups = append(backups, Backup{m[0], path, info.Size(), at, seq})
	}
	slices.SortFunc(backups, func(a, b Backup) int { return b.seq - a.seq })
	return backups, nil
}

// backup writes a copy of the library under a temporary name, reads it back and
// compares it with the library, and only then gives it its name. The oldest beyond
// the kept ones are removed. The lock must be held.
func (l *Library) backup() (Backup, error) {
	before, err := l.Backups()
	if err != nil {
		return Backup{}, err
	}
	if err := durable.MkdirAll(l.at(backupsDir)); err != nil {
		return Backup{}, fmt.Errorf("back up the skills: %w", err)
	}
	b := Backup{At: l.now().UTC().Truncate(time.Second), seq: 1}
	if len(before) > 0 {
		b.seq = before[0].seq + 1
	}
	b.Name = fmt.Sprintf("skills-%06d-%s.tar.gz", b.seq, b.At.Format(stampFormat))
	b.Path = filepath.Join(l.at(backupsDir), b.Name)
	temp := filepath.Join(l.at(backupsDir), ".tmp-backup")
	err = around(l.hooks, durable.OpReplace, b.Path, func() error {
		err := l.writeVerified(temp)
		if err == nil {
			err = os.Rename(temp, b.Path)
		}
		if err != nil {
			_ = os.Remove(temp)
			return err
		}
		return syncFolder(l.at(backupsDir))
	})
	if err != nil {
		return Backup{}, fmt.Errorf("back up the skills to %s: %w", b.Path, err)
	}
	if info, err := os.Stat(b.Path); err == nil {
		b.Size = info.Size()
	}
	return b, l.prune(append([]Backup{b}, before...))
}

func (l *Library) prune(backups []Backup) error {
	store := durable.Store{Hooks: l.hooks}
	for _, b := range backups[min(keptBackups, len(backups)):] {
		if err := store.Remove(b.Path); err != nil {
			return fmt.Errorf("remove an old backup: %w", err)
		}
	}
	return nil
}

func (l *Library) writeVerified(temp string) error {
	names, err := l.writeArchive(temp)
	if err != nil {
		return err
	}
	if err := verify(temp, l.Dir(), names); err != nil {
		return fmt.Errorf("it does not hold what the library holds: %w", err)
	}
	return nil
}

// writeArchive returns the names in the archive, in their order.
func (l *Library) writeArchive(temp string) (names []string, err error) {
	_ = os.Remove(temp) // a crash left it
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewWriterSize(f, 256<<10)
	zipped, err := gzip.NewWriterLevel(buffered, gzip.BestSpeed)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	tw := tar.NewWriter(zipped)
	names, err = writeTree(tw, l.Dir())
	if err == nil {
		err = errors.Join(tw.Close(), zipped.Close(), buffered.Flush(), f.Sync())
	}
	return names, errors.Join(err, f.Close())
}

func writeTree(tw *tar.Writer, dir string) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() // opened for reading only
	var names []string
	err = fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || p == "." || p == markerFile {
			return err
		}
		names = append(names, p)
		return writeEntry(tw, root, p, e)
	})
	return names, err
}

func writeEntry(tw *tar.Writer, root *os.Root, p string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	h := &tar.Header{Name: p, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime(), Format: tar.FormatPAX}
	switch {
	case e.IsDir():
		h.Typeflag = tar.TypeDir
		return tw.WriteHeader(h)
	case e.Type() == fs.ModeSymlink:
		h.Typeflag = tar.TypeSymlink
		if h.Linkname, err = root.Readlink(p); err != nil {
			return err
		}
		return tw.WriteHeader(h)
	case e.Type().IsRegular():
		return writeRegular(tw, root, h)
	}
	return fmt.Errorf("%s is neither a file, a folder nor a link; move it out of the library", p)
}

func writeRegular(tw *tar.Writer, root *os.Root, h *tar.Header) error {
	f, err := root.Open(h.Name)
	if err != nil {
		return err
	}
	defer f.Close() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	if _, err := io.Copy(tw, f); err != nil {
		return fmt.Errorf("%s: %w; if it is being written to, try again", h.Name, err)
	}
	return nil
}
