package glob

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func parsed(tb testing.TB, text string) Pattern {
	tb.Helper()
	p, err := Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func TestIntersects(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"a folder's glob and a file in it":       {"src/lib/**", "src/lib/feed/page.ts", true},
		"a folder's glob and another file":       {"src/lib/**", "docs/readme.md", false},
		"two globs that cross":                   {"**/*.go", "src/**", true},
		"two globs that share no folder":         {"src/**", "docs/**", false},
		"deep glob and a file of the root":       {"**/x.go", "x.go", true},
		"a trailing slash is everything below":   {"src/", "src/a/b.go", true},
		"a leading dot slash":                    {"./src/*.go", "src/a.go", true},
		"a star stays in its segment":            {"src/*.go", "src/a/b.go", false},
		"the glob of a folder means the folder":  {"src/**", "src", true},
		"prefix of a name is no folder":          {"src/**", "srcs/a", false},
		"alternatives":                           {"{src,lib}/**/*.{go,ts}", "lib/a/b.ts", true},
		"none of the alternatives":               {"{src,lib}/**/*.{go,ts}", "lib/a/b.py", false},
		"classes that share a letter":            {"[a-f]x", "[e-z]x", true},
		"classes that share none":                {"[a-d]x", "[!a-d]x", false},
		"stars of both":                          {"a*c", "*bc", true},
		"stars of both that cannot":              {"a*c", "b*c", false},
		"an escaped star is a star":              {`a\*`, "ab", false},
		"a deep glob between":                    {"a/**/z", "a/z", true},
		"two deep globs":                         {"a/**/b/**", "**/b/c", true},
		"other letters of the alphabet":          {"ä/?.go", "ä/ö.go", true},
		"a suffix that only seems to differ":     {"**/*test.go", "**/a_test.go", true},
		"alternatives with an empty one":         {"a{,b}/c", "a/c", true},
		"a slash among the alternatives":         {"{a/b,c}/d", "a/b/d", true},
		"a name longer than the pattern's limit": {"??", "abc", false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := parsed(t, c.a), parsed(t, c.b)
			if Intersects(a, b) != c.want || Intersects(b, a) != c.want {
				t.Errorf("%q and %q: %v and %v, want %v", c.a, c.b, Intersects(a, b), Intersects(b, a), c.want)
			}
		})
	}
}

func TestLiteralIsOnePath(t *testing.T) {
	if p := parsed(t, "app/*/page.tsx"); !p.Match("app/[slug]/page.tsx") {
		t.Error("a path with brackets is not matched")
	}
	if Intersects(Literal("app/[slug]/page.tsx"), parsed(t, "app/s/page.tsx")) {
		t.Error("brackets of a literal path are taken for a class")
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":            {" ", "empty"},
		"an absolute path":   {"/etc/*", "begins with a slash"},
		"the way out":        {"a/../../b", "out of the repository"},
		"an open class":      {"a[b", "[ without its ]"},
		"an open brace":      {"a{b", "{ without its }"},
		"a last backslash":   {`a\`, "backslash"},
		"a backwards range":  {"[z-a]", "backwards"},
		"a bomb of braces":   {strings.Repeat("{a,b}", 20), "more than 256"},
		"a very long text":   {strings.Repeat("a", 2000), "2000 bytes"},
		"only the top":       {"./", ""},
		"dots alone":         {".", "names nothing"},
		"a class of a slash": {"[a/b]", "[ without its ]"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.text)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestIntersectsAgainstBruteForce compares with a plain matcher on every path
// of a small world: both patterns mean a path of it exactly when they intersect.
func TestIntersectsAgainstBruteForce(t *testing.T) {
	paths := world([]string{"a", "b", "ab", "ba", "aab", "c"}, 4)
	rng := rand.New(rand.NewPCG(1, 2))
	met, m := 0, matcher{}
	for n := range 700 {
		x, y := randomGlob(rng), randomGlob(rng)
		want := ""
		for _, p := range paths {
			if m.match(t, x, p) && m.match(t, y, p) {
				want = p
				break
			}
		}
		if got := Intersects(parsed(t, x), parsed(t, y)); got != (want != "") {
			t.Fatalf("case %d: %q and %q: %v, but the path that both mean is %q", n, x, y, got, want)
		}
		if want != "" {
			met++
		}
		for _, p := range paths[:40] {
			if parsed(t, x).Match(p) != m.match(t, x, p) {
				t.Fatalf("%q matches %q: %v", x, p, !m.match(t, x, p))
			}
		}
	}
	if met < 70 || met > 630 {
		t.Errorf("%d of 700 pairs intersect: the cases are too much alike", met)
	}
}

// matcher is another way to match: name by name, a name by a regular expression, and
// ** is none of them, or one more. It keeps what it knows of a piece and a name. (The
// usual library takes b/*a*/** not to mean b/a, though it takes b/a/** to mean it.)
type matcher map[[2]string]bool

func (m matcher) match(t *testing.T, pattern, path string) bool {
	t.Helper()
	return m.rest(strings.Split(pattern, "/"), strings.Split(path, "/"))
}

func (m matcher) rest(pieces, names []string) bool {
	switch {
	case len(pieces) == 0:
		return len(names) == 0
	case pieces[0] == "**" && m.rest(pieces[1:], names):
		return true
	case len(names) == 0:
		return false
	case pieces[0] == "**":
		return m.rest(pieces, names[1:])
	}
	return m.one(pieces[0], names[0]) && m.rest(pieces[1:], names[1:])
}

func (m matcher) one(piece, name string) bool {
	known, ok := m[[2]string{piece, name}]
	if !ok {
		expr := strings.NewReplacer("*", ".*", "?", ".", "[!a]", "[^a]", "{", "(", "}", ")", ",", "|").Replace(piece)
		known = regexp.MustCompile("^" + expr + "$").MatchString(name)
		m[[2]string{piece, name}] = known
	}
	return known
}

// world is every path of up to depth names.
func world(names []string, depth int) []string {
	level, all := []string{""}, []string(nil)
	for range depth {
		var next []string
		for _, dir := range level {
			for _, name := range names {
				next = append(next, strings.TrimPrefix(dir+"/"+name, "/"))
			}
		}
		all, level = append(all, next...), next
	}
	return all
}

// randomGlob has at most two segments beside **, so that a path that two of them
// share is never deeper than the world. Its names are from the same letters.
func randomGlob(rng *rand.Rand) string {
	pieces := []string{"a", "b", "ab", "*", "?", "a*", "*b", "?b", "[ab]", "[!a]", "{a,ab}", "*a*", "[a-c]"}
	n := 1 + rng.IntN(2)
	var out []string
	for i := range n {
		if rng.IntN(3) == 0 {
			out = append(out, "**")
		}
		out = append(out, pieces[rng.IntN(len(pieces))])
		if i == n-1 && rng.IntN(4) == 0 {
			out = append(out, "**")
		}
	}
	return strings.Join(out, "/")
}

func TestSpecificity(t *testing.T) {
	order := []string{"**", "**/*.go", "src/**", "src/**/*.go", "src/lib/**", "src/lib/*.go", "src/lib/a.go"}
	for i := range order {
		for j := range order {
			got := parsed(t, order[i]).Specificity().Compare(parsed(t, order[j]).Specificity())
			if (got > 0) != (i > j) || (got == 0) != (i == j) {
				t.Errorf("%s against %s: %d", order[i], order[j], got)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"**/*.go", "{a,{b,c}}/[!x-z]?", `\{a`, "a[]b]", "ä*/", "[]", "{,}", "[a-", "**/**/**"} {
		f.Add(s, "src/a.go")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if !Intersects(p, p) && len(p.alts) == 1 && !strings.Contains(text, "[") {
			t.Errorf("%q does not meet itself", text)
		}
		if other != "" && p.Match(other) && !Intersects(Literal(other), p) {
			t.Errorf("%q and %q: not symmetric", text, other)
		}
	})
}

func BenchmarkIntersects(b *testing.B) {
	p := parsed(b, "**/*.go")
	var others []Pattern
	for i := range 100 {
		others = append(others, Literal(fmt.Sprintf("src/lib/part%d/file.ts", i)))
	}
	for b.Loop() {
		for _, o := range others {
			Intersects(p, o)
		}
	}
}
