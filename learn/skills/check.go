package skills

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The limits of the standard (agentskills.io), in characters and lines.
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
	maxBodyLines     = 500 // the body has fewer
)

// Check lists the rules of the standard that the document breaks, for a folder of
// the given name. Reading shows them as warnings; writing refuses them.
func (d *Document) Check(folder string) []Fault {
	faults := append(d.shape(), nameFaults(d.Get(keyName))...)
	if name := d.Get(keyName); name != folder {
		faults = append(faults, Fault{keyName, fmt.Sprintf("%q is not the name of its folder, %q", short(name), short(folder))})
	}
	description := d.Get(keyDescription)
	if strings.TrimSpace(description) == "" {
		faults = append(faults, Fault{keyDescription, "missing; it says what the skill does and when to use it"})
	}
	faults = append(faults, tooLong(keyDescription, description, maxDescription)...)
	if n := value(d.front, keyCompatibility); n != nil && strings.TrimSpace(n.Value) == "" {
		faults = append(faults, Fault{keyCompatibility, "empty; leave it out or give 1 to 500 characters"})
	}
	faults = append(faults, tooLong(keyCompatibility, d.Get(keyCompatibility), maxCompatibility)...)
	if lines := strings.Count(strings.Trim(d.Body, "\r\n"), "\n") + 1; lines >= maxBodyLines {
		faults = append(faults, Fault{"body", fmt.Sprintf("%d lines are not under %d; move material to references/", lines, maxBodyLines)})
	}
	if !utf8.ValidString(d.Body) || strings.ContainsRune(d.Body, 0) {
		faults = append(faults, Fault{"body", "it holds a zero byte or broken UTF-8"})
	}
	return faults
}

// nameFaults checks a name. The standard speaks of letters; only those of ASCII are
// written, as two names that look alike must not be two skills.
func nameFaults(name string) []Fault {
	var faults []Fault
	add := func(what string) { faults = append(faults, Fault{keyName, what}) }
	if name == "" {
		add("missing")
		return faults
	}
	faults = append(faults, tooLong(keyName, name, maxName)...)
	if strings.ContainsFunc(name, foreign) {
		add(fmt.Sprintf("%q holds others than lower-case letters, digits and hyphens", short(name)))
	}
	if strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") {
		add("it begins or ends with a hyphen")
	}
	if strings.Contains(name, "--") {
		add("it has two hyphens in a row")
	}
	return faults
}

func foreign(r rune) bool {
	return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
}

// shape checks keys and the kinds of their values.
func (d *Document) shape() []Fault {
	var faults []Fault
	seen := map[string]bool{}
	for i := 0; i+1 < len(d.front.Content); i += 2 {
		key, n := d.front.Content[i].Value, d.front.Content[i+1]
		if seen[key] {
			faults = append(faults, Fault{short(key), "it stands twice; the first is used"})
		}
		seen[key] = true
		switch {
		case key == keyMetadata:
			faults = append(faults, metadataFaults(n)...)
		case slices.Contains(standardKeys(), key) && !plainValue(n):
			faults = append(faults, Fault{key, "it is no text"})
		case slices.Contains(standardKeys(), key) && strings.Contains(n.Value, "---"):
			faults = append(faults, Fault{key, "three dashes in a row, at which the standard's checker ends the front matter"})
		}
	}
	return faults
}

func metadataFaults(n *yaml.Node) []Fault {
	if n.Kind != yaml.MappingNode {
		return []Fault{{keyMetadata, "it is no list of keys and texts"}}
	}
	var faults []Fault
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i+1].Kind != yaml.ScalarNode {
			faults = append(faults, Fault{keyMetadata, fmt.Sprintf("%q is no text", short(n.Content[i].Value))})
		}
	}
	return faults
}

// Unknown lists the keys that the standard does not have. They are kept, and no
// reason to refuse.
func (d *Document) Unknown() []string {
	var keys []string
	for i := 0; i+1 < len(d.front.Content); i += 2 {
		key := d.front.Content[i].Value
		if !slices.Contains(standardKeys(), key) && !slices.Contains(ours(), key) {
			keys = append(keys, short(key))
		}
	}
	return keys
}

func tooLong(field, text string, limit int) []Fault {
	if n := utf8.RuneCountInString(text); n > limit {
		return []Fault{{field, fmt.Sprintf("%d characters are more than %d", n, limit)}}
	}
	return nil
}

// short makes a text of a file fit for a message.
func short(text string) string {
	if utf8.RuneCountInString(text) <= 80 {
		return text
	}
	return string([]rune(text[:min(len(text), 400)])[:80]) + "…"
}
