package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/internal/durable"
	"si/learn/place"
)

func repository(t *testing.T, files map[string]string) place.Place {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		full := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := place.Open(&durable.Store{}, top)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func table(t *testing.T, def string, rules ...string) *Policy {
	t.Helper()
	return Load(repository(t, map[string]string{".si/policies/autonomy.yaml": written(def, rules...)}), Ground{Sealed: []string{"bench/**", "odd[name"}})
}

// written is a policy of rules "CLASS path".
func written(def string, rules ...string) string {
	text := "default: " + def + "\nrules:\n"
	for _, r := range rules {
		class, path, _ := strings.Cut(r, " ")
		text += "  - path: \"" + path + "\"\n    class: " + class + "\n    reason: because\n"
	}
	return text
}

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		rules []string
		path  string
		want  Class
		rule  string
	}{
		"KERNEL beats what is more specific":       {[]string{"AUTO **/deep-long-name.go", "KERNEL secret/**"}, "secret/deep-long-name.go", Kernel, "secret/**"},
		"the more specific rule wins":              {[]string{"GATED docs/**", "AUTO docs/notes/**"}, "docs/notes/a.md", Auto, "docs/notes/**"},
		"in whichever order":                       {[]string{"AUTO docs/notes/**", "GATED docs/**"}, "docs/notes/a.md", Auto, "docs/notes/**"},
		"equals: the stricter one":                 {[]string{"AUTO docs/*.md", "GATED docs/*.md"}, "docs/a.md", Gated, "docs/*.md"},
		"no rule":                                  {[]string{"AUTO docs/**"}, "src/a.go", Gated, "default"},
		"outside by dots":                          {[]string{"AUTO **"}, "../x", Kernel, "outside"},
		"outside by dots within":                   {[]string{"AUTO **"}, "a/../../x", Kernel, "outside"},
		"outside by backslashes":                   {[]string{"AUTO **"}, `a\..\..\x`, Kernel, "outside"},
		"outside, absolute":                        {[]string{"AUTO **"}, "/etc/passwd", Kernel, "outside"},
		"the policy itself":                        {[]string{"AUTO **"}, ".si/policies/autonomy.yaml", Kernel, ".si/policies/**"},
		"the policy under another name":            {[]string{"AUTO **"}, ".SI/Policies/autonomy.yaml", Kernel, ".si/policies/**"},
		"the policy with an invisible character":   {[]string{"AUTO **"}, ".si/poli\u200bcies/autonomy.yaml", Kernel, ".si/policies/**"},
		"what is sealed":                           {[]string{"AUTO **"}, "bench/run.sh", Kernel, "bench/**"},
		"what is sealed by a name that is no glob": {[]string{"AUTO **"}, "odd[name", Kernel, "odd[name"},
		"the state":                                {[]string{"AUTO **"}, ".omc/self-improve/x", Kernel, ".omc/**"},
		"git's own":                                {[]string{"AUTO **"}, ".git/hooks/pre-commit", Kernel, ".git/**"},
		"evidence":                                 {[]string{"AUTO **"}, ".si/evidence.jsonl", Kernel, ".si/evidence.jsonl"},
		"another case of what is gated":            {[]string{"AUTO **", "GATED hooks/**"}, "HOOKS/x", Gated, "hooks/**"},
		"a dot before it":                          {[]string{"AUTO **", "GATED hooks/**"}, "./hooks/x", Gated, "hooks/**"},
		"a backslash in it":                        {[]string{"AUTO **", "GATED hooks/**"}, `hooks\x`, Gated, "hooks/**"},
		"another case of what is free":             {[]string{"AUTO notes/**"}, "NOTES/x", Gated, "default"},
	} {
		t.Run(name, func(t *testing.T) {
			p := table(t, "GATED", c.rules...)
			if p.Broken != nil || p.Missing {
				t.Fatal(p.Broken)
			}
			if d := p.Decide(c.path); d.Class != c.want || d.Rule != c.rule {
				t.Errorf("%+v", d)
			}
			if d := p.DecideTree(c.path); d.Class != c.want {
				t.Errorf("in a tree: %+v", d)
			}
		})
	}
}

// TestOnePathWhereCaseIsIgnored: three spellings are one path there.
func TestOnePathWhereCaseIsIgnored(t *testing.T) {
	at := repository(t, map[string]string{".si/policies/autonomy.yaml": written("GATED", "AUTO hooks/**")})
	p := Load(at, Ground{IgnoresCase: true})
	for _, name := range []string{"HOOKS/x", "./hooks/x", `hooks\x`} {
		if d := p.Decide(name); d.Class != Auto {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestLinksAreFollowed(t *testing.T) {
	at := repository(t, map[string]string{".si/policies/autonomy.yaml": written("AUTO", "KERNEL secret/**"), "secret/a": "", "notes/b": ""})
	for link, target := range map[string]string{"notes/in": "../secret", "notes/out": t.TempDir(), "notes/air": "nowhere", "notes/fine": "b"} {
		if err := os.Symlink(target, filepath.Join(at.Top(), link)); err != nil {
			t.Fatal(err)
		}
	}
	p := Load(at, Ground{})
	for name, want := range map[string]Class{"notes/in/new": Kernel, "notes/out/x": Kernel, "notes/air": Kernel, "notes/air/x": Kernel, "notes/fine": Auto, "notes/b": Auto, "notes/new/deep": Auto} {
		if d := p.Decide(name); d.Class != want {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := p.Decide(filepath.Join(at.Top(), "notes/b")); d.Class != Auto || d.Path != "notes/b" {
		t.Errorf("%+v", d)
	}
}

func TestBrokenOrMissingIsGated(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no YAML":         {"default: [", "no YAML"},
		"a misspelt key":  {"default: AUTO\nrule: []\n", `:2: the file: the key "rule" is not known`},
		"another class":   {"default: auto\n", `"auto" is none of AUTO, GATED, KERNEL`},
		"no default":      {"rules: []\n", "default is missing"},
		"a rule's key":    {"default: AUTO\nrules:\n  - {path: a, clas: AUTO}\n", `:3: a rule: the key "clas"`},
		"no class":        {"default: AUTO\nrules:\n  - {path: a}\n", "the key class is missing"},
		"a glob":          {"default: AUTO\nrules:\n  - {path: 'a[', class: AUTO}\n", ":3: path:"},
		"a backslash":     {"default: AUTO\nrules:\n  - {path: 'a\\b', class: AUTO}\n", "backslash"},
		"empty":           {"# nothing\n", "it is empty"},
		"an absolute one": {"default: AUTO\nrules:\n  - {path: /etc, class: AUTO}\n", "begins with a slash"},
	} {
		t.Run(name, func(t *testing.T) {
			p := Load(repository(t, map[string]string{".si/policies/autonomy.yaml": c.text}), Ground{})
			if p.Broken == nil || !strings.Contains(p.Broken.Error(), c.want) {
				t.Errorf("error %v, want one with %q", p.Broken, c.want)
			}
			if d := p.Decide("a"); d.Class != Gated {
				t.Errorf("%+v", d)
			}
			if d := p.Decide("../a"); d.Class != Kernel {
				t.Errorf("%+v", d)
			}
			if p.AllowLaw("CLAUDE.md") == nil {
				t.Error("law is written under a broken policy")
			}
		})
	}
	p := Load(repository(t, nil), Ground{})
	if !p.Missing || p.Decide("a").Class != Gated || p.AllowLaw("CLAUDE.md") != nil {
		t.Errorf("%+v", p)
	}
}

func TestTheDefaultPolicy(t *testing.T) {
	at := repository(t, map[string]string{".tyran/knowledge/a.yaml": "entries: []\n"})
	for n := range 2 {
		written, err := Seed(t.Context(), at)
		if err != nil || written != (n == 0) {
			t.Fatalf("%v %v", written, err)
		}
	}
	p := Load(at, Ground{})
	for name, want := range map[string]Class{
		".tyran/knowledge/k-1.yaml": Auto, ".tyran/skills/x/SKILL.md": Auto, ".tyran/prompts/critic.md": Auto, ".tyran/config.yaml": Auto,
		".tyran/hooks/x": Gated, "CLAUDE.md": Gated, "sub/AGENTS.md": Gated, "MISTAKES.md": Gated, "src/main.go": Gated, "claude.md": Gated,
		".tyran/policies/autonomy.yaml": Kernel, ".tyran/evidence.jsonl": Kernel,
	} {
		if d := p.Decide(name); d.Class != want || d.Reason == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if len(p.Dead()) != 0 || p.Broken != nil || p.AllowLaw("CLAUDE.md") != nil {
		t.Errorf("%+v %v", p.Dead(), p.Broken)
	}
}

func TestAllowLaw(t *testing.T) {
	if err := table(t, "AUTO", "KERNEL CLAUDE.md").AllowLaw("CLAUDE.md"); err == nil || !strings.Contains(err.Error(), "KERNEL") {
		t.Errorf("error %v", err)
	}
	if err := table(t, "AUTO", "GATED CLAUDE.md").AllowLaw("CLAUDE.md"); err != nil {
		t.Error(err)
	}
}

func TestDeadRules(t *testing.T) {
	p := table(t, "GATED", "AUTO docs/**", "GATED Docs/**", "AUTO secret/open/**", "KERNEL secret/**", "AUTO .si/policies/x", "AUTO free/**", "AUTO free/**")
	var dead []string
	for _, d := range p.Dead() {
		dead = append(dead, d.Rule.Path)
	}
	if got := strings.Join(dead, " "); got != "docs/** secret/open/** .si/policies/x free/**" {
		t.Errorf("%s", got)
	}
}
