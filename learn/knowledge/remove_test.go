package knowledge

import (
	"strings"
	"testing"
)

func TestWithout(t *testing.T) {
	three := "# mine\nentries:\n" + one("K-1", "a") + "  # about b\n" + one("K-2", "b") + one("K-3", "c")
	for name, c := range map[string]struct{ data, id, want, fault string }{
		"the first":      {three, "K-1", strings.Replace(three, one("K-1", "a")+"  # about b\n", "", 1), ""},
		"in the middle":  {three, "K-2", strings.Replace(three, one("K-2", "b"), "", 1), ""},
		"the last":       {three, "K-3", strings.Replace(three, one("K-3", "c"), "", 1), ""},
		"the only one":   {"entries:\n" + one("K-1", "a"), "K-1", "", ""},
		"CRLF":           {strings.ReplaceAll(three, "\n", "\r\n"), "K-2", strings.ReplaceAll(strings.Replace(three, one("K-2", "b"), "", 1), "\n", "\r\n"), ""},
		"none of the id": {three, "K-9", "", "not in f.yaml"},
		"all on a line":  {"entries: [{id: K-1, kind: fact, text: a, confidence: 1, provenance: [{source: a, reference: b}]}, {id: K-2, kind: fact, text: a, confidence: 1, provenance: [{source: a, reference: b}]}]\n", "K-1", "", "by hand"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Without("f.yaml", []byte(c.data), c.id)
			if string(got) != c.want || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%q, %v\nwant %q", got, err, c.want)
			}
			if c.want == "" && got != nil {
				t.Error("an empty file is left")
			}
		})
	}
}
