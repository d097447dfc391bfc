package tuner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is read of a repository. A person tunes a handful of numbers in a handful
// of files; larger things were not written by hand.
const (
	maxWalked = 50_000    // names looked at
	maxFiles  = 2_000     // files read
	maxBytes  = 256 << 10 // of one file
	maxKnobs  = 2_000     // in all
	maxInFile = 100       // a file with more numbers than this is a table of data
	maxLine   = 400       // bytes of a line with a knob: the line travels in the plan
)

var errEnough = errors.New("enough files")

// findKnobs returns the knobs of the tree at dir in the order of their names. All
// access goes through an os.Root, so that no link leads out of the tree; links
// inside it are passed over too, since they can lead to a sealed file.
func findKnobs(ctx context.Context, dir string, s scope) ([]Knob, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the working folder: %w", err)
	}
	defer root.Close()
	paths, err := listFiles(ctx, root, s)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", dir, err)
	}
	var knobs []Knob
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, err := readSmall(root, p)
		if err != nil {
			continue // unreadable or too large: nothing to tune there
		}
		knobs = append(knobs, knobsIn(p, data)...)
		if len(knobs) >= maxKnobs {
			knobs = knobs[:maxKnobs]
			break
		}
	}
	slices.SortFunc(knobs, func(a, b Knob) int { return cmp.Compare(a.Name, b.Name) })
	return knobs, nil
}

// listFiles returns the files worth reading, sorted.
func listFiles(ctx context.Context, root *os.Root, s scope) ([]string, error) {
	var paths []string
	walked := 0
	err := fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if walked++; walked > maxWalked || len(paths) >= maxFiles {
			return errEnough
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case err != nil && p == ".":
			return err
		case err != nil:
			return fs.SkipDir
		case d.IsDir():
			if p != "." && skippedFolder(path.Base(p)) && !s.reaches(p) {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && s.wants(p):
			paths = append(paths, p)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return paths, err
}

// wants reports whether the file at p is worth reading, and its name fit for a plan.
func (s scope) wants(p string) bool {
	odd := !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
	return !odd && languageOf(p) != none && s.allows(p) && (!skippedFile(path.Base(p)) || s.names(p))
}

// reaches reports whether the scope lists a file below the folder p by its name.
func (s scope) reaches(p string) bool {
	for _, e := range s.in {
		if e = clean(e); len(e) > len(p) && e[:len(p)] == p && e[len(p)] == '/' && languageOf(e) != none {
			return true
		}
	}
	return false
}

// readSmall returns a file's content, and an error unless it is a text that a
// person could have written.
func readSmall(root *os.Root, p string) ([]byte, error) {
	f, err := root.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxBytes {
		return nil, fmt.Errorf("%s is not a regular file of at most %d bytes", p, maxBytes)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBytes || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return nil, fmt.Errorf("%s is not a text of at most %d bytes", p, maxBytes)
	}
	return data, nil
}
