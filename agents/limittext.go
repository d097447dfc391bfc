package agents

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// LimitUntil reads out of the text of a usage limit when it is lifted: a moment,
// an epoch, a span, or a time of the day with or without a date and a zone. What
// has no zone is in zone, the user's (programs print the machine's time). The
// result is zero when the text does not say. A time of the day that has just
// passed is that of today, not of tomorrow: texts round down.
func LimitUntil(text string, now time.Time, zone *time.Location) time.Time {
	if zone == nil {
		zone = now.Location()
	}
	text = spaced(text[:min(len(text), maxLimitText)])
	for _, at := range limitAnchor().FindAllStringIndex(text, 50) {
		tail := text[at[1]:min(len(text), at[1]+maxLimitTail)]
		if t := limitTail(tail, strings.ToLower(text[at[0]:at[1]]), now, zone); plausible(t, now) {
			return t
		}
	}
	if m := regexp.MustCompile(`\|(\d{10}|\d{13})\b`).FindStringSubmatch(text); m != nil {
		if t := epoch(m[1]); plausible(t, now) {
			return t
		}
	}
	return time.Time{}
}

const (
	maxLimitText = 16 << 10
	maxLimitTail = 120             // bytes after a word such as "resets" that are looked at
	justPassed   = 5 * time.Minute // by which a time may be over already
)

// spaced replaces the odd blanks and quotes of programs that print times by locale.
func spaced(text string) string {
	return strings.NewReplacer("\u00a0", " ", "\u202f", " ", "’", "'", "\n", " ", "\t", " ").Replace(text)
}

func plausible(t, now time.Time) bool {
	return !t.IsZero() && t.After(now.Add(-justPassed)) && t.Before(now.AddDate(20, 0, 0))
}

// limitAnchor are the words after which a time stands.
func limitAnchor() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:retry-after-ms|resets?(?:[ _-]?(?:at|in|on|time|after))?|resetsat|(?:try|available|continue|resume|start)\w* again(?: at| on| in| after)?|retry(?:ing)?(?:[ -]?(?:at|in|after))?|wait(?: for)?|until|lifted|renews?(?: at| on| in)?|refresh(?:es)?(?: at| on| in)?)\b`)
}

// limitTail reads what follows an anchor.
func limitTail(tail, anchor string, now time.Time, zone *time.Location) time.Time {
	tail = strings.TrimLeft(tail, ` "':=>,([`)
	for _, read := range []func(string, time.Time, *time.Location) time.Time{moment, span, clockTime} {
		if t := read(tail, now, zone); !t.IsZero() {
			return t
		}
	}
	m := regexp.MustCompile(`^(?:(?:at|in|on) )?(\d+(?:\.\d+)?)\b`).FindStringSubmatch(tail)
	if m == nil {
		return time.Time{}
	}
	if t := epoch(m[1]); !t.IsZero() {
		return t
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n > 1e9 || !strings.Contains(anchor, "after") {
		return time.Time{}
	}
	if strings.HasSuffix(anchor, "-ms") {
		n /= 1000
	}
	return now.Add(time.Duration(n * float64(time.Second)))
}

// epoch reads seconds or milliseconds after 1970, of this century.
func epoch(text string) time.Time {
	whole, _, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err == nil && len(whole) == 13 {
		n /= 1000
	} else if len(whole) != 10 {
		return time.Time{}
	}
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// moment reads a whole date and time as machines write it.
func moment(tail string, _ time.Time, zone *time.Location) time.Time {
	iso := regexp.MustCompile(`^(?:(?:at|on) )?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:\.\d+)?)? ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?`)
	if m := iso.FindStringSubmatch(tail); m != nil {
		if m[3] == "" {
			m[3] = "00"
		}
		where, named := zone, m[4] != ""
		if named {
			where = zoneOf(m[4], zone)
		}
		t, err := time.ParseInLocation("2006-01-02 15:04:05", m[1]+" "+m[2]+":"+m[3], where)
		if err == nil {
			return t
		}
	}
	if len(tail) >= len(http.TimeFormat) {
		if t, err := http.ParseTime(tail[:len(http.TimeFormat)]); err == nil {
			return t
		}
	}
	return time.Time{}
}

// span reads "in 2 hours 5 minutes", "6m0s", "1 day, 3 hrs".
func span(tail string, now time.Time, _ *time.Location) time.Time {
	tail = strings.ToLower(tail)
	for _, word := range []string{"in ", "after ", "another ", "about "} {
		tail = strings.TrimPrefix(tail, word)
	}
	unit := regexp.MustCompile(`^(?:,? ?(?:and )?)(\d+(?:\.\d+)?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)(?:\b|(\d))`)
	var sum time.Duration
	for found := 0; ; found++ {
		m := unit.FindStringSubmatchIndex(tail)
		if m == nil || found == 6 {
			if found == 0 {
				return time.Time{}
			}
			return now.Add(sum)
		}
		n, err := strconv.ParseFloat(tail[m[2]:m[3]], 64)
		if err != nil || n > 1e6 {
			return time.Time{}
		}
		sum += time.Duration(n * float64(unitOf(tail[m[4]:m[5]])))
		tail = tail[m[5]:]
	}
}

func unitOf(word string) time.Duration {
	switch {
	case strings.HasPrefix(word, "ms"), strings.HasPrefix(word, "milli"):
		return time.Millisecond
	case word[0] == 's':
		return time.Second
	case word[0] == 'm':
		return time.Minute
	case word[0] == 'h':
		return time.Hour
	case word[0] == 'd':
		return 24 * time.Hour
	}
	return 7 * 24 * time.Hour
}
