package benchmark

import (
	"errors"
	"strings"
)

// numberLines reads the format number: the last line that is one number.
type numberLines struct {
	metric string
	seen   int
	last   string
	after  bool
	end    string
}

func (n *numberLines) line(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	n.end, n.after = text, true
	// What is a number but not a finite one counts: "nan" as the last word of
	// a run must not uncover a number before it.
	if _, err := parseNumber(text); !errors.Is(err, errNotNumber) {
		n.seen, n.last, n.after = n.seen+1, text, false
	}
}

func (n *numberLines) finish() (Reading, *Fault) {
	if n.seen == 0 {
		return Reading{}, parseFault(n.end, "no line of the output is one number")
	}
	score, err := parseNumber(n.last)
	if err != nil {
		return Reading{}, parseFault(n.last, "the last number %v", err)
	}
	return Reading{Metric: n.metric, Score: score, Odd: oddLines(n.seen, n.after)}, nil
}
