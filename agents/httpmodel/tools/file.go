package tools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

const (
	maxFile  = 8 << 20 // bytes of a file that is read or written
	sniffed  = 8000    // bytes that tell whether a file is text, as git looks at them
	maxParts = 4096    // bytes of a path
)

// local makes a path as models write them one that the folder's root takes. An
// absolute path inside the folder is one, too.
func (b *Box) local(name string) (string, error) {
	if name == "" {
		return "", &malformed{"path is missing"}
	}
	if len(name) > maxParts || strings.ContainsRune(name, 0) {
		return "", &malformed{"path is no path of a file"}
	}
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(b.dir, filepath.Clean(name))
		if err != nil || !filepath.IsLocal(rel) {
			return "", fmt.Errorf("%s is outside of the working folder %s", name, b.dir)
		}
		name = rel
	}
	name = filepath.Clean(name)
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s is outside of the working folder", name)
	}
	return name, nil
}

// open opens a regular file for reading. O_NONBLOCK, because to open a named pipe
// waits for a writer.
func (b *Box) open(name string) (*os.File, fs.FileInfo, error) {
	f, err := b.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, plain(name, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder; use list", name)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// text reads a whole text file.
func (b *Box) text(name string) (string, error) {
	f, _, err := b.open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", plain(name, err)
	case len(data) > maxFile:
		return "", fmt.Errorf("%s has more than %d bytes; use search, or the shell", name, maxFile)
	case isBinary(data):
		return "", fmt.Errorf("%s is no text file: it cannot be shown or edited here", name)
	}
	return string(data), nil
}

func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0 || !utf8.Valid(data)
}

// plain says what is wrong with a file in a model's words.
func plain(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", name)
	case strings.Contains(err.Error(), "path escapes from parent"):
		return fmt.Errorf("%s leads out of the working folder by a link", name)
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", name, p.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// guarded refuses to write where git keeps its own files.
func guarded(name string) error {
	for _, part := range strings.Split(filepath.ToSlash(name), "/") {
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("%s belongs to git, which is not yours to edit", name)
		}
	}
	return nil
}

// put replaces a file as a whole, and makes its folders. The old file is replaced
// and not written into: it may be the same file as one elsewhere, by a hard link.
func (b *Box) put(name, text string) error {
	if err := guarded(name); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	info, err := b.root.Lstat(name)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link; write to the file that it leads to", name)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", name)
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return plain(name, err)
	}
	if dir := path.Dir(filepath.ToSlash(name)); dir != "." {
		if err := b.root.MkdirAll(dir, 0o755); err != nil {
			return plain(dir, err)
		}
	}
	return b.replace(name, text, mode)
}

func (b *Box) replace(name, text string, mode fs.FileMode) error {
	f, temp, err := b.beside(name)
	if err != nil {
		return plain(name, err)
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = b.root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(plain(name, err), b.root.Remove(temp))
	}
	return nil
}

// beside makes a new file for the text of name, in the same folder.
func (b *Box) beside(name string) (f *os.File, temp string, err error) {
	for i := range 20 { // a name may be taken: by a file of the repository, or by a leftover
		temp = fmt.Sprintf("%s.new%d", name, i)
		f, err = b.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, temp, err
}
