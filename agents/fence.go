package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"si/internal/clean"
)

const cutNote = "\n[the rest is left out]"

// fence puts a text of unknown origin between a begin and an end line that the
// text cannot contain: their key is derived from the text until it does not
// occur in it. The text is cleaned, and cut to limit bytes. An empty text gives
// "". The result depends on nothing but its arguments, so a prompt can be
// rendered again after a crash.
func fence(label, text string, limit int) string {
	more := len(text) > 8*limit // what is cut off below need not be cleaned
	text = cut(strings.TrimSpace(clean.Text([]byte(text[:min(len(text), 8*limit)]))), limit)
	if more && !strings.HasSuffix(text, cutNote) {
		text += cutNote
	}
	if text == "" {
		return ""
	}
	key := fenceKey(text)
	return fmt.Sprintf("----- begin %s %s -----\n%s\n----- end %s %s -----", label, key, text, label, key)
}

func fenceKey(text string) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s", n, text))
		if key := hex.EncodeToString(sum[:6]); !strings.Contains(text, key) {
			return key
		}
	}
}

// cut shortens a text to at most limit bytes, the note about it not counted,
// at the end of a line when there is one in the last quarter.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if nl := strings.LastIndexByte(text[:end], '\n'); nl > limit*3/4 {
		end = nl
	}
	return text[:end] + cutNote
}
