package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tags are the elements that the page's own template writes.
func tags() []string {
	return strings.Fields("html head meta title style body header main section article figure figcaption picture source img div ul li strong " +
		"h1 h2 h3 p a table thead tbody tr th td span dl dt dd details summary pre code svg line path footer br")
}

func TestPageHasNothingThatRuns(t *testing.T) {
	for name, r := range map[string]Report{"rich": rich(t), "empty": empty(), "hostile": hostile()} {
		t.Run(name, func(t *testing.T) {
			got := string(page(t, r))
			body := regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAllString(got, "<style></style>")
			for _, m := range regexp.MustCompile(`<([a-zA-Z0-9]+)([^>]*)>`).FindAllStringSubmatch(body, -1) {
				if !slices.Contains(tags(), m[1]) {
					t.Errorf("the page has an element %s", m[1])
				}
				if on := regexp.MustCompile(`(?i)(^|["'\s])(on\w+|style)\s*=`).FindString(withoutValues(m[2])); on != "" {
					t.Errorf("an element %s has %q", m[1], on)
				}
			}
			for _, m := range regexp.MustCompile(`(?i)\s(src|srcset|href)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
				if !strings.HasPrefix(m[2], "data:image/svg&#43;xml;base64,") && !strings.HasPrefix(m[2], "data:image/svg+xml;base64,") && !strings.HasPrefix(m[2], "#gain-") {
					t.Errorf("the page loads %.80s", m[2])
				}
			}
			onlyVisible(t, got)
		})
	}
}

// withoutValues empties the values of attributes.
func withoutValues(attributes string) string {
	return regexp.MustCompile(`"[^"]*"`).ReplaceAllString(attributes, `""`)
}

func TestPolicyAllowsTheStyleAndNothingElse(t *testing.T) {
	got := string(page(t, rich(t)))
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(got)[1]
	sum := sha256.Sum256([]byte(style))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
	policy := html.UnescapeString(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(got)[1])
	if policy != want {
		t.Errorf("policy %q, want %q", policy, want)
	}
	if strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style loads something")
	}
}

func TestChartsAreImages(t *testing.T) {
	r := rich(t)
	got := string(page(t, r))
	charts := regexp.MustCompile(`"data:image/svg(?:&#43;|\+)xml;base64,([^"]*)"`).FindAllStringSubmatch(got, -1)
	if len(charts) != 3 {
		t.Fatalf("the page has %d charts, want the progress and the effects twice", len(charts))
	}
	for i, c := range charts {
		svg, err := base64.StdEncoding.DecodeString(html.UnescapeString(c[1]))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && !bytes.Equal(svg, r.Progress) {
			t.Error("the chart of the progress is not the one that was given")
		}
		wellFormed(t, svg)
	}
	r.Progress = bytes.Repeat([]byte(" "), mostChart+1)
	if got := page(t, r); len(got) > 1<<20 || !bytes.Contains(got, []byte("The chart is left out: it has 8388609 bytes.")) {
		t.Errorf("a chart of %d bytes is put into the page", len(r.Progress))
	}
}

func wellFormed(t *testing.T, data []byte) {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("a chart is not well-formed: %v", err)
		}
	}
}

// Everything that is opened is closed in its order: a browser would mend what is
// not, and differently from what was meant.
func TestPageIsNested(t *testing.T) {
	void := []string{"meta", "img", "br", "source"}
	for name, r := range map[string]Report{"rich": rich(t), "empty": empty(), "hostile": hostile()} {
		body := regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAllString(string(page(t, r)), "")
		var open []string
		for _, m := range regexp.MustCompile(`<(/?)([a-z0-9]+)[^>]*?(/?)>`).FindAllStringSubmatch(body, -1) {
			switch {
			case slices.Contains(void, m[2]) || m[3] != "":
			case m[1] == "":
				open = append(open, m[2])
			case len(open) == 0 || open[len(open)-1] != m[2]:
				t.Fatalf("%s: </%s> closes %v", name, m[2], open)
			default:
				open = open[:len(open)-1]
			}
		}
		if len(open) > 0 {
			t.Errorf("%s: %v are left open", name, open)
		}
	}
}

func TestLinksLeadToGains(t *testing.T) {
	got := string(page(t, rich(t)))
	links := regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(got, -1)
	if len(links) != 4 {
		t.Errorf("%d links, want one for each of 4 gains", len(links))
	}
	for _, l := range links {
		if strings.Count(got, `id="`+l[1]+`"`) != 1 {
			t.Errorf("#%s leads nowhere", l[1])
		}
	}
}

func TestPrintedLinesAreCounted(t *testing.T) {
	if want := "nth-child(n + 121)"; printedLines != 120 || !strings.Contains(pageStyle, want) || !strings.Contains(pageTemplate, "first 120 of these") {
		t.Errorf("style and page count %d printed lines differently; want %q", printedLines, want)
	}
}
