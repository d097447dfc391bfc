package agents

import (
	"testing"
	"time"
)

func TestLimitUntil(t *testing.T) {
	berlin := mustZone(t, "Europe/Berlin")
	now := time.Date(2026, 12, 2, 14, 30, 20, 0, berlin) // a Wednesday
	for _, tc := range []struct{ text, want string }{
		{"You've hit your limit · resets 3pm (Europe/Berlin)", "2026-12-02T15:00:00+01:00"},
		{"5-hour limit reached ∙ resets at 3:45pm (America/New_York)", "2026-12-02T15:45:00-05:00"},
		{"You've hit your session limit · resets 6:10pm (Asia/Calcutta)", "2026-12-03T18:10:00+05:30"},
		{"resets at 9am", "2026-12-03T09:00:00+01:00"},
		{"limit will reset at 2:30 PM", "2026-12-02T14:30:00+01:00"}, // just passed: today
		{"Your limit will reset at 2pm (UTC).", "2026-12-02T14:00:00Z"},
		{"weekly limit · resets Dec 7 at 5am (UTC)", "2026-12-07T05:00:00Z"},
		{"resets Oct 6, 3pm (Europe/Berlin)", "2027-10-06T15:00:00+02:00"},
		{"resets Jan 3 at 9:30am", "2027-01-03T09:30:00+01:00"},
		{"Weekly limit resets Mon 12:00 AM", "2026-12-07T00:00:00+01:00"},
		{"resets on Wednesday at 2pm", "2026-12-09T14:00:00+01:00"},
		{"You've hit your usage limit. Upgrade to Pro (https://x/pro), visit https://x/usage to purchase more credits or try again at Dec 3rd, 2026 4:15 PM.", "2026-12-03T16:15:00+01:00"},
		{"You’ve hit your usage limit … or try again at May 18th, 2033 3:33 AM.", "2033-05-18T03:33:00+02:00"},
		{"try again at 4:15\u202fPM.", "2026-12-02T16:15:00+01:00"},
		{"try again on 3 December 2026 at 08:05 UTC", "2026-12-03T08:05:00Z"},
		{"Try again tomorrow at 9:30", "2026-12-03T09:30:00+01:00"},
		{"quota resets at midnight Pacific time", "2026-12-03T00:00:00-08:00"},
		{"resets at 15:00", "2026-12-02T15:00:00+01:00"},
		{"resets 22:00 (PST)", "2026-12-02T22:00:00-08:00"},
		{"Try again in 2 hours 5 minutes.", "2026-12-02T16:35:20+01:00"},
		{"try again in 3 days, 1 hour and 4 minutes", "2026-12-05T15:34:20+01:00"},
		{"Please try again in 7.5s. Visit", "2026-12-02T14:30:27.5+01:00"},
		{"Please try again in 6m0s", "2026-12-02T14:36:20+01:00"},
		{"Your quota will reset after 18h47m12s.", "2026-12-03T09:17:32+01:00"},
		{"please wait 20 minutes", "2026-12-02T14:50:20+01:00"},
		{"retry in 350ms", "2026-12-02T14:30:20.35+01:00"},
		{"Retry-After: 120", "2026-12-02T14:32:20+01:00"},
		{"retry-after-ms: 1500", "2026-12-02T14:30:21.5+01:00"},
		{"retry after 30 seconds", "2026-12-02T14:30:50+01:00"},
		{"Retry-After: Wed, 02 Dec 2026 15:00:00 GMT", "2026-12-02T15:00:00Z"},
		{"Claude AI usage limit reached|1796250000", "2026-12-02T22:20:00Z"},
		{"API Error: Request rejected (429) · Claude AI usage limit reached|1999999999", "2033-05-18T03:33:19Z"},
		{`{"resetsAt":1796250000,"type":"five_hour"}`, "2026-12-02T22:20:00Z"},
		{`{"resets_at": 1796250000123}`, "2026-12-02T22:20:00Z"},
		{"limit until 2026-12-03T10:00:00Z", "2026-12-03T10:00:00Z"},
		{"resets at 2026-12-03 10:00 UTC", "2026-12-03T10:00:00Z"},
		{"resets 2026-12-03T10:00:00.123+02:00", "2026-12-03T10:00:00+02:00"},
		{"resets 2026-12-03T10:00", "2026-12-03T10:00:00+01:00"},
		{"resets at 3pm (Mars/Olympus)", "2026-12-02T15:00:00+01:00"},
		{"Rate limit reset: never. Try again at 3pm", "2026-12-02T15:00:00+01:00"},

		{"", ""},
		{"Rate limit reached for requests", ""},
		{"usage limit reached, request 1796250000", ""},
		{"try again later", ""},
		{"resets at 25:00", ""},
		{"resets at 13pm", ""},
		{"retry attempt 3 of 10", ""},
		{"until 2020-01-01T00:00:00Z", ""},
		{"resets at 9999999999", ""},
		{"usage limit reached|1496250000", ""},
		{"try again in 99999999999999 hours", ""},
		{"try again at Feb 99th, 2027 4:15 PM", ""},
	} {
		want := time.Time{}
		if tc.want != "" {
			want = mustTime(t, tc.want)
		}
		if got := LimitUntil(tc.text, now, berlin); !got.Equal(want) {
			t.Errorf("%q: %s, want %s", tc.text, got.Format(time.RFC3339Nano), tc.want)
		}
	}
}

func TestLimitUntilKnowsSummerTime(t *testing.T) {
	berlin := mustZone(t, "Europe/Berlin")
	now := time.Date(2026, 10, 24, 23, 0, 0, 0, berlin) // the clocks go back in this night
	if got, want := LimitUntil("resets 3pm (Europe/Berlin)", now, time.UTC), mustTime(t, "2026-10-25T15:00:00+01:00"); !got.Equal(want) {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzLimitUntil(f *testing.F) {
	for _, seed := range []string{"resets 3pm (A/B)", "try again in 1h2m", "retry-after: 1e9", "|1999999999", "resets Dec 31st, 9999 12:59 AM +99:99", "resets \xff\x00"} {
		f.Add(seed)
	}
	now := time.Date(2026, 12, 2, 14, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if got := LimitUntil(text, now, nil); !got.IsZero() && !plausible(got, now) {
			t.Errorf("%q: %s", text, got)
		}
	})
}

func mustZone(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func mustTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
