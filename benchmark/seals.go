package benchmark

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Seals are the paths that no candidate may touch. A path is sealed by its
// exact name, by a folder written with a trailing slash, or by a glob with **.
// What some file system would take for the same name (other case, other
// composition of accents) is sealed with it.
type Seals struct {
	exact map[string]string // folded path to the pattern
	dirs  []string          // folded, with the trailing slash
	globs []string          // folded
}

// NewSeals compiles patterns. Its error joins everything that is wrong.
func NewSeals(patterns []string) (*Seals, error) {
	s := &Seals{exact: map[string]string{}}
	var faults []error
	for _, p := range patterns {
		if err := s.add(p); err != nil {
			faults = append(faults, err)
		}
	}
	return s, errors.Join(faults...)
}

func (s *Seals) add(pattern string) error {
	clean := strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	if what := pathFault(clean); what != "" {
		return fmt.Errorf("sealed_files: %q %s", pattern, what)
	}
	folded := fold(clean)
	s.exact[folded] = pattern // a listed name with brackets in it is also just a name
	isGlob := strings.ContainsAny(clean, `*?[{\`)
	if isGlob && !doublestar.ValidatePattern(folded) {
		return fmt.Errorf("sealed_files: %q is not a valid pattern; correct it", pattern)
	}
	switch dir := strings.HasSuffix(pattern, "/"); {
	case isGlob && dir:
		s.globs = append(s.globs, folded, folded+"/**")
	case isGlob:
		s.globs = append(s.globs, folded)
	case dir:
		s.dirs = append(s.dirs, folded+"/")
	}
	return nil
}

// fold maps the names that a file system may take for one to one text: upper
// and lower case, and composed and decomposed characters.
func fold(path string) string {
	return norm.NFC.String(cases.Fold().String(path))
}

// Match reports whether the path is sealed. What lies below a sealed path is
// sealed too: a file cannot be replaced by a folder of that name.
func (s *Seals) Match(path string) bool {
	folded := fold(path)
	for at := folded; ; {
		if _, ok := s.exact[at]; ok {
			return true
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			break
		}
		at = at[:i]
	}
	for _, dir := range s.dirs {
		if strings.HasPrefix(folded+"/", dir) {
			return true
		}
	}
	return slices.ContainsFunc(s.globs, func(g string) bool { return doublestar.MatchUnvalidated(g, folded) })
}

// above reports whether a sealed path may lie below the folder at path: then a
// link in the folder's place would replace what is sealed.
func (s *Seals) above(path string) bool {
	dir := fold(path) + "/"
	for exact := range s.exact {
		if strings.HasPrefix(exact, dir) {
			return true
		}
	}
	return slices.ContainsFunc(s.globs, func(g string) bool {
		base, _ := doublestar.SplitPattern(g)
		return base != "." && strings.HasPrefix(base+"/", dir)
	})
}

// Change is one path at which a candidate's tree differs from the base's, with
// renames off. Modes are git's ("100644"); mode and id are "" on the side where
// nothing is.
type Change struct {
	Path             string
	OldMode, NewMode string
	OldID, NewID     string
}

// Violations names the sealed paths among the changes, with what was done to
// each, sorted. Git's own attributes are sealed always: with them the same sealed
// content is laid out as other bytes (line ends, keywords, encodings).
func (s *Seals) Violations(changes []Change) []string {
	var found []string
	for _, c := range changes {
		if c.OldMode == c.NewMode && c.OldID == c.NewID {
			continue
		}
		if s.Match(c.Path) || strings.EqualFold(path.Base(c.Path), ".gitattributes") {
			found = append(found, shownPath(c.Path)+": "+c.what())
		}
	}
	return sortedSet(found)
}

func (c Change) what() string {
	switch {
	case c.OldID == "" && c.OldMode == "":
		return "added"
	case c.NewID == "" && c.NewMode == "":
		return "removed"
	case fileType(c.OldMode) != fileType(c.NewMode):
		return fmt.Sprintf("was %s, is %s", fileType(c.OldMode), fileType(c.NewMode))
	case c.OldID == c.NewID:
		return fmt.Sprintf("mode changed from %s to %s", c.OldMode, c.NewMode)
	}
	return "content changed"
}

func fileType(mode string) string {
	switch mode {
	case "120000":
		return "a symbolic link"
	case "160000":
		return "a submodule"
	case "040000", "40000":
		return "a folder"
	}
	return "a file"
}

// shownPath is a path as messages show it: quoted when it has anything in it
// that would not show as it is.
func shownPath(path string) string {
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` || strings.TrimSpace(path) != path {
		return quoted
	}
	return path
}
