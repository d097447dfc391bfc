package tui

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"si/internal/clean"
	"si/track"
)

// mostRefused is how many refused candidates the summary lists; `si history`
// has them all.
const mostRefused = 10

// SummaryHead begins the summary of a run.
const SummaryHead = "=== Self-Improvement Loop Complete ==="

// Summary prints the end of a run.
func Summary(out io.Writer, s track.Summary) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", SummaryHead)
	fmt.Fprintf(&b, "Status: %s\n", s.Status)
	if s.Reason != "" {
		fmt.Fprintf(&b, "Reason: %s\n", clean.Line(strings.ReplaceAll(clean.Text([]byte(s.Reason)), "\n", "\n        "), 4000))
	}
	fmt.Fprintf(&b, "Iterations: %d\n", s.Iterations)
	fmt.Fprintf(&b, "Best Score: %s (baseline: %s)\n", optional(s.Best), optional(s.Baseline))
	fmt.Fprintf(&b, "Improvement: %s\n", improvement(s))
	writeKept(&b, s)
	writeRefused(&b, s)
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "\nNote: %s\n", n)
	}
	fmt.Fprintf(&b, "\nCost: %d agent tasks, %d benchmark runs, %s\n", s.AgentTasks, s.Runs, duration(s.Seconds))
	writeRoles(&b, s.Roles)
	if s.Rate != "" {
		fmt.Fprintf(&b, "Error rate: %s\n", s.Rate)
	}
	fmt.Fprintf(&b, "Branch: %s at %s\nChart: %s\nNext: %s\n", s.Branch, shortID(s.Champion), s.Chart, s.Next)
	_, err := io.WriteString(out, b.String())
	return err
}

func writeKept(b *strings.Builder, s track.Summary) {
	if len(s.Kept) == 0 {
		fmt.Fprintf(b, "\nNothing was kept.\n")
		return
	}
	fmt.Fprintf(b, "\nKept (%d):\n", len(s.Kept))
	for _, k := range s.Kept {
		fmt.Fprintf(b, "  round %d  %s  %s  %s → %s  %s\n", k.Round, shortID(k.Commit), EffectText(k.Effect),
			Score(k.Before), Score(k.After), oneLine(k.Hypothesis))
		if k.Reason != "" { // what is in doubt of it
			fmt.Fprintf(b, "           %s\n", clean.Line(oneLine(k.Reason), 300))
		}
	}
}

func writeRefused(b *strings.Builder, s track.Summary) {
	n := len(s.Refused)
	if n == 0 && s.Rejected == 0 && s.Skipped == 0 && s.Idle == 0 {
		return
	}
	fmt.Fprintf(b, "\nTried and refused: %d; plans rejected in review: %d; agents left out: %d%s\n", n, s.Rejected, s.Skipped, Idle(s))
	if n > mostRefused {
		fmt.Fprintf(b, "  the last %d; 'si history' has them all\n", mostRefused)
	}
	for _, k := range s.Refused[max(0, n-mostRefused):] {
		fmt.Fprintf(b, "  round %d  %s  %s\n", k.Round, oneLine(k.Hypothesis), clean.Line(oneLine(k.Reason), 160))
	}
}

// Idle says in words how often agents had nothing to propose, "" for never.
func Idle(s track.Summary) string {
	if s.Idle == 0 {
		return ""
	}
	return fmt.Sprintf("; nothing to propose: %d", s.Idle)
}

// improvement is the whole gain, measured afresh; without that measurement it
// says so.
func improvement(s track.Summary) string {
	if s.Best == nil || s.Baseline == nil {
		return "unknown"
	}
	delta := *s.Best - *s.Baseline
	if s.Improvement == nil {
		if delta == 0 {
			return "0 (0%)"
		}
		pct := ""
		if *s.Baseline != 0 {
			pct = fmt.Sprintf(" (%+.2f%%)", 100*delta/math.Abs(*s.Baseline))
		}
		return fmt.Sprintf("%+.6g%s, by the rounds' own runs; not measured afresh", delta, pct)
	}
	return fmt.Sprintf("%+.6g (%s, start against champion, measured afresh in %d runs)", delta, EffectText(s.Improvement), s.Improvement.Runs)
}

// EffectText prints an effect with its interval: +12.3% [+10.1%, +14.0%].
func EffectText(e *track.Effect) string {
	if e == nil {
		return "not measured"
	}
	s := fmt.Sprintf("%+.2f%%", 100*e.Value)
	if e.Low != nil && e.High != nil && *e.Low == *e.High {
		return s + " exactly"
	}
	return s + fmt.Sprintf(" [%s, %s]", bound(e.Low, "−∞"), bound(e.High, "∞"))
}

func bound(v *float64, open string) string {
	if v == nil {
		return open
	}
	return fmt.Sprintf("%+.2f%%", 100**v)
}

// Score prints a score with six digits, without an exponent where people read
// none.
func Score(v float64) string {
	if a := math.Abs(v); a >= 1e6 && a < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func optional(v *float64) string {
	if v == nil {
		return "none"
	}
	return Score(*v)
}

func duration(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 2*3600:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
}
