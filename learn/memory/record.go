package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"si/internal/clean"
)

// DefaultType is the type of a record that names none.
const DefaultType = "fact"

// Errors that a caller tells apart.
var (
	// ErrForgotten says that a person had this text forgotten; it is not taken again.
	ErrForgotten = errors.New("it was forgotten by a person before")
	// ErrNotFound says that no memory has the id.
	ErrNotFound = errors.New("no such memory")
)

// sound makes the texts harmless and refuses what is no memory.
func (r Record) sound() (Record, error) {
	if len(r.Content) > 8*maxContent {
		return r, tooLong(len(r.Content), "bytes")
	}
	r.Content = strings.TrimSpace(clean.Text([]byte(r.Content)))
	if r.Content == "" {
		return r, errors.New("the content is empty")
	}
	if n := utf8.RuneCountInString(r.Content); n > maxContent {
		return r, tooLong(n, "characters")
	}
	if r.Type = word(r.Type); r.Type == "" {
		r.Type = DefaultType
	}
	r.Tags = wordsOf(r.Tags)
	r.From.Run, r.From.Role = clean.Line(r.From.Run, 80), clean.Line(r.From.Role, maxWord)
	var proofs []string
	for _, e := range r.From.Evidence[:min(len(r.From.Evidence), maxProof)] {
		if e = clean.Line(e, 200); e != "" {
			proofs = append(proofs, e)
		}
	}
	r.From.Evidence = proofs
	return r, nil
}

func tooLong(n int, unit string) error {
	return fmt.Errorf("the content has %d %s; a memory has at most %d characters", n, unit, maxContent)
}

func wordsOf(tags []string) []string {
	var out []string
	for _, t := range tags {
		if t = word(t); t != "" && !slices.Contains(out, t) && len(out) < maxTags {
			out = append(out, t)
		}
	}
	return out
}

// word makes a type or a tag: lower-case letters, digits and single hyphens.
func word(text string) string {
	parts := strings.FieldsFunc(strings.ToLower(clean.Line(text, 4*maxWord)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	out := []rune(strings.Join(parts, "-"))
	return strings.TrimRight(string(out[:min(len(out), maxWord)]), "-")
}

// digestOf names a text whatever its case and its blanks are.
func digestOf(content string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.Join(strings.Fields(content), " "))))
	return hex.EncodeToString(sum[:16])
}
