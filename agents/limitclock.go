package agents

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// clockTime reads a time as programs say it to people: "3pm (Europe/Berlin)",
// "Dec 3rd, 2026 4:15 PM", "Mon 12:00 AM", "tomorrow at 9:30".
func clockTime(tail string, now time.Time, zone *time.Location) time.Time {
	low := strings.ToLower(tail)
	d := dateIn(low)
	hour, minute, end := clockIn(low, d.end)
	if end < 0 {
		if !d.found() {
			return time.Time{}
		}
		end = d.end
	}
	where := zone
	if m := regexp.MustCompile(`^[ ,]*\(?([A-Za-z]+(?:/[A-Za-z_+-]+)+|[A-Z]{2,4}\b|[+-]\d\d:?\d\d|(?:Pacific|Eastern)\b)`).FindStringSubmatch(tail[end:]); m != nil {
		where = zoneOf(m[1], zone)
	}
	return d.at(now.In(where), hour, minute)
}

// limitDate is the date that a text names, as far as it does.
type limitDate struct {
	year, day int
	month     time.Month
	weekday   int // 1 is Sunday; 0 is none
	tomorrow  bool
	end       int // bytes of the text up to its end
}

func (d limitDate) found() bool { return d.end > 0 }

// dateIn reads a date at the start of a text in lower case.
func dateIn(low string) limitDate {
	const months = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
	lead := `^(?:(?:at|on|until) )?(?:(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*,? )?`
	first := regexp.MustCompile(lead + months + ` (\d{1,2})(?:st|nd|rd|th)?\b(?:,? (\d{4})\b)?`)
	second := regexp.MustCompile(lead + `(\d{1,2})(?:st|nd|rd|th)?\.? ` + months + `(?:,? (\d{4})\b)?`)
	if m := first.FindStringSubmatchIndex(low); m != nil {
		return limitDate{month: monthOf(low[m[2]:m[3]]), day: atoi(low[m[4]:m[5]]), year: group(low, m, 3), end: m[1]}
	}
	if m := second.FindStringSubmatchIndex(low); m != nil {
		return limitDate{month: monthOf(low[m[4]:m[5]]), day: atoi(low[m[2]:m[3]]), year: group(low, m, 3), end: m[1]}
	}
	if m := regexp.MustCompile(`^(?:on )?(?:next )?(sun|mon|tue|wed|thu|fri|sat)(?:s|nes|rs|ur)?(?:day)?\b`).FindStringSubmatchIndex(low); m != nil {
		return limitDate{weekday: 1 + strings.Index("sunmontuewedthufrisat", low[m[2]:m[3]])/3, end: m[1]}
	}
	if m := regexp.MustCompile(`^tomorrow\b`).FindStringIndex(low); m != nil {
		return limitDate{tomorrow: true, end: m[1]}
	}
	return limitDate{}
}

func group(text string, m []int, n int) int {
	if m[2*n] < 0 {
		return 0
	}
	return atoi(text[m[2*n]:m[2*n+1]])
}

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

func monthOf(word string) time.Month {
	return time.Month(1 + strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", word)/3)
}

// clockIn reads the time of the day that stands at from; end is -1 without one.
func clockIn(low string, from int) (hour, minute, end int) {
	half := regexp.MustCompile(`^[ ,]*(?:at )?(\d{1,2})(?::(\d\d))?(?::\d\d)? ?([ap])\.?m\b\.?`)
	full := regexp.MustCompile(`^[ ,]*(?:at )?(\d{1,2}):(\d\d)(?::\d\d)?\b`)
	rest := low[from:]
	if m := half.FindStringSubmatchIndex(rest); m != nil {
		hour, minute = atoi(rest[m[2]:m[3]]), group(rest, m, 2)
		if hour < 1 || hour > 12 || minute > 59 {
			return 0, 0, -1
		}
		hour %= 12
		if rest[m[6]] == 'p' {
			hour += 12
		}
		return hour, minute, from + m[1]
	}
	if m := full.FindStringSubmatchIndex(rest); m != nil {
		hour, minute = atoi(rest[m[2]:m[3]]), atoi(rest[m[4]:m[5]])
		if hour > 23 || minute > 59 {
			return 0, 0, -1
		}
		return hour, minute, from + m[1]
	}
	for word, h := range map[string]int{"midnight": 0, "noon": 12} {
		if m := regexp.MustCompile(`^[ ,]*(?:at )?` + word + `\b`).FindStringIndex(rest); m != nil {
			return h, 0, from + m[1]
		}
	}
	return 0, 0, -1
}

// at is the next moment that has the date and the time of the day. now is in the
// zone of the text.
func (d limitDate) at(now time.Time, hour, minute int) time.Time {
	on := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, hour, minute, 0, 0, now.Location())
	}
	today := on(now.Year(), now.Month(), now.Day())
	passed := func(t time.Time) bool { return t.Before(now.Add(-justPassed)) }
	switch {
	case d.day > 31:
		return time.Time{}
	case d.year > 0:
		return on(d.year, d.month, d.day)
	case d.day > 0:
		t := on(now.Year(), d.month, d.day)
		if now.Sub(t) > 7*24*time.Hour { // December's text about January
			t = on(now.Year()+1, d.month, d.day)
		}
		return t
	case d.tomorrow:
		return today.AddDate(0, 0, 1)
	case d.weekday > 0:
		t := today.AddDate(0, 0, (d.weekday-1-int(now.Weekday())+7)%7)
		if passed(t) {
			t = t.AddDate(0, 0, 7)
		}
		return t
	case passed(today):
		return today.AddDate(0, 0, 1)
	}
	return today
}

// zoneOf is the zone that a text names. A name that is not known is the user's
// zone: programs print the machine's.
func zoneOf(name string, otherwise *time.Location) *time.Location {
	if m := regexp.MustCompile(`^([+-])(\d\d):?(\d\d)$`).FindStringSubmatch(name); m != nil {
		offset := atoi(m[2])*3600 + atoi(m[3])*60
		if m[1] == "-" {
			offset = -offset
		}
		return time.FixedZone(name, offset)
	}
	hours, known := map[string]float64{
		"Z": 0, "UTC": 0, "GMT": 0, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "JST": 9, "KST": 9,
		"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
	}[strings.ToUpper(name)]
	if known {
		return time.FixedZone(name, int(hours*3600))
	}
	switch name {
	case "Pacific", "PT":
		name = "America/Los_Angeles"
	case "Eastern", "ET":
		name = "America/New_York"
	}
	if where, err := time.LoadLocation(name); err == nil && strings.Contains(name, "/") {
		return where
	}
	return otherwise
}
