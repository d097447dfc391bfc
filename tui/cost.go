package tui

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"si/internal/clean"
	"si/track"
)

// writeRoles prints a line for each role of which something is known beyond its
// number of tasks.
func writeRoles(b *strings.Builder, roles []track.RoleCost) {
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	for _, c := range roles {
		if c.Spent.Usage == nil && c.Spent.CostUSD == nil {
			continue
		}
		_, _ = fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", clean.Line(c.Role, 40), clean.Line(strings.Join(c.Agents, ", "), 60), plural(c.Tasks, "task"), RoleSpent(c)) // Flush reports
	}
	_ = tw.Flush() // a strings.Builder takes everything
}

// RoleSpent says what a role cost, and for how many of its tasks that is not known.
func RoleSpent(c track.RoleCost) string {
	s := SpentText(&c.Spent)
	if c.Unknown > 0 && c.Spent.CostUSD != nil {
		s += fmt.Sprintf(" (cost of %s unknown)", plural(c.Unknown, "task"))
	}
	return s
}

// SpentText says what was spent, "" when nothing is known: 12.3k tokens, $0.12,
// 9 tool calls.
func SpentText(s *track.Spent) string {
	if s == nil {
		return ""
	}
	var parts []string
	if s.Usage != nil {
		parts = append(parts, Count(s.Usage.Total())+" tokens")
	}
	switch {
	case s.CostUSD != nil:
		parts = append(parts, Dollars(*s.CostUSD))
	case s.Usage != nil:
		parts = append(parts, "cost unknown")
	}
	if s.Tools > 0 {
		parts = append(parts, plural(s.Tools, "tool call"))
	}
	return strings.Join(parts, ", ")
}

// Dollars prints an amount of money: with four digits below a cent's reach, where
// two would say that it was free.
func Dollars(usd float64) string {
	if usd > 0 && usd < 0.1 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// Count prints a large number in thousands or millions.
func Count(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.0fM", float64(n)/1e6)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	case n >= 1_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
