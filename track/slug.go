package track

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// DefaultSlug is the topic slug of a track without a topic.
const DefaultSlug = "default"

// maxSlug bounds a topic slug in bytes: it is a folder's name and a part of
// branch names.
const maxSlug = 200

// maxGoalSlug bounds a goal slug in bytes.
const maxGoalSlug = 60

// Slugify turns the words of a topic into a folder's name: a to z, 0 to 9 and
// single hyphens. It gives "" when nothing of the text remains.
func Slugify(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(unicode.ToLower(r))
		case unicode.Is(unicode.Mn, r): // a combining mark, split off by NFKD
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), "-")
}

// topicSlug is the slug of a topic that the user gave in words. A text that
// leaves nothing, and held more than punctuation, is refused: every such topic
// would share one track.
func topicSlug(topic string) (string, error) {
	slug := Slugify(topic)
	if len(slug) > maxSlug {
		return "", fmt.Errorf("topic: its slug has %d characters and at most %d are possible; give a short one with --slug", len(slug), maxSlug)
	}
	if slug != "" {
		return slug, nil
	}
	for _, r := range topic {
		if r > unicode.MaxASCII && !unicode.IsSpace(r) {
			return "", fmt.Errorf("topic %q: none of its characters can stand in a folder's name; name the track with --slug", clip(topic, 60))
		}
	}
	return DefaultSlug, nil
}

// givenSlug is the slug that the user gave as such. Blanks and capitals are put
// right; what could lead out of the folder is refused.
func givenSlug(slug string) (string, error) {
	for _, r := range slug {
		if r == '/' || r == '\\' || unicode.IsControl(r) {
			return "", fmt.Errorf("slug %q: %q cannot stand in it; use a to z, 0 to 9 and hyphens", clip(slug, 60), r)
		}
	}
	out := Slugify(slug)
	if out == "" {
		return "", fmt.Errorf("slug %q: nothing of it can stand in a folder's name; use a to z, 0 to 9 and hyphens", clip(slug, 60))
	}
	if len(out) > maxSlug {
		return "", fmt.Errorf("slug: it has %d characters and at most %d are possible", len(out), maxSlug)
	}
	return out, nil
}

// sessionName checks a session id, which becomes a folder's name as it is.
func sessionName(id string) (string, error) {
	id = strings.TrimSpace(id)
	if id == "" || isName(id) {
		return id, nil
	}
	return "", fmt.Errorf("session id %q: want at most %d letters, digits, '.', '_' or '-', beginning with a letter or digit", clip(id, 60), maxName)
}

// maxName bounds ids that stand in file names and refs.
const maxName = 128

// isName reports whether id can stand in a file's name and in a ref as it is.
func isName(id string) bool {
	if id == "" || len(id) > maxName || strings.Contains(id, "..") || strings.HasSuffix(id, ".lock") || strings.HasSuffix(id, ".") {
		return false
	}
	for i, r := range id {
		alnum := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return true
}

// GoalSlug names the branch of a goal after its objective: words of a to z and
// 0 to 9 joined by _, at most 60 characters, cut where a word ends.
func GoalSlug(objective string) string {
	slug := strings.ReplaceAll(Slugify(objective), "-", "_")
	if len(slug) > maxGoalSlug {
		end := strings.LastIndexByte(slug[:maxGoalSlug+1], '_')
		if end <= 0 {
			end = maxGoalSlug // one long word
		}
		slug = slug[:end]
	}
	if slug == "" {
		return "goal"
	}
	return slug
}

// clip cuts a text for a message to at most n characters.
func clip(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:n]) + "…"
}
