package mistakes

import (
	"fmt"
	"regexp"
	"strings"

	"si/learn/place"
)

// Ledger is MISTAKES.md as it was read.
type Ledger struct {
	Exists   bool
	Entries  []Entry // as in the file
	Problems []Problem
	Unclosed int // line that opens a block of code or a comment without end

	data  []byte
	lines []line
}

// Problem is an entry that cannot be counted.
type Problem struct {
	Line int    `json:"line"`
	What string `json:"what"`
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", place.Mistakes, p.Line, p.What) }

// Load reads the file. Without one nothing is recorded, which is how a repository
// says that it wants none of this.
func Load(p place.Place) (*Ledger, error) {
	data, err := p.Read(place.Mistakes)
	if err != nil {
		return nil, err
	}
	return parse(data), nil
}

var (
	headingForm = regexp.MustCompile(`^## +(\d{4}-\d{2}-\d{2}) +[—–-] +(.*)$`)
	dateLike    = regexp.MustCompile(`^## +\d{2,4}[-./]\d`)
	fieldForm   = regexp.MustCompile(`^[-*] +\*\*([A-Za-z ]+):\*\* ?(.*)$`)
	trailerForm = regexp.MustCompile("^`([^`]*)` · initiative `([^`]*)` · actor `([^`]*)` · proof `([^`]*)` · status `([^`]*)`\\s*$")
)

func parse(data []byte) *Ledger {
	l := &Ledger{Exists: data != nil, data: data}
	l.lines, l.Unclosed = scan(data)
	var open *Entry
	done := func() {
		if open != nil {
			l.close(*open)
		}
		open = nil
	}
	for i, ln := range l.lines {
		if ln.code || ln.note {
			continue
		}
		if strings.HasPrefix(ln.text, "# ") || strings.HasPrefix(ln.text, "## ") {
			done()
			open = l.heading(ln, i+1)
			continue
		}
		if open != nil {
			open.field(ln)
		}
	}
	done()
	return l
}

// heading begins an entry, or is another heading of the person who keeps the file.
func (l *Ledger) heading(ln line, number int) *Entry {
	m := headingForm.FindStringSubmatch(ln.text)
	if m == nil {
		if dateLike.MatchString(ln.text) {
			l.Problems = append(l.Problems, Problem{number, "the heading is not of the form '## 2026-11-03 — Title'"})
		}
		return nil
	}
	return &Entry{Date: m[1], Title: strings.TrimSpace(m[2]), Line: number, start: ln.start}
}

func (e *Entry) field(ln line) {
	m := fieldForm.FindStringSubmatchIndex(ln.text)
	if m == nil {
		return
	}
	value := ln.text[m[4]:m[5]]
	switch strings.ToLower(ln.text[m[2]:m[3]]) {
	case "what happened":
		e.What = value
	case "root cause":
		e.Cause = value
	case "consequence":
		e.Consequence = value
	case "prevention":
		e.Prevention = value
	case "signature":
		t := trailerForm.FindStringSubmatchIndex(value)
		if t == nil || e.Signature != "" {
			return
		}
		part := func(n int) string { return value[t[2*n]:t[2*n+1]] }
		e.Signature, e.Initiative, e.Actor, e.Proof, e.Status = part(1), part(2), part(3), part(4), Status(part(5))
		e.status, e.stop = ln.start+m[4]+t[10], ln.start+m[4]+t[11]
	}
}

// close takes an entry, or says why it cannot be counted. What people left out of
// the text around the trailer is their business.
func (l *Ledger) close(e Entry) {
	problem := ""
	switch {
	case e.Signature == "" && e.stop == 0:
		problem = "the entry has no line '- **Signature:** `…` · initiative `…` · actor `…` · proof `…` · status `…`'"
	case CheckSignature(e.Signature) != nil:
		problem = CheckSignature(e.Signature).Error()
	case !isDate(e.Date):
		problem = e.Date + " is no day of the calendar"
	case !e.Status.Valid():
		problem = fmt.Sprintf("the status %.40q is none of open, knowledge:K-<n>, law, wontfix", e.Status)
	default:
		l.Entries = append(l.Entries, e)
		return
	}
	l.Problems = append(l.Problems, Problem{e.Line, problem})
}

// setStatus returns the file with the status of the entries that pick chooses
// replaced, and not another byte.
func (l *Ledger) setStatus(pick func(Entry) bool, to Status) []byte {
	var out []byte
	from := 0
	for _, e := range l.Entries {
		if pick(e) {
			out = append(append(out, l.data[from:e.status]...), to...)
			from = e.stop
		}
	}
	return append(out, l.data[from:]...)
}

// with returns the file with a new entry: before the first one that is not younger,
// since the newest stand first.
func (l *Ledger) with(e Entry) []byte {
	at := len(l.data)
	for _, old := range l.Entries {
		if old.Date <= e.Date {
			at = old.start
			break
		}
	}
	eol := l.eol()
	text := e.render(eol)
	out := append([]byte{}, l.data[:at]...)
	if at == len(l.data) && at > 0 {
		if !strings.HasSuffix(string(l.data), "\n") {
			out = append(out, eol...)
		}
		if !strings.HasSuffix(string(out), "\n"+eol) {
			out = append(out, eol...)
		}
	} else if at < len(l.data) {
		text += eol
	}
	return append(append(out, text...), l.data[at:]...)
}

// eol is the line end that the file uses.
func (l *Ledger) eol() string {
	for _, ln := range l.lines {
		if ln.eol != "" {
			return ln.eol
		}
	}
	return "\n"
}
