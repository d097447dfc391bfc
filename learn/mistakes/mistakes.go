// Package mistakes reads and writes MISTAKES.md, where a repository keeps what went
// wrong in it, and the fence in the rules file that holds what became law. People
// edit both files freely: nothing but what is to be changed changes a byte. Whether
// two failures are the same one is judged by who gives them a signature; here they
// are counted, by the runs and commits in which they happened.
package mistakes

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"si/internal/clean"
	"si/learn/knowledge"
)

// Limits of an entry, in code points.
const (
	maxField     = 1000
	maxTitle     = 100
	maxSignature = 60
	maxTrailer   = 100
)

// Status says what became of a mistake.
type Status string

// The states of an entry; the fourth is knowledge:<id>.
const (
	Open    Status = "open"
	Law     Status = "law"
	WontFix Status = "wontfix"
)

const promoted = "knowledge:"

// ForKnowledge is the status of a mistake that an entry was made of.
func ForKnowledge(id string) Status { return Status(promoted + id) }

// Knowledge is the id of the entry that was made of the mistake.
func (s Status) Knowledge() (id string, ok bool) { return strings.CutPrefix(string(s), promoted) }

// Valid reports whether it is one of the states.
func (s Status) Valid() bool {
	id, ok := s.Knowledge()
	return s == Open || s == Law || s == WontFix || ok && knowledge.IsID(id)
}

// Entry is one mistake.
type Entry struct {
	Date        string `json:"date"` // 2006-01-02
	Title       string `json:"title"`
	What        string `json:"what_happened"`
	Cause       string `json:"root_cause"`
	Consequence string `json:"consequence"`
	Prevention  string `json:"prevention"`
	Signature   string `json:"signature"`
	Initiative  string `json:"initiative"` // the track
	Actor       string `json:"actor"`      // the role
	Proof       string `json:"proof"`      // F-<n>, a commit, or none
	Status      Status `json:"status"`
	Line        int    `json:"line"`

	start        int // byte at which the heading begins
	status, stop int // bytes of the status token
}

var signatureForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// CheckSignature says what is wrong with a signature.
func CheckSignature(s string) error {
	if !signatureForm.MatchString(s) || len(s) > maxSignature {
		return fmt.Errorf("signature: %.80q is not lower-case words joined by hyphens, of at most %d characters", s, maxSignature)
	}
	return nil
}

// normal returns the entry as it is written, or what is wrong with it. Values are
// put on one line, so that none can pass for a heading or a trailer; nothing is cut.
func (e Entry) normal() (Entry, error) {
	for _, f := range []struct {
		name  string
		value *string
		limit int
		tick  bool // a back-tick would end the value
	}{
		{"title", &e.Title, maxTitle, false},
		{"what happened", &e.What, maxField, false},
		{"root cause", &e.Cause, maxField, false},
		{"consequence", &e.Consequence, maxField, false},
		{"prevention", &e.Prevention, maxField, false},
		{"initiative", &e.Initiative, maxTrailer, true},
		{"actor", &e.Actor, maxTrailer, true},
		{"proof", &e.Proof, maxTrailer, true},
	} {
		*f.value = strings.Join(strings.Fields(clean.Text([]byte(*f.value))), " ")
		n := utf8.RuneCountInString(*f.value)
		switch {
		case n == 0:
			return e, fmt.Errorf("%s: it is empty", f.name)
		case n > f.limit:
			return e, fmt.Errorf("%s: it has %d code points, the most are %d; say it shorter", f.name, n, f.limit)
		case f.tick && strings.Contains(*f.value, "`"):
			return e, fmt.Errorf("%s: it holds a back-tick", f.name)
		}
	}
	if !isDate(e.Date) {
		return e, fmt.Errorf("date: %.40q is no day of the calendar, such as 2026-11-03", e.Date)
	}
	if !e.Status.Valid() {
		return e, fmt.Errorf("status: %.40q is none of open, knowledge:K-<n>, law, wontfix", e.Status)
	}
	return e, CheckSignature(e.Signature)
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// render is the entry in the file's form.
func (e Entry) render(eol string) string {
	return strings.Join([]string{
		"## " + e.Date + " — " + e.Title, "",
		"- **What happened:** " + e.What,
		"- **Root cause:** " + e.Cause,
		"- **Consequence:** " + e.Consequence,
		"- **Prevention:** " + e.Prevention,
		fmt.Sprintf("- **Signature:** `%s` · initiative `%s` · actor `%s` · proof `%s` · status `%s`", e.Signature, e.Initiative, e.Actor, e.Proof, e.Status), "",
	}, eol)
}
