package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestProse(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain words stay", "Skip blanks by a table (256 bits) - it's 12.3% faster!", "Skip blanks by a table (256 bits) - it's 12.3% faster!"},
		{"names stay legible", "round_3_planner_b", "round_3_planner_b"},
		{"emphasis", "_a_ *b* __c", `\_a\_ \*b\* \_\_c`},
		{"html", "<img src=x>", `\<img src=x\>`},
		{"entities", "&lt;", `\&lt;`},
		{"a link", "[a](b)", `\[a\](b)`},
		{"an address", "see https://evil.example now", "see `https://evil.example` now"},
		{"an address without a scheme", "WWW.evil.example", "`WWW.evil.example`"},
		{"a mention", "thanks @everyone", "thanks `@everyone`"},
		{"an issue", "fixes #12 and GH-12", "fixes `#12` and `GH-12`"},
		{"a formula", "$x$", "`$x$`"},
		{"backticks", "a `` b", "a ``` `` ``` b"},
		{"a heading", "# a # b", `\# a # b`},
		{"a list", "- a", `\- a`},
		{"a gain is no list", "+12% a", "+12% a"},
		{"a numbered list", "12. a", `12\. a`},
		{"a rule", "--- a", `\--- a`},
		{"a bar", "a|b", `a\|b`},
		{"a backslash", `a\`, `a\\`},
		{"strike", "~~a~~", `\~\~a\~\~`},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := prose(c.in); got != c.want {
				t.Errorf("prose(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestFence(t *testing.T) {
	for _, in := range []string{"a", "```", "a\n````` b\n``", strings.Repeat("`", 50)} {
		got := fenced("text", in)
		fence, _, _ := strings.Cut(got, "text\n")
		if strings.Count(got, fence) != 2 {
			t.Errorf("the fence of %q is found inside of it: %q", in, got)
		}
	}
}

func TestTableIsAligned(t *testing.T) {
	tab := table{head: []string{"a", "b"}}
	tab.add("日本", "x|y")
	tab.add("e\u0301", `\|`)
	tab.add("`a\\|`", `\\|`)
	want := "| a     | b    |\n| ----- | ---- |\n| 日本  | x\\|y |\n| e\u0301     | \\|   |\n| `a\\|` | \\\\\\| |\n"
	if got := tab.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// visible takes from Markdown what is shown as it is: blocks and spans of code.
func visible(md string) string {
	var b strings.Builder
	fence := ""
	for l := range strings.Lines(md) {
		ticks := l[:len(l)-len(strings.TrimLeft(l, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3 && !strings.Contains(l[len(ticks):], "`"):
			fence = ticks
		case fence == "":
			b.WriteString(withoutSpans(l))
		case len(ticks) >= len(fence) && strings.TrimSpace(l[len(ticks):]) == "":
			fence = ""
		}
	}
	if fence != "" {
		b.WriteString("UNCLOSED")
	}
	return b.String()
}

// withoutSpans takes the code spans from a line: each ends with a run of as many
// backticks as it began with.
func withoutSpans(l string) string {
	runs := regexp.MustCompile("`+").FindAllStringIndex(l, -1)
	out, from := "", 0
	for i := 0; i < len(runs); i++ {
		size, end := runs[i][1]-runs[i][0], -1
		for j := i + 1; j < len(runs) && end < 0; j++ {
			if runs[j][1]-runs[j][0] == size {
				end = j
			}
		}
		if end < 0 {
			return out + l[from:] + "UNCLOSED"
		}
		out, from, i = out+l[from:runs[i][0]], runs[end][1], end
	}
	return out + l[from:]
}

func TestHostileMarkdownDoesNothing(t *testing.T) {
	md := string(Markdown(hostile()))
	for what, pattern := range map[string]string{
		"html":           `(^|[^\\])<[a-zA-Z/!]`,
		"a link":         `(^|[^\\])\]\(`,
		"an address":     `https?://|(?i)www\.`,
		"a mention":      `@everyone`,
		"an issue":       `#1\b`,
		"an entity":      `(^|[^\\])&lt;`,
		"an open code":   `UNCLOSED`,
		"emphasis":       `(^|[^\\])\*\*b`,
		"a heading of b": `(?m)^# not the end`,
	} {
		if found := regexp.MustCompile(pattern).FindString(visible(md)); found != "" {
			t.Errorf("the report has %s: %q", what, found)
		}
	}
	onlyVisible(t, md)
}

// onlyVisible fails where a text has what acts on a terminal or reorders text.
func onlyVisible(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Error("the report is not valid UTF-8")
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) {
			t.Fatalf("the report has %U", r)
		}
	}
}

// huge has many gains, and each text and list as large as it can be.
func huge(gains int, letter string) Report {
	r := hostile()
	r.Title, r.Goal, r.Benchmark.Command = strings.Repeat(letter, 9000), strings.Repeat(letter+"\n", 9999), strings.Repeat(letter, 9999)
	g := r.Gains[0]
	g.Hypothesis, g.PlanID = strings.Repeat(letter, 9000), strings.Repeat(letter, 500)
	for i := range 200 {
		g.Files = append(g.Files, File{Path: fmt.Sprintf("%d/%s", i, strings.Repeat(letter, 4000))})
		g.Warnings = append(g.Warnings, strings.Repeat(letter, 4000))
		g.Guards = append(g.Guards, Guard{Name: strings.Repeat(letter, 4000)})
		g.Duel.Samples = append(g.Duel.Samples, Sample{Score: 1.23456e-100})
		r.NotEnforced = append(r.NotEnforced, strings.Repeat(letter, 4000))
		r.Refused.Near = append(r.Refused.Near, Candidate{Hypothesis: strings.Repeat(letter, 4000)})
	}
	g.Diff = bytes.Repeat([]byte("+"+letter+"\n"), 1<<16)
	r.Gains = nil
	for range gains {
		r.Gains = append(r.Gains, g)
	}
	return r
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Report
		page int
	}{
		{"one gain", huge(1, "x"), 1 << 20},
		{"many gains", huge(8, "x"), 8 << 20},
		{"letters of four bytes", huge(3, "𝔘"), 16 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			md := Markdown(c.r)
			if len(md) > MarkdownLimit || !utf8.Valid(md) {
				t.Errorf("Markdown has %d bytes, want at most %d of valid UTF-8", len(md), MarkdownLimit)
			}
			if strings.Contains(visible(string(md)), "UNCLOSED") {
				t.Error("a cut left a code span open")
			}
			if got := page(t, c.r); len(got) > c.page {
				t.Errorf("the page has %d bytes, want at most %d", len(got), c.page)
			}
		})
	}
}

func TestLongDiffsGiveWayToTheirCommand(t *testing.T) {
	r := rich(t)
	for range 5 {
		r.Gains = append(r.Gains, r.Gains[2])
	}
	md := string(Markdown(r))
	if want := "of the change are shown. All of it: `git show 7a9c4e7a9c`"; !strings.Contains(md, want) {
		t.Errorf("no %q", want)
	}
	if want := "## 9. Look kinds up"; !strings.Contains(md, want) {
		t.Errorf("no section %q", want)
	}
}
