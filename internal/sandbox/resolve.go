package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"si/internal/proc"
)

// resolved is a containment whose paths exist and have no links in them.
type resolved struct {
	writable, readOnly, hidden, private, devices []string
	bind                                         []proc.Bind
}

// resolve follows the links in p's paths: a mount over a link would be a mount
// somewhere else. What a command could write to earlier may have become a link
// that leads out, so a path inside a writable folder must stay inside.
func resolve(p Profile) (resolved, error) {
	var r resolved
	lists := []struct {
		to       *[]string
		from     []string
		use      string
		required bool
	}{
		{&r.writable, p.Writable, "writable", true},
		{&r.readOnly, p.ReadOnly, "read-only", false},
		{&r.hidden, p.Hidden, "hidden", false},
		{&r.private, p.Private, "private", false},
		{&r.devices, p.Devices, "device", false},
	}
	for _, l := range lists {
		for _, path := range l.from {
			real, err := realPath(path)
			if gone(err) && !l.required {
				continue
			}
			if err != nil {
				return resolved{}, fmt.Errorf("make %s %s: %w", path, l.use, err)
			}
			if l.use == "writable" || l.use == "read-only" {
				if err := staysInside(path, real, p.Writable); err != nil {
					return resolved{}, fmt.Errorf("make %s %s: %w", path, l.use, err)
				}
			}
			if l.use == "device" && !within(real, "/dev") {
				return resolved{}, fmt.Errorf("pass the device %s: it is not in /dev", path)
			}
			*l.to = append(*l.to, real)
		}
	}
	return r, r.resolveBinds(p)
}

func (r *resolved) resolveBinds(p Profile) error {
	for _, b := range p.Bind {
		from, err := realPath(b.From)
		if err == nil {
			err = staysInside(b.From, from, p.Writable)
		}
		if err != nil {
			return fmt.Errorf("show %s at %s: %w", b.From, b.To, err)
		}
		to, err := r.placeOf(b.To)
		if err != nil {
			return fmt.Errorf("show %s at %s: %w", b.From, b.To, err)
		}
		r.bind = append(r.bind, proc.Bind{From: from, To: to, ReadOnly: b.ReadOnly})
	}
	return nil
}

// placeOf resolves a path over which something is mounted. It must be there,
// because the rest of the file system is read-only, except in a folder that
// looks empty, where it is made.
func (r *resolved) placeOf(path string) (string, error) {
	real, err := realPath(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	rest := ""
	for dir := filepath.Clean(path); dir != "/"; dir = filepath.Dir(dir) {
		above, aboveErr := realPath(filepath.Dir(dir))
		rest = filepath.Join(filepath.Base(dir), rest)
		if aboveErr != nil {
			continue
		}
		for _, empty := range append(append([]string(nil), r.hidden...), r.private...) {
			if above == empty || within(above, empty) {
				return filepath.Join(above, rest), nil
			}
		}
		break
	}
	return "", fmt.Errorf("make the folder first: %w", err)
}

// realPath is path without links. The root is refused: nothing would be left to
// contain.
func realPath(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("the path has a zero byte in it")
	}
	if !filepath.IsAbs(path) {
		return "", errors.New("the path is not absolute")
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if real == "/" {
		return "", errors.New("it is the root of the file system, so nothing would be contained; name the folders in it")
	}
	return real, nil
}

// gone is true of what is not there, and of what this user cannot reach: the
// command runs as the same user.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR)
}

func staysInside(path, real string, writable []string) error {
	for _, w := range writable {
		if !within(filepath.Clean(path), filepath.Clean(w)) {
			continue
		}
		inside, err := realPath(w)
		if err == nil && real != inside && !within(real, inside) {
			return fmt.Errorf("it is inside the writable %s but leads to %s by a symbolic link; remove the link", w, real)
		}
	}
	return nil
}

// within is true of a path below dir, not of dir itself. Both are clean.
func within(path, dir string) bool {
	return dir == "/" && path != "/" || strings.HasPrefix(path, dir+"/")
}
