package sandbox

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// use is what may be done with a path. Of two for one path the greater counts.
type use int

const (
	writable use = iota
	readOnly
	private // an empty folder to write to
	hidden
)

// mount changes what is seen at a path.
type mount struct {
	at, from string // from is on the machine; the same as at except for binds
	use      use
	bound    bool // a bind of the profile, or in one
	pin      bool // a folder that is mounted over itself so that it cannot be renamed
}

// mounts plans what bubblewrap has to mount over a read-only view of the machine,
// in the order in which it must: what is above comes first, because a mount hides
// what was mounted below its place before.
func mounts(r resolved) ([]mount, error) {
	t := table{}
	for _, l := range []struct {
		paths []string
		use   use
	}{{r.writable, writable}, {r.readOnly, readOnly}, {r.private, private}, {r.hidden, hidden}} {
		for _, p := range l.paths {
			t.add(mount{at: p, from: p, use: l.use})
		}
	}
	if err := t.addBinds(r); err != nil {
		return nil, err
	}
	t.addPins()
	return t.needed(), nil
}

// table has one mount for each path.
type table map[string]mount

func (t table) add(m mount) {
	if old, there := t[m.at]; !there || m.use > old.use {
		t[m.at] = m
	}
}

// addBinds adds the binds, and to each what the profile says of paths inside its
// source: a read-only file must not be writable under its other name.
func (t table) addBinds(r resolved) error {
	var more []mount
	for _, b := range r.bind {
		if old, there := t[b.To]; there && old.use >= private {
			return fmt.Errorf("show %s at %s: the profile hides that path; choose one", b.From, b.To)
		}
		if within(b.To, b.From) || within(b.From, b.To) || b.To == b.From {
			return fmt.Errorf("show %s at %s: one is inside the other; choose a place elsewhere", b.From, b.To)
		}
		m := mount{at: b.To, from: b.From, use: writable, bound: true}
		if b.ReadOnly {
			m.use = readOnly
		}
		more = append(more, m)
		for _, inside := range t {
			if within(inside.from, b.From) {
				inside.at = b.To + strings.TrimPrefix(inside.from, b.From)
				inside.bound = true
				more = append(more, inside)
			}
		}
	}
	for _, m := range more {
		t[m.at] = m
	}
	return nil
}

// addPins mounts the folders between a writable folder and a stricter path in it
// over themselves. The path itself is a mount and cannot be renamed or removed,
// but its parent could be, with another one put in its place.
func (t table) addPins() {
	for _, m := range t.sorted() {
		if m.use == writable {
			continue
		}
		above, there := t.above(m.at)
		if !there || above.use != writable {
			continue
		}
		for dir := filepath.Dir(m.at); dir != above.at; dir = filepath.Dir(dir) {
			from := above.from + strings.TrimPrefix(dir, above.at)
			t[dir] = mount{at: dir, from: from, use: writable, bound: above.bound, pin: true}
		}
	}
}

// above is the mount that decides about the folder of path.
func (t table) above(path string) (mount, bool) {
	for dir := path; dir != "/"; {
		dir = filepath.Dir(dir)
		if m, there := t[dir]; there {
			return m, true
		}
		if dir == "/dev" { // a new one is mounted there
			return mount{at: dir, from: dir, use: private}, true
		}
	}
	return mount{at: "/", from: "/", use: readOnly}, false
}

// needed drops what is as it should be without a mount.
func (t table) needed() []mount {
	var out []mount
	kept := table{}
	for _, m := range t.sorted() {
		above, _ := kept.above(m.at)
		same := above.use == m.use && !m.pin && m.from == above.from+strings.TrimPrefix(m.at, above.at)
		if above.at == "/" {
			same = m.use == readOnly && m.from == m.at
		}
		nothingThere := m.use == hidden && above.use >= private
		if !same && !nothingThere {
			kept[m.at] = m
			out = append(out, m)
		}
	}
	return out
}

func (t table) sorted() []mount {
	out := make([]mount, 0, len(t))
	for _, m := range t {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b mount) int {
		return cmp.Or(cmp.Compare(strings.Count(a.at, "/"), strings.Count(b.at, "/")), cmp.Compare(a.at, b.at))
	})
	return out
}
