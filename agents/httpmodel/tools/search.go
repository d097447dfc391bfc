package tools

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	maxPattern  = 1000      // bytes
	maxHits     = 200       // lines in one result
	maxHit      = 300       // bytes of a line
	maxSearched = 1 << 20   // bytes of a file that is searched
	maxScanned  = 256 << 20 // bytes of all of them
)

func searchTool() tool {
	return tool{Spec: Spec{
		Name: "search",
		About: fmt.Sprintf("Search text files for a regular expression (RE2) line by line; gives path:line:text, at most %d lines. "+
			"Files that are binary, larger than %d bytes, or in .git are left out.", maxHits, maxSearched),
		Schema: params([]string{"pattern"},
			[3]string{"pattern", "string", "the regular expression"},
			[3]string{"path", "string", "a folder or a file, relative to the working folder; default the working folder"},
			[3]string{"glob", "string", "names of files to look into, such as *.go"}),
	}, call: (*Box).search}
}

// finder collects the lines of a search.
type finder struct {
	box     *Box
	pattern *regexp.Regexp
	glob    string
	out     strings.Builder
	hits    int
	scanned int64
}

func (b *Box) search(ctx context.Context, args []byte) (string, error) {
	a := struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
		Glob    string `json:"glob"`
	}{Path: "."}
	if err := decode(args, &a); err != nil {
		return "", err
	}
	f := finder{box: b, glob: a.Glob}
	if err := f.compile(a.Pattern); err != nil {
		return "", err
	}
	if a.Path == "" {
		a.Path = "."
	}
	name, err := b.local(a.Path)
	if err != nil {
		return "", err
	}
	return f.run(ctx, name)
}

func (f *finder) compile(pattern string) (err error) {
	if pattern == "" || len(pattern) > maxPattern {
		return &malformed{fmt.Sprintf("pattern: want 1 to %d bytes, found %d", maxPattern, len(pattern))}
	}
	if f.pattern, err = regexp.Compile(pattern); err != nil {
		return &malformed{"pattern: " + err.Error()}
	}
	if _, err := path.Match(f.glob, ""); err != nil {
		return &malformed{"glob: " + err.Error()}
	}
	return nil
}

func (f *finder) run(ctx context.Context, name string) (string, error) {
	info, err := f.box.root.Stat(name)
	if err != nil {
		return "", plain(name, err)
	}
	var more bool
	if info.IsDir() {
		more, err = f.box.walk(ctx, name, maxDepth, func(p string, d fs.DirEntry) bool {
			return !d.Type().IsRegular() || !f.wanted(d.Name()) || f.file(p)
		})
	} else {
		more = !f.file(name)
	}
	switch {
	case err != nil:
		return "", err
	case f.hits == 0:
		return "(nothing was found)", nil
	case more:
		f.out.WriteString("[there may be more: search a folder below, or for something rarer]")
	}
	return f.out.String(), nil
}

func (f *finder) wanted(name string) bool {
	if f.glob == "" {
		return true
	}
	ok, err := path.Match(f.glob, name)
	return err == nil && ok
}

// file searches one file, and reports whether there is room for more. What cannot
// be read is passed over.
func (f *finder) file(name string) bool {
	file, info, err := f.box.open(name)
	if err != nil {
		return true
	}
	defer file.Close()
	if info.Size() > maxSearched {
		return true
	}
	data, err := io.ReadAll(io.LimitReader(file, maxSearched))
	if err != nil || isBinary(data) {
		return true
	}
	f.scanned += int64(len(data))
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxSearched+1)
	for n := 1; lines.Scan(); n++ {
		if !f.pattern.Match(lines.Bytes()) {
			continue
		}
		if f.hits >= maxHits || f.out.Len() > maxText {
			return false
		}
		f.hits++
		fmt.Fprintf(&f.out, "%s:%d:%s\n", name, n, shortLine(lines.Text()))
	}
	return f.scanned < maxScanned
}

func shortLine(line string) string {
	if len(line) <= maxHit {
		return line
	}
	return cutTo(line, maxHit) + "…"
}

func sortByName(entries []fs.DirEntry) {
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}
