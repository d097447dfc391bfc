package secret

import "strings"

// Stream hides secrets in what comes in parts. What may be the beginning of one waits
// for the next part. It is not safe for concurrent use.
type Stream struct {
	all  []string
	held string
}

// Stream begins a stream.
func (s Set) Stream() *Stream { return &Stream{all: s.all} }

// Next takes a part, and gives what is sure.
func (t *Stream) Next(part string) string {
	if len(t.all) == 0 {
		return part
	}
	text := t.held + part
	if at, _ := t.first(text); at < 0 && t.unsure(text) == 0 {
		t.held = ""
		return text
	}
	var out strings.Builder
	for {
		at, one := t.first(text)
		if at < 0 {
			break
		}
		out.WriteString(text[:at])
		out.WriteString(Hidden)
		text = text[at+len(one):]
	}
	sure := len(text) - t.unsure(text)
	out.WriteString(text[:sure])
	t.held = strings.Clone(text[sure:])
	return out.String()
}

// first is the first secret in text, the longest of those that begin at its place.
func (t *Stream) first(text string) (at int, one string) {
	at = -1
	for _, s := range t.all {
		if i := strings.Index(text, s); i >= 0 && (at < 0 || i < at) {
			at, one = i, s
			text = text[:min(len(text), i+len(s))] // others have to begin before
		}
	}
	return at, one
}

// unsure is how many bytes at the end of text may be the beginning of a secret.
func (t *Stream) unsure(text string) int {
	longest := 0
	for _, s := range t.all {
		for n := min(len(s)-1, len(text)); n > longest; n-- {
			if strings.HasSuffix(text, s[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// Rest is what has waited, when nothing more comes.
func (t *Stream) Rest() string {
	rest := t.held
	t.held = ""
	return rest
}
