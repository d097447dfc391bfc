package tools

import (
	"fmt"
	"unicode/utf8"
)

// cutTo keeps the first limit bytes of a text, whole characters.
func cutTo(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// cutFrom keeps the last limit bytes of a text, whole characters.
func cutFrom(text string, limit int) string {
	start := len(text) - limit
	if start <= 0 {
		return text
	}
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return text[start:]
}

// middle keeps both ends of a text and says how much of total bytes is left out.
func middle(head, tail string, total int64) string {
	left := total - int64(len(head)+len(tail))
	if left <= 0 {
		return head + tail
	}
	return fmt.Sprintf("%s\n[%d bytes are left out]\n%s", head, left, tail)
}
