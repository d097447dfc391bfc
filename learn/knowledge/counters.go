package knowledge

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"si/learn/place"
	"si/learn/strictyaml"
)

// SetCounters writes counters into the store, by entry id, and returns the files
// that it changed. Everything else in a file keeps its bytes, comments too; in a
// file of a form that cannot be edited so, comments stay and blanks may not. Ids that
// are not in the store are passed over. The caller holds the lock.
func SetCounters(p place.Place, counters map[string]Counters) ([]string, error) {
	s, err := Load(p)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range s.Entries {
		c, ok := counters[e.ID]
		if ok && c != e.Counters && !slices.Contains(files, e.File) {
			files = append(files, e.File)
		}
	}
	for _, file := range files {
		err := p.Edit(file, func(old []byte) ([]byte, error) { return counted(file, old, counters) })
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// counted returns the file with its counters set, and makes sure that nothing else
// in it changed its meaning.
func counted(file string, old []byte, counters map[string]Counters) ([]byte, error) {
	want, err := parse(file, old)
	if err != nil {
		return nil, err
	}
	for i := range want {
		if c, ok := counters[want[i].ID]; ok {
			want[i].Counters = c
		}
	}
	for _, write := range []func(string, []byte, map[string]Counters) ([]byte, error){inPlace, anew} {
		data, err := write(file, old, counters)
		if err != nil {
			continue
		}
		if got, err := parse(file, data); err == nil && same(got, want) {
			return data, nil
		}
	}
	return nil, fmt.Errorf("write the counters into %s: its form cannot be kept; write it as an ordinary list of entries", file)
}

func same(got, want []Entry) bool {
	return slices.EqualFunc(got, want, func(a, b Entry) bool {
		a.Line, b.Line, a.globs, b.globs = 0, 0, nil, nil
		return reflect.DeepEqual(a, b)
	})
}

// edit replaces the bytes from at to end.
type edit struct {
	at, end int
	text    string
}

// inPlace edits the text of the file.
func inPlace(file string, old []byte, counters map[string]Counters) ([]byte, error) {
	root, ok, err := strictyaml.Parse(file, old)
	if err != nil || !ok {
		return old, err
	}
	top, err := root.Fields("entries")
	if err != nil {
		return nil, err
	}
	items, err := top["entries"].List()
	if err != nil {
		return nil, err
	}
	t := text{data: old, lines: lineStarts(old), eol: "\n"}
	if bytes.Contains(old, []byte("\r\n")) {
		t.eol = "\r\n"
	}
	for _, item := range items {
		if err := t.count(item, counters); err != nil {
			return nil, err
		}
	}
	return t.apply(), nil
}

// text is a file with the edits that are to be made.
type text struct {
	data  []byte
	lines []int // where each begins
	eol   string
	edits []edit
}

func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func (t *text) count(item strictyaml.Value, counters map[string]Counters) error {
	fields, err := item.Fields("id", "kind", "text", "confidence", "provenance", "used", "helpful", "outdated_reports", "applies_to", "supersedes")
	if err != nil {
		return err
	}
	c, ok := counters[fields["id"].Raw()]
	if !ok {
		return nil
	}
	missing := ""
	for _, f := range []struct {
		name  string
		value int
	}{{"used", c.Used}, {"helpful", c.Helpful}, {"outdated_reports", c.OutdatedReports}} {
		v, there := fields[f.name]
		switch {
		case there:
			at := t.offset(v)
			t.edits = append(t.edits, edit{at, at + len(v.Raw()), strconv.Itoa(f.value)})
		case f.value > 0 && item.Flow():
			missing += f.name + ": " + strconv.Itoa(f.value) + ", "
		case f.value > 0:
			missing += strings.Repeat(" ", item.First().Column()-1) + f.name + ": " + strconv.Itoa(f.value) + t.eol
		}
	}
	if missing == "" {
		return nil
	}
	at := t.offset(item.First())
	if !item.Flow() { // on the lines below the id, which is on one line
		if line := fields["id"].Line(); line < len(t.lines) {
			at = t.lines[line]
		} else {
			return errors.New("the id stands on the last line")
		}
	}
	t.edits = append(t.edits, edit{at, at, missing})
	return nil
}

// offset is the byte at which a value begins; the library counts characters.
func (t *text) offset(v strictyaml.Value) int {
	at := t.lines[min(v.Line(), len(t.lines))-1]
	for range v.Column() - 1 {
		_, size := utf8.DecodeRune(t.data[at:])
		at += size
	}
	return at
}

func (t *text) apply() []byte {
	slices.SortStableFunc(t.edits, func(a, b edit) int { return a.at - b.at })
	var out bytes.Buffer
	from := 0
	for _, e := range t.edits {
		out.Write(t.data[from:min(e.at, len(t.data))])
		out.WriteString(e.text)
		from = min(e.end, len(t.data))
	}
	out.Write(t.data[from:])
	return out.Bytes()
}

// anew lets the library write the file, with its comments.
func anew(_ string, old []byte, counters map[string]Counters) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(old, &doc); err != nil || len(doc.Content) == 0 || len(doc.Content[0].Content) < 2 {
		return nil, errors.New("the file has another form")
	}
	for _, item := range doc.Content[0].Content[1].Content {
		values := map[string]*yaml.Node{}
		for i := 0; i+1 < len(item.Content); i += 2 {
			values[item.Content[i].Value] = item.Content[i+1]
		}
		id := values["id"]
		if id == nil {
			continue
		}
		if c, ok := counters[id.Value]; ok {
			set(item, values, "used", c.Used)
			set(item, values, "helpful", c.Helpful)
			set(item, values, "outdated_reports", c.OutdatedReports)
		}
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(&doc), enc.Close())
	return b.Bytes(), err
}

func set(item *yaml.Node, values map[string]*yaml.Node, name string, n int) {
	if v := values[name]; v != nil {
		v.Value = strconv.Itoa(n)
		return
	}
	if n > 0 {
		item.Content = append(item.Content,
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(n)})
	}
}
