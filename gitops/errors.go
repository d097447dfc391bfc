package gitops

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

var (
	// ErrNotFound is returned for a revision, commit or path that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrMoved is returned when a ref no longer has the value that the caller saw.
	ErrMoved = errors.New("the ref was moved by someone else")
	// ErrNoChange is returned by Collect when the workspace equals its base.
	ErrNoChange = errors.New("no change")
	// ErrRefused is returned by Collect for what a candidate must not bring.
	ErrRefused = errors.New("refused")
	// ErrTooLarge is returned for content beyond the limit of the call.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrNotRepository is returned by Open for a folder outside any repository.
	ErrNotRepository = errors.New("not a git repository")
	// ErrBare is returned by Open for a repository without a checkout.
	ErrBare = errors.New("the repository is bare: it has no checkout")
	// ErrUnborn is returned by Open for a repository without a commit.
	ErrUnborn = errors.New("the repository has no commit yet")
	// ErrShallow is returned by Open for a shallow clone.
	ErrShallow = errors.New("the repository is a shallow clone: part of its history is missing")
	// ErrOwnership is returned by Open when git distrusts the repository's owner.
	ErrOwnership = errors.New("git does not trust the owner of the repository")
	// ErrOldGit is returned by Open when the git program is too old.
	ErrOldGit = errors.New("the git program is too old")
)

// Error says what was being done, where, what is wrong and what to do.
type Error struct {
	Op   string // "open repository"
	Path string // folder, file, ref or revision; may be empty
	Msg  string // one line or git's own words, free of control characters
	Hint string // what to do; may be empty
	Err  error  // a sentinel of this package or a cause; may be nil
}

// Error gives the parts that are set, in reading order.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Path != "" {
		b.WriteString(" " + printable(e.Path))
	}
	msg := e.Msg
	if msg == "" && e.Err != nil {
		msg = e.Err.Error()
	}
	b.WriteString(": " + msg)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func wrong(op, path string, err error, hint string) *Error {
	return &Error{Op: op, Path: path, Err: err, Hint: hint}
}

// printable makes text from a repository safe to show: names and git's messages
// may hold escape codes and newlines.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '?'
		}
		return r
	}, s)
}

// gitWords reduces what git printed on stderr to a few printable lines.
func gitWords(stderr []byte) string {
	var keep []string
	for line := range strings.SplitSeq(string(stderr), "\n") {
		line = strings.TrimSpace(printable(strings.ReplaceAll(line, "\t", " ")))
		if line == "" || strings.HasPrefix(line, "hint:") {
			continue
		}
		keep = append(keep, line)
		if len(keep) == 12 {
			break
		}
	}
	return strings.Join(keep, "\n")
}

// listed names at most eight paths, so that a message stays readable.
func listed(paths []string) string {
	const most = 8
	shown := paths[:min(len(paths), most)]
	quoted := make([]string, len(shown))
	for i, p := range shown {
		quoted[i] = printable(p)
	}
	s := strings.Join(quoted, ", ")
	if rest := len(paths) - len(shown); rest > 0 {
		s += fmt.Sprintf(" and %d more", rest)
	}
	return s
}
