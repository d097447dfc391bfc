package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

const (
	maxEntries = 1000   // in one result
	maxVisited = 100000 // files and folders that one call looks at
	maxDepth   = 40
)

func listTool() tool {
	return tool{Spec: Spec{
		Name:  "list",
		About: fmt.Sprintf("List a folder, folders with a / at their end, at most %d entries. The .git folder is left out.", maxEntries),
		Schema: params(nil,
			[3]string{"path", "string", "the folder, relative to the working folder; default the working folder"},
			[3]string{"depth", "integer", "how many levels; default 1"}),
	}, call: (*Box).list}
}

func (b *Box) list(ctx context.Context, args []byte) (string, error) {
	a := struct {
		Path  string `json:"path"`
		Depth int    `json:"depth"`
	}{Path: "."}
	if err := decode(args, &a); err != nil {
		return "", err
	}
	if a.Path == "" {
		a.Path = "."
	}
	name, err := b.local(a.Path)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	var n int
	more, err := b.walk(ctx, name, min(max(a.Depth, 1), maxDepth), func(p string, d fs.DirEntry) bool {
		if n++; n > maxEntries || out.Len() > maxText {
			return false
		}
		out.WriteString(p)
		if d.IsDir() {
			out.WriteByte('/')
		}
		out.WriteByte('\n')
		return true
	})
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "(the folder is empty)", nil
	}
	if more {
		out.WriteString("[there are more: list a folder below]")
	}
	return out.String(), nil
}

// errEnough ends a walk early.
var errEnough = errors.New("enough")

// walk visits what lies below a folder in the order of names, down to depth
// levels, without .git, following no links, until visit says false. more reports
// that something was not visited.
func (b *Box) walk(ctx context.Context, dir string, depth int, visit func(name string, d fs.DirEntry) bool) (more bool, err error) {
	left := maxVisited
	err = b.walkFolder(ctx, dir, depth, &left, visit)
	if errors.Is(err, errEnough) {
		return true, nil
	}
	return false, err
}

func (b *Box) walkFolder(ctx context.Context, dir string, depth int, left *int, visit func(string, fs.DirEntry) bool) error {
	entries, err := b.entries(dir)
	if err != nil {
		return err
	}
	for _, d := range entries {
		if d.Name() == ".git" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Join(dir, d.Name())
		if *left--; *left < 0 || !visit(name, d) {
			return errEnough
		}
		if !d.IsDir() || depth <= 1 {
			continue
		}
		err := b.walkFolder(ctx, name, depth-1, left, visit)
		if errors.Is(err, errEnough) || ctx.Err() != nil {
			return err
		} // a folder that cannot be read, or is gone, hides only what lies in it
	}
	return nil
}

// entries reads a folder, of a very large one only a part.
func (b *Box) entries(dir string) ([]fs.DirEntry, error) {
	f, err := b.root.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, plain(dir, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(maxVisited)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, plain(dir, err)
	}
	sortByName(entries)
	return entries, nil
}
