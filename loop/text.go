package loop

import (
	"fmt"
	"strings"

	"si/internal/clean"
)

// maxSubject is the longest subject line of a commit of ours, in characters.
const maxSubject = 200

// subject makes one clean line of a hypothesis, which a model may have written.
func subject(hypothesis string) string {
	s := strings.Join(strings.Fields(clean.Text([]byte(hypothesis))), " ")
	if s == "" {
		return "change without a hypothesis"
	}
	return clean.Line(s, maxSubject)
}

// quoted lists paths for a message; they may hold anything.
func quoted(paths []string) string {
	const most = 20
	var b strings.Builder
	for i, p := range paths {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(paths)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", p)
	}
	return b.String()
}

func orDefault(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

// joinArgs writes arguments as a person would type them.
func joinArgs(args []string) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if strings.ContainsAny(a, " \t\n'\"$&;|<>()*?#~`\\!") || a == "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		b.WriteString(a)
	}
	return b.String()
}
