package skills

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Get returns the text of a key, "" when it is absent or no plain value. Version,
// category and created_by are looked for below metadata first.
func (d *Document) Get(key string) string {
	if slices.Contains(ours(), key) {
		if n := value(value(d.front, keyMetadata), key); plainValue(n) {
			return n.Value
		}
	}
	if n := value(d.front, key); plainValue(n) {
		return n.Value
	}
	return ""
}

// Set gives a key its text; "" removes it. Our own keys go below metadata, and so do
// those that stood at the top, since the standard's checker knows them there only.
func (d *Document) Set(key, text string) error {
	d.changed = true
	if !slices.Contains(ours(), key) {
		put(d.front, key, text)
		return nil
	}
	if err := d.lower(); err != nil {
		return err
	}
	meta, err := d.metadata(text != "")
	if err != nil || meta == nil {
		return err
	}
	put(meta, key, text)
	if len(meta.Content) == 0 {
		remove(d.front, keyMetadata)
	}
	return nil
}

// lower moves our keys from the top to metadata. What metadata has already stays.
func (d *Document) lower() error {
	for _, key := range ours() {
		top := value(d.front, key)
		if top == nil {
			continue
		}
		meta, err := d.metadata(true)
		if err != nil {
			return err
		}
		if value(meta, key) == nil && plainValue(top) {
			put(meta, key, top.Value)
		}
		if plainValue(top) {
			remove(d.front, key)
		}
	}
	return nil
}

func (d *Document) metadata(create bool) (*yaml.Node, error) {
	n := value(d.front, keyMetadata)
	switch {
	case n == nil && !create:
		return nil, nil
	case n == nil, n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		remove(d.front, keyMetadata)
		n = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		d.front.Content = append(d.front.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: keyMetadata}, n)
	case n.Kind != yaml.MappingNode:
		return nil, fmt.Errorf("metadata is on line %d and is no list of keys and values; correct it by hand", n.Line+1)
	}
	return n, nil
}

// value is the first value of a key; a mapping that has it twice is a fault.
func value(m *yaml.Node, key string) *yaml.Node {
	if m == nil || m.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key && m.Content[i].Kind == yaml.ScalarNode {
			return m.Content[i+1]
		}
	}
	return nil
}

func plainValue(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" && n.Tag != "!!binary"
}

func put(m *yaml.Node, key, text string) {
	if text == "" {
		remove(m, key)
		return
	}
	fresh := textNode(text)
	if old := value(m, key); old != nil {
		fresh.HeadComment, fresh.LineComment, fresh.FootComment = old.HeadComment, old.LineComment, old.FootComment
		*old = *fresh
		return
	}
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, fresh)
}

// textNode is a value that every reader takes for a text, those of YAML 1.1 too.
func textNode(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off":
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func remove(m *yaml.Node, key string) {
	for i := 0; i+1 < len(m.Content); {
		if m.Content[i].Value == key {
			m.Content = slices.Delete(m.Content, i, i+2)
			continue
		}
		i += 2
	}
}
