package report

import (
	"regexp"
	"strings"
	"unicode"
)

// linked finds what a forge makes a link or a mention of by itself, or sets as a
// formula, although nothing in it is Markdown: addresses, @names, numbers of
// issues. A backslash does not stop all of that; a code span does.
var linked = regexp.MustCompile("(?i)@|://|www\\.|mailto:|xmpp:|#[0-9]|\\bgh-[0-9]|\\$|`")

// prose escapes a cleaned text on one line for Markdown, so that it reads as it
// is. Words that a forge would act on stand in a code span.
func prose(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		if strings.ContainsAny(w, "@:#.-$`") && linked.MatchString(w) {
			words[i] = code(w)
			continue
		}
		words[i] = escaped(w)
		if i == 0 {
			words[i] = blockEscaped(words[i])
		}
	}
	return strings.Join(words, " ")
}

// escaped puts a backslash before what is markup inside of a line.
func escaped(w string) string {
	var b strings.Builder
	runes := []rune(w)
	for i, r := range runes {
		switch {
		case strings.ContainsRune("\\*[]<>&|~", r),
			r == '_' && (i == 0 || i == len(runes)-1 || !wordy(runes[i-1]) || !wordy(runes[i+1])):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func wordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// blockEscaped takes from the first word of a text the power to begin a heading, a
// list or a rule.
func blockEscaped(w string) string {
	if strings.Trim(w, w[:1]) == "" && strings.Contains("#+-=", w[:1]) {
		return `\` + w
	}
	digits := strings.TrimLeft(w, "0123456789")
	if digits != w && (digits == "." || digits == ")") {
		return strings.TrimSuffix(w, digits) + `\` + digits
	}
	return w
}

// code is a code span: its fence is longer than every run of backticks within.
func code(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// fenced is a block of code of a language, "" for none.
func fenced(language, s string) string {
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	return fence + language + "\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
}

// longestRun is the length of the longest run of backticks.
func longestRun(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
