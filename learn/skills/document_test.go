package skills

import (
	"strings"
	"testing"
)

func file(front, body string) string { return "---\n" + front + "---\n" + body }

func parse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func text(t *testing.T, d *Document) string {
	t.Helper()
	data, err := d.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCheck is the standard's rules, each limit at its edge.
func TestCheck(t *testing.T) {
	good := "name: a\ndescription: d\n"
	lines := func(n int) string { return strings.Repeat("x\n", n) }
	for _, tc := range []struct{ name, folder, front, body, want string }{
		{"the least", "a", good, "b\n", ""},
		{"no name", "a", "description: d\n", "", "name: missing; name: \"\" is not the name of its folder"},
		{"64 characters", strings.Repeat("n", 64), "name: " + strings.Repeat("n", 64) + "\ndescription: d\n", "", ""},
		{"65 characters", strings.Repeat("n", 65), "name: " + strings.Repeat("n", 65) + "\ndescription: d\n", "", "65 characters are more than 64"},
		{"digits and hyphens", "1-a-2", "name: 1-a-2\ndescription: d\n", "", ""},
		{"capitals", "Ab", "name: Ab\ndescription: d\n", "", "others than lower-case"},
		{"underscore", "a_b", "name: a_b\ndescription: d\n", "", "others than lower-case"},
		{"letters that look like ASCII", "аb", "name: аb\ndescription: d\n", "", "others than lower-case"},
		{"hyphen first", "-a", "name: -a\ndescription: d\n", "", "begins or ends with a hyphen"},
		{"hyphen last", "a-", "name: a-\ndescription: d\n", "", "begins or ends with a hyphen"},
		{"two hyphens", "a--b", "name: a--b\ndescription: d\n", "", "two hyphens in a row"},
		{"another folder", "b", good, "", "not the name of its folder, \"b\""},
		{"no description", "a", "name: a\n", "", "description: missing"},
		{"blank description", "a", "name: a\ndescription: '  '\n", "", "description: missing"},
		{"1024 characters of description", "a", "name: a\ndescription: " + strings.Repeat("ä", 1024) + "\n", "", ""},
		{"1025", "a", "name: a\ndescription: " + strings.Repeat("ä", 1025) + "\n", "", "description: 1025 characters"},
		{"a list as description", "a", "name: a\ndescription: [x]\n", "", "description: it is no text"},
		{"500 of compatibility", "a", good + "compatibility: " + strings.Repeat("語", 500) + "\n", "", ""},
		{"501", "a", good + "compatibility: " + strings.Repeat("語", 501) + "\n", "", "compatibility: 501"},
		{"empty compatibility", "a", good + "compatibility: ''\n", "", "compatibility: empty"},
		{"metadata of texts", "a", good + "metadata:\n  x: '1'\n  y: 2\n", "", ""},
		{"nested metadata", "a", good + "metadata:\n  x:\n    y: 1\n", "", "metadata: \"x\" is no text"},
		{"metadata as a text", "a", good + "metadata: x\n", "", "metadata: it is no list"},
		{"allowed tools", "a", good + "allowed-tools: Bash(git:*) Read\n", "", ""},
		{"allowed tools as a list", "a", good + "allowed-tools: [Bash]\n", "", "allowed-tools: it is no text"},
		{"a key twice", "a", good + "license: MIT\nlicense: GPL\n", "", "license: it stands twice"},
		{"three dashes", "a", "name: a\ndescription: x --- y\n", "", "three dashes"},
		{"other keys are kept", "a", good + "x-vendor:\n  deep: [1, {a: b}]\n", "", ""},
		{"499 lines", "a", good, lines(499), ""},
		{"499 lines behind the blank one that we write", "a", good, "\n" + lines(499), ""},
		{"500 lines", "a", good, lines(500), "body: 500 lines are not under 500"},
		{"a zero byte", "a", good, "a\x00b", "zero byte"},
		{"broken UTF-8", "a", good, "a\xffb", "broken UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := (&FaultsError{"x", parse(t, file(tc.front, tc.body)).Check(tc.folder)}).Error()
			if tc.want == "" && !strings.HasSuffix(got, "standard") || !strings.Contains(got, tc.want) {
				t.Errorf("%s\nwant %q", got, tc.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain", file("name: a\ndescription: d\n", "body\n"), "a|d|body\n"},
		{"CR LF", "---\r\nname: a\r\ndescription: d\r\n---\r\nbody\r\n", "a|d|body\r\n"},
		{"blanks behind the dashes", "--- \t\nname: a\n---  \nbody", "a||body"},
		{"a mark of the encoding", "\ufeff---\nname: a\n---\n", "a||"},
		{"no newline at the end", "---\nname: a\n---", "a||"},
		{"empty front matter", "---\n---\nb", "||b"},
		{"dashes in the body", file("name: a\n", "x\n---\ny\n"), "a||x\n---\ny\n"},
		{"a number as a name is its text", file("name: 007\n", ""), "007||"},
		{"a folded description", file("name: a\ndescription: >\n  one\n  two\n", ""), "a|one two\n|"},
		{"no front matter", "# Title\n", "error: the first line is not ---"},
		{"no end", "---\nname: a\n", "error: does not end"},
		{"not YAML", file("name: [\n", ""), "error: no YAML"},
		{"a list", file("- a\n", ""), "error: no list of keys and values"},
		{"a bomb of aliases stays small", file("a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\nname: n\n", ""), "n||"},
		{"too large", file("name: a\n", strings.Repeat("x", maxDocument)), "error: more than the"},
		{"deep", file("name: "+strings.Repeat("[", 20000)+"\n", ""), "error: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := Parse([]byte(tc.in))
			if fault, ok := strings.CutPrefix(tc.want, "error: "); ok {
				if err == nil || !strings.Contains(err.Error(), fault) {
					t.Errorf("%v, want %q", err, fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Get(keyName) + "|" + d.Get(keyDescription) + "|" + d.Body; got != tc.want {
				t.Errorf("%.200q, want %q", got, tc.want)
			}
		})
	}
}

const vendors = `# first
name: a # of the folder
zeta: 1
description: "d"
version: 2
nested:
  b: 1
  a: [x, {y: z}] # kept
# before the last
alpha: |
  two
  lines
# at the end
`

func TestRoundTripWithoutAChangeKeepsEveryByte(t *testing.T) {
	for _, in := range []string{
		file(vendors, "\nbody\n"), "---  \r\nname: a\r\n---\r\n\r\nx\r\ny", "\ufeff---\nname: 'a'\n---\t\n", "---\n---\n",
	} {
		if got := text(t, parse(t, in)); got != in {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestSetKeepsTheRest(t *testing.T) {
	d := parse(t, file(vendors, "\nbody\n"))
	for _, kv := range [][2]string{{keyDescription, "new: text"}, {keyCreatedBy, "agent"}, {keyCategory, "go"}} {
		if err := d.Set(kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	want := file(`# first
name: a # of the folder
zeta: 1
description: 'new: text'
nested:
  b: 1
  a: [x, {y: z}] # kept
# before the last
alpha: |
  two
  lines
# at the end

metadata:
  version: "2"
  created_by: agent
  category: go
`, "\nbody\n")
	if got := text(t, d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := parse(t, text(t, d)); got.Get(keyVersion) != "2" || got.Get(keyCreatedBy) != "agent" || len(got.Unknown()) != 3 {
		t.Errorf("read back: %q %q %q", got.Get(keyVersion), got.Get(keyCreatedBy), got.Unknown())
	}
}

func TestSet(t *testing.T) {
	for _, tc := range []struct{ name, front, key, value, want string }{
		{"a number stays a text", "name: a\n", keyVersion, "1.0", "name: a\nmetadata:\n  version: \"1.0\"\n"},
		{"what looks like another kind", "name: a\n", keyLicense, "yes", "name: a\nlicense: \"yes\"\n"},
		{"removing the last of metadata", "name: a\nmetadata:\n  category: x\n", keyCategory, "", "name: a\n"},
		{"removing what is not there", "name: a\n", keyCategory, "", "name: a\n"},
		{"empty metadata", "name: a\nmetadata:\n", keyCategory, "x", "name: a\nmetadata:\n  category: x\n"},
		{"metadata wins over the top", "version: 1\nmetadata:\n  version: '2'\n", keyCategory, "x", "metadata:\n  version: '2'\n  category: x\n"},
		{"metadata that is a text", "metadata: x\n", keyCategory, "y", "error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := parse(t, file(tc.front, ""))
			err := d.Set(tc.key, tc.value)
			if tc.want == "error" {
				if err == nil {
					t.Fatal("no error")
				}
				return
			}
			if got := text(t, d); err != nil || got != file(tc.want, "") {
				t.Errorf("%v\n%s", err, got)
			}
		})
	}
}

func TestSetKeepsCRLF(t *testing.T) {
	d := parse(t, "---\r\nname: a\r\ndescription: d\r\n---\r\nbody\r\n")
	body := "one\ntwo"
	if err := d.apply(Fields{Body: &body, Description: &body}); err != nil {
		t.Fatal(err)
	}
	if got := text(t, d); got != "---\r\nname: a\r\ndescription: one two\r\n---\r\n\r\none\r\ntwo\r\n" {
		t.Errorf("%q", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{file(vendors, "b"), "---\n", "---\n&a [*a]\n---\n", "---\nmetadata: {a: !!binary x}\n---\n", "---\n? {a: b}\n: c\n---\n", "---\n<<: *x\n---\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		d, err := Parse(in)
		if err != nil {
			return
		}
		d.Check("a")
		if same, err := d.Bytes(); err != nil || string(same) != string(in) {
			t.Fatalf("%q became %q, %v", in, same, err)
		}
		if d.Set(keyCategory, "x") != nil {
			return
		}
		data, err := d.Bytes()
		if err != nil {
			return // an alias to itself cannot be written
		}
		again, err := Parse(data)
		if err == nil && again.Get(keyCategory) != "x" {
			t.Fatalf("%q: category %q", data, again.Get(keyCategory))
		}
	})
}
