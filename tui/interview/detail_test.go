package interview

import (
	"strings"
	"testing"
)

// TestExpressionsThatCannotBeUsed: a message quotes what was written, and says what
// would do.
func TestExpressionsThatCannotBeUsed(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		" ":                      "",
		`ops: (?P<value>[0-9]+)`: "",
		`ops: (`:                 `"ops: (" is no regular expression: missing closing ); write (?P<value>…)`,
		`ops: ([0-9]+)`:          `"ops: ([0-9]+)" has no group named value: write (?P<value>…)`,
		"(\x1b[2J":               `"(" is no regular expression`,
		`\p{Nowhere}`:            `"\\p{Nowhere}" is no regular expression: invalid character class range; write`,
	} {
		err := expression(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
