package knowledge

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func audited(t *testing.T, s *Store) Audit {
	t.Helper()
	a, err := s.Audit(0)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAuditReachable(t *testing.T) {
	var entries []string
	for i := range 3 {
		entries = append(entries, one(fmt.Sprintf("K-%d", i+1), strings.Repeat("x", 1500)))
	}
	a := audited(t, store(t, entries...))
	if a.Reachable != 2 || a.Unreachable != 1 || len(a.TooBig) != 0 {
		t.Errorf("%+v", a)
	}
	a = audited(t, store(t, one("K-1", strings.Repeat("x", 4000)), one("K-2", "short")))
	if a.Reachable != 1 || !reflect.DeepEqual(a.TooBig, []string{"K-1"}) {
		t.Errorf("%+v", a)
	}
}

func TestAuditRetirement(t *testing.T) {
	for name, c := range map[string]struct {
		counters []string
		want     string
	}{
		"used five times, never helpful": {[]string{"used: 5"}, NeverHelpful},
		"used once":                      {[]string{"used: 1"}, ""},
		"used twice":                     {[]string{"used: 2"}, ""},
		"used three times":               {[]string{"used: 3"}, NeverHelpful},
		"wrong more often than helpful":  {[]string{"used: 1", "outdated_reports: 2"}, ReportedWrong},
		"as often wrong as helpful":      {[]string{"used: 4", "helpful: 2", "outdated_reports: 2"}, ""},
		"helpful once of many":           {[]string{"used: 9", "helpful: 1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := audited(t, store(t, one("K-1", "x", c.counters...)))
			got := ""
			if len(a.Retire) == 1 {
				got = a.Retire[0].Reason
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestAuditSaysThatNothingIsCounted(t *testing.T) {
	a := audited(t, store(t, one("K-1", "x")))
	if !a.NoFoldYet || len(a.Retire) != 0 || !strings.Contains(strings.Join(a.Conclusion, " "), "the fold of verdicts into the counters is not happening") {
		t.Errorf("%+v", a)
	}
	if a := audited(t, store(t)); a.NoFoldYet || len(a.Conclusion) != 0 {
		t.Errorf("an empty store: %+v", a)
	}
}

func TestAuditSupersedes(t *testing.T) {
	a := audited(t, store(t,
		one("K-1", "old"), one("K-2", "new", "supersedes: [K-1, K-9]"), one("K-3", "a", "supersedes: K-4"), one("K-4", "b", "supersedes: K-3"), one("K-5", "self", "supersedes: K-5")))
	if a.Live != 2 || a.Superseded != 3 || a.LiveCost == 0 || a.DeadCost == 0 {
		t.Errorf("%+v", a)
	}
	if !reflect.DeepEqual(a.Dangling, []Dangling{{"K-2", "K-9"}}) || !reflect.DeepEqual(a.Mutual, [][]string{{"K-3", "K-4"}, {"K-5"}}) {
		t.Errorf("dangling %v, mutual %v", a.Dangling, a.Mutual)
	}
	// A superseded entry is no candidate: its counters concern nobody any more.
	a = audited(t, store(t, one("K-1", "old", "used: 9"), one("K-2", "new", "supersedes: K-1")))
	if len(a.Retire) != 0 {
		t.Errorf("%+v", a.Retire)
	}
}
