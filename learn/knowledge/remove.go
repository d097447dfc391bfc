package knowledge

import (
	"bytes"
	"fmt"
	"slices"

	"si/learn/strictyaml"
)

// Without returns a file of the store without one entry; nil when it was the only
// one, so that the file goes. Everything else keeps its bytes, comments that stand
// above the entry too.
func Without(file string, data []byte, id string) ([]byte, error) {
	all, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id })
	switch {
	case at < 0:
		return nil, fmt.Errorf("remove %s: it is not in %s", id, file)
	case len(all) == 1:
		return nil, nil
	}
	out, err := cutEntry(file, data, at)
	if err == nil {
		var got []Entry
		if got, err = parse(file, out); err == nil && !same(got, slices.Delete(all, at, at+1)) {
			err = fmt.Errorf("its form cannot be kept")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("remove %s from %s: %w; remove it by hand", id, file, err)
	}
	return out, nil
}

// cutEntry leaves out the lines from an entry to the next one.
func cutEntry(file string, data []byte, at int) ([]byte, error) {
	root, _, err := strictyaml.Parse(file, data)
	if err != nil {
		return nil, err
	}
	top, err := root.Fields("entries")
	if err != nil {
		return nil, err
	}
	items, err := top["entries"].List()
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	from, to := items[at].Line()-1, len(lines)
	if at+1 < len(items) {
		to = items[at+1].Line() - 1
	}
	return bytes.Join(slices.Concat(lines[:from], lines[to:]), nil), nil
}
