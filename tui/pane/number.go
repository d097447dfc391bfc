// Package pane draws the parts of the screen. Each view is a pure function of a
// scene, a look and a size: it gives lines of exactly that width, and never more
// of them than it was asked for.
package pane

import (
	"fmt"
	"strconv"
	"time"

	"si/tui"
	"si/tui/look"
)

// Elapsed writes a duration as a person reads it: 0.3s, 42s, 3m12s, 1h04m.
func Elapsed(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Count writes a large number in three digits: 950, 12.3k, 1.2M.
func Count(n int64) string {
	v, unit := float64(n), ""
	for _, next := range []string{"k", "M", "G"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	if unit == "" || v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64) + unit
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + unit
}

// Money writes dollars, with more digits when there are few of them.
func Money(v float64) string {
	if v > 0 && v < 0.1 {
		return fmt.Sprintf("$%.3f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

func score(v *float64) string {
	if v == nil {
		return ""
	}
	return tui.Score(*v)
}

func percent(v float64) string { return fmt.Sprintf("%+.2f%%", 100*v) }

func span(p look.Paint, format string, args ...any) look.Span {
	return look.Span{Paint: p, Text: fmt.Sprintf(format, args...)}
}
