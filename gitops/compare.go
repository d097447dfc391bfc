package gitops

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is what part of the user's side a difference is in.
type Kind string

// The kinds of difference.
const (
	KindRef    Kind = "ref"
	KindHead   Kind = "head"
	KindStash  Kind = "stash"
	KindConfig Kind = "config"
	KindHooks  Kind = "hooks"
	KindInfo   Kind = "info"
	KindIndex  Kind = "index"
	KindFile   Kind = "file"
)

// Severity says what a difference calls for where no sandbox kept agents out.
type Severity string

// The severities.
const (
	// Foreign is what people do while a loop runs: commit, check out, edit.
	Foreign Severity = "foreign"
	// Tampering is what nobody does by the way: it stops the loop.
	Tampering Severity = "tampering"
)

// namedEntries is how many index entries or files a comparison names each.
const namedEntries = 50

// Difference is one thing that is not what it was.
type Difference struct {
	Kind          Kind
	Severity      Severity
	Name          string // ref, file or path
	Before, After string // value or digest, "" for not there
	Restore       string // shell command that puts it back, "" when nothing can
}

// Compare lists what changed from a to b, refs first. A branch that moved to a
// descendant was moved by a commit; where the histories cannot be compared it
// counts as tampering.
func (a Fingerprint) Compare(ctx context.Context, b Fingerprint) []Difference {
	return slices.Concat(
		a.compareRefs(ctx, b), a.compareHead(b), a.compareStash(b), a.compareGuards(b),
		a.compareIndex(b), a.compareFiles(b),
	)
}

// restoring is a git command in the user's checkout.
func (a Fingerprint) restoring(args ...string) string {
	words := []string{"git", "-C", shellQuote(a.repo.top)}
	for _, arg := range args {
		words = append(words, shellQuote(arg))
	}
	return strings.Join(words, " ")
}

func (a Fingerprint) compareRefs(ctx context.Context, b Fingerprint) []Difference {
	var list []Difference
	for _, name := range differing(a.refs, b.refs) {
		d := Difference{Kind: KindRef, Severity: Tampering, Name: name, Before: a.refs[name], After: b.refs[name]}
		switch {
		case d.Before == "":
			d.Restore = a.restoring("update-ref", "-d", name, d.After)
			if !strings.HasPrefix(name, "refs/replace/") { // a replacement changes what every commit says
				d.Severity = Foreign
			}
		case d.After == "":
			d.Restore = a.restoring("update-ref", name, d.Before)
		default:
			d.Restore = a.restoring("update-ref", name, d.Before, d.After)
			grows := strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/notes/")
			if ok, err := a.repo.isAncestor(ctx, d.Before, d.After); grows && ok && err == nil {
				d.Severity = Foreign
			}
		}
		list = append(list, d)
	}
	return list
}

func (a Fingerprint) compareHead(b Fingerprint) []Difference {
	// On the same branch HEAD moves with its ref, which is compared above.
	if a.head.Branch == b.head.Branch && (a.head.Branch != "" || a.head == b.head) {
		return nil
	}
	return []Difference{{
		Kind: KindHead, Severity: Foreign, Name: "HEAD", Before: first(a.head.Branch, a.head.Commit),
		After: first(b.head.Branch, b.head.Commit), Restore: a.restoring("checkout", first(a.head.Branch, a.head.Commit)),
	}}
}

// compareStash takes entries on top of the old ones for the user's; entries that
// are gone are somebody's lost work.
func (a Fingerprint) compareStash(b Fingerprint) []Difference {
	if slices.Equal(a.stash, b.stash) {
		return nil
	}
	d := Difference{
		Kind: KindStash, Severity: Tampering, Name: "refs/stash",
		Before: strings.Join(a.stash, " "), After: strings.Join(b.stash, " "),
	}
	added := len(b.stash) - len(a.stash)
	if added > 0 && slices.Equal(b.stash[added:], a.stash) {
		d.Severity = Foreign
	}
	var commands []string
	for _, id := range slices.Backward(a.stash) {
		if !slices.Contains(b.stash, id) {
			commands = append(commands, a.restoring("stash", "store", "-m", "restored", id))
		}
	}
	d.Restore = strings.Join(commands, " && ")
	return []Difference{d}
}

func (a Fingerprint) compareGuards(b Fingerprint) []Difference {
	short := func(g map[string]guard) map[string]string {
		m := make(map[string]string, len(g))
		for path, x := range g {
			m[path] = x.sum
		}
		return m
	}
	before, after := short(a.guards), short(b.guards)
	var list []Difference
	for _, path := range differing(before, after) {
		was, is := a.guards[path], b.guards[path]
		kind := was.kind
		if kind == "" {
			kind = is.kind
		}
		list = append(list, Difference{
			Kind: kind, Severity: Tampering, Name: path, Before: was.sum, After: is.sum, Restore: restoreFile(path, was),
		})
	}
	return list
}

// restoreFile is the command that writes a small file again.
func restoreFile(path string, was guard) string {
	p := shellQuote(path)
	switch {
	case was.sum == "":
		return "rm -f " + p
	case strings.HasPrefix(was.sum, "link to "):
		return "ln -sfn " + shellQuote(strings.TrimPrefix(was.sum, "link to ")) + " " + p
	case was.data == nil:
		return ""
	}
	write := "printf %s " + shellQuote(string(was.data)) + " > " + p
	if !utf8.Valid(was.data) || strings.Contains(string(was.data), "\x00") {
		write = "printf %s " + base64.StdEncoding.EncodeToString(was.data) + " | base64 -d > " + p
	}
	return fmt.Sprintf("mkdir -p %s && rm -f %s && %s && chmod %o %s", shellQuote(filepath.Dir(path)), p, write, was.mode.Perm(), p)
}

func (a Fingerprint) compareIndex(b Fingerprint) []Difference {
	if a.index == b.index {
		return nil
	}
	var list []Difference
	paths := differing(a.index.entries, b.index.entries)
	for _, path := range paths[:min(len(paths), namedEntries)] {
		d := Difference{Kind: KindIndex, Severity: Foreign, Name: path, Before: a.index.entries[path], After: b.index.entries[path]}
		if f := strings.Fields(d.Before); len(f) == 3 {
			d.Restore = a.restoring("update-index", "--add", "--cacheinfo", f[0]+","+f[1]+","+path)
		} else if len(f) == 0 {
			d.Restore = a.restoring("update-index", "--force-remove", "--", path)
		}
		list = append(list, d)
	}
	return append(list, rest(KindIndex, len(paths))...)
}

func (a Fingerprint) compareFiles(b Fingerprint) []Difference {
	var list []Difference
	paths := differing(a.files, b.files)
	for _, path := range paths[:min(len(paths), namedEntries)] {
		d := Difference{Kind: KindFile, Severity: Foreign, Name: path, Before: a.files[path], After: b.files[path]}
		_, tracked := a.index.entries[path]
		switch {
		case d.Before != "": // uncommitted work of the user's, of which there is no copy
		case tracked:
			d.Restore = a.restoring("checkout", "--", path)
		default:
			d.Restore = "rm -rf " + shellQuote(filepath.Join(a.repo.top, path))
		}
		list = append(list, d)
	}
	return append(list, rest(KindFile, len(paths))...)
}

// rest says how many differences of a kind were not named.
func rest(kind Kind, n int) []Difference {
	if n <= namedEntries {
		return nil
	}
	return []Difference{{Kind: kind, Severity: Foreign, Name: fmt.Sprintf("%d more", n-namedEntries)}}
}

// differing lists the keys whose values are not the same in both, sorted.
func differing(a, b map[string]string) []string {
	keys := map[string]bool{}
	for k, v := range a {
		if b[k] != v {
			keys[k] = true
		}
	}
	for k, v := range b {
		if a[k] != v {
			keys[k] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}
