package knowledge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/learn/strictyaml"
)

func TestLoadReadsEveryField(t *testing.T) {
	s := loaded(t, repository(t, map[string]string{".tyran/knowledge/x.yaml": `# kept
entries:
  - id: K-7
    kind: gotcha
    text: |
      Two
      lines.
    confidence: 1
    applies_to: ["src/**", docs/*.md]
    provenance:
      - source: retrospective
        reference: F-3
    supersedes: K-1
    used: 4
    helpful: 2
    outdated_reports: 1
`, ".tyran/knowledge/empty.yaml": "# nothing yet\n", ".tyran/knowledge/none.yaml": "entries:\n", ".tyran/knowledge/readme.md": "no entry"}))
	e, ok := s.Entry("K-7")
	if !ok || len(s.Entries) != 1 || s.Dir != ".tyran/knowledge" {
		t.Fatalf("%+v", s)
	}
	if e.Kind != Gotcha || e.Text != "Two\nlines.\n" || e.Confidence != 1 || len(e.AppliesTo) != 2 || e.Supersedes[0] != "K-1" ||
		e.Provenance[0] != (Provenance{"retrospective", "F-3"}) || e.Counters != (Counters{4, 2, 1}) || e.Line != 3 || e.File != ".tyran/knowledge/x.yaml" {
		t.Errorf("%+v", e)
	}
}

func TestLoadRefusesByFileLineAndName(t *testing.T) {
	entry := "entries:\n" + one("K-1", "x")
	for name, c := range map[string]struct{ text, want string }{
		"a misspelt key":             {"entries:\n" + one("K-1", "x", "supercedes: K-2"), `a.yaml:7: the entry K-1: the key "supercedes" is not known`},
		"a key of the top":           {"entrys: []\n", `a.yaml:1: the file: the key "entrys" is not known`},
		"no entries":                 {"{}\n", "the key entries is missing"},
		"a text for a number":        {strings.Replace(entry, "0.8", `"0.8"`, 1), `a.yaml:5: confidence: want a number`},
		"a number for a text":        {strings.Replace(entry, `"x"`, "12", 1), `a.yaml:4: text: want a text, found "12"`},
		"not a number":               {strings.Replace(entry, "0.8", ".nan", 1), "a.yaml:5: confidence: want a number"},
		"too sure":                   {strings.Replace(entry, "0.8", "1.5", 1), "a.yaml:5: the entry K-1: confidence: 1.5 is not between 0 and 1"},
		"a count in words":           {entry + "    used: many\n", "a.yaml:7: used: want a whole number"},
		"a count below 0":            {entry + "    used: -1\n", "a.yaml:7: used: want a whole number"},
		"a kind of its own":          {strings.Replace(entry, "fact", "rumour", 1), `kind: "rumour" is none of fact, convention, gotcha, command, decision`},
		"an id of another form":      {strings.Replace(entry, "K-1", "K-01", 1), `id: "K-01" is not of the form`},
		"no provenance":              {strings.Replace(entry, "[{source: human, reference: r}]", "[]", 1), "a.yaml:6: the entry K-1: provenance: an entry needs"},
		"half a provenance":          {strings.Replace(entry, ", reference: r", "", 1), "source and reference are both needed"},
		"a missing key":              {strings.Replace(entry, "    kind: fact\n", "", 1), "a.yaml:2: the entry K-1: the key kind is missing"},
		"a key that stands twice":    {entry + "    kind: fact\n", "the key kind stands twice"},
		"a glob that is none":        {entry + "    applies_to: ['a[']\n", "a.yaml:7: the entry K-1: applies_to"},
		"a way out":                  {entry + "    applies_to: ['../x']\n", "out of the repository"},
		"an alias":                   {"entries:\n  - &a {id: K-1}\n  - *a\n", "anchors and aliases are not read"},
		"a tag":                      {"entries: !!set {a, b}\n", "the tag"},
		"two documents":              {entry + "---\nentries: []\n", "more than one document"},
		"no YAML":                    {"entries:\n  - id: [\n", "this is no YAML"},
		"a list on the top":          {"- id: K-1\n", "want a mapping of entries, found a list"},
		"4,001 code points":          {"entries:\n" + one("K-1", strings.Repeat("ä", 4001)), "it has 4001 code points, the most are 4000"},
		"a blank text":               {"entries:\n" + one("K-1", "  "), "text: it is empty"},
		"supersedes something else":  {entry + "    supersedes: [K-x]\n", "supersedes: \"K-x\" is not of the form"},
		"an absolute glob":           {entry + "    applies_to: /etc/**\n", "begins with a slash"},
		"values that lie very deep":  {"entries: " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\n", "too deep"},
		"an entry that is only text": {"entries: [x]\n", `an entry: want a mapping`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(repository(t, map[string]string{".si/knowledge/a.yaml": c.text}))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestLoadTakes4000CodePoints(t *testing.T) {
	if s := store(t, one("K-1", strings.Repeat("ä", 4000))); len(s.Entries) != 1 {
		t.Error("refused")
	}
}

func TestDuplicateIDsNameBothFiles(t *testing.T) {
	_, err := Load(repository(t, map[string]string{
		".si/knowledge/a.yaml": "entries:\n" + one("K-1", "x"), ".si/knowledge/b.yaml": "entries:\n" + one("K-2", "y") + one("K-1", "z"),
	}))
	if err == nil || !strings.Contains(err.Error(), "a.yaml:2") || !strings.Contains(err.Error(), "b.yaml:7") {
		t.Errorf("error %v", err)
	}
}

// TestLoadReadsNothingElsewhere: a link out of the repository, a pipe and a huge
// file are refused, by name.
func TestLoadReadsNothingElsewhere(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("entries: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := repository(t, map[string]string{".si/knowledge/a.yaml": "entries: []\n"})
	if err := os.Symlink(outside, filepath.Join(p.Top(), ".si/knowledge/b.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(p); err == nil || !strings.Contains(err.Error(), "leads out of the repository") {
		t.Errorf("error %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("entries:\n" + one("K-1", "x", "used: 1", "applies_to: [a/**, 'b']")))
	f.Add([]byte("entries: [{id: K-1, kind: fact, text: \"é\", confidence: 0, provenance: [{source: a, reference: b}]}]\r\n"))
	f.Add([]byte("\ufeffentries:\n- id: K-2 # c\n  kind: command\n  text: >\n   a\n\n   b\n  confidence: 1e-3\n  provenance:\n  - {source: 'a', reference: \"b\"}\n"))
	f.Add([]byte("entries: &a [*a]"))
	f.Add([]byte("{}\n...\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parse("f.yaml", data)
		if err != nil {
			if _, ok := err.(*strictyaml.Error); !ok { //nolint:errorlint // the fault itself is wanted, not a wrapped one
				t.Errorf("an error without its file: %v", err)
			}
			return
		}
		counters := map[string]Counters{}
		for _, e := range entries {
			counters[e.ID] = Counters{3, 2, 1}
		}
		out, err := counted("f.yaml", data, counters)
		if err != nil {
			return // refused, and nothing is written
		}
		again, err := parse("f.yaml", out)
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%v: %q became %q", err, data, out)
		}
		for _, e := range again {
			if e.Counters != (Counters{3, 2, 1}) {
				t.Errorf("%s has %+v", e.ID, e.Counters)
			}
		}
	})
}
