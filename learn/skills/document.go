package skills

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDocument bounds a SKILL.md in bytes. The standard wants under 500 lines.
const maxDocument = 1 << 20

// Document is a SKILL.md. What was not changed is written back byte for byte; in
// changed front matter unknown keys, their order and comments stay.
type Document struct {
	front   *yaml.Node // the mapping
	head    []byte     // the file up to the body, as it was
	newline string
	changed bool // front no longer says what head does
	// Body is everything behind the front matter, as it is in the file.
	Body string
}

// The keys of the standard, in the order in which a new document has them.
const (
	keyName          = "name"
	keyDescription   = "description"
	keyLicense       = "license"
	keyCompatibility = "compatibility"
	keyMetadata      = "metadata"
	keyAllowedTools  = "allowed-tools"
	keyVersion       = "version"    // below metadata when we write
	keyCategory      = "category"   // the same
	keyCreatedBy     = "created_by" // the same
)

func standardKeys() []string {
	return []string{keyName, keyDescription, keyLicense, keyCompatibility, keyMetadata, keyAllowedTools}
}

// ours are the keys that the standard does not have: we write them below metadata
// and read them in both places.
func ours() []string { return []string{keyVersion, keyCategory, keyCreatedBy} }

// Parse reads a SKILL.md. It accepts a mark of the encoding, CR LF and blanks behind
// the dashes; without front matter that is a mapping there is no document.
func Parse(data []byte) (d *Document, err error) {
	// The YAML library promises errors, and has panicked on hostile input before.
	defer func() {
		if r := recover(); r != nil {
			d, err = nil, fmt.Errorf("the front matter cannot be read: %v", r)
		}
	}()
	if len(data) > maxDocument {
		return nil, fmt.Errorf("%d bytes are more than the %d that a SKILL.md can have", len(data), maxDocument)
	}
	front, body, err := split(data)
	if err != nil {
		return nil, err
	}
	d = &Document{head: data[:len(data)-len(body)], newline: "\n", Body: string(body)}
	if bytes.Contains(d.head, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	d.front, err = mapping(front)
	return d, err
}

// New returns a document without a key.
func New() *Document {
	return &Document{front: &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, newline: "\n", changed: true}
}

func split(data []byte) (front, body []byte, err error) {
	rest := bytes.TrimPrefix(data, []byte("\ufeff"))
	first, rest, _ := cutLine(rest)
	if !dashes(first) {
		return nil, nil, errors.New("it has no front matter: the first line is not ---")
	}
	start := rest
	for len(rest) > 0 {
		var line []byte
		before := len(start) - len(rest)
		line, rest, _ = cutLine(rest)
		if dashes(line) {
			return start[:before], rest, nil
		}
	}
	return nil, nil, errors.New("its front matter does not end: a second line --- is missing")
}

func cutLine(data []byte) (line, rest []byte, found bool) {
	return bytes.Cut(data, []byte("\n"))
}

func dashes(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }

func mapping(front []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(front, &doc); err != nil {
		return nil, fmt.Errorf("the front matter is no YAML: %w", err)
	}
	if len(doc.Content) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", HeadComment: doc.HeadComment, FootComment: doc.FootComment}, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("the front matter is no list of keys and values")
	}
	// Comments before the first key and behind the last belong to the document.
	if root.HeadComment == "" {
		root.HeadComment = doc.HeadComment
	}
	if root.FootComment == "" {
		root.FootComment = doc.FootComment
	}
	return root, nil
}

// Bytes is the file.
func (d *Document) Bytes() ([]byte, error) {
	if !d.changed {
		return append(bytes.Clone(d.head), d.Body...), nil
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(d.front); err != nil {
		return nil, fmt.Errorf("write the front matter: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("write the front matter: %w", err)
	}
	text := "---\n" + out.String() + "---\n"
	if d.newline != "\n" {
		text = strings.ReplaceAll(text, "\n", d.newline)
	}
	return append([]byte(text), d.Body...), nil
}
