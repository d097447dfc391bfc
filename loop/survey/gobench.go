package survey

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"si/benchmark"
	"si/internal/lazyre"
	"si/track"
)

var (
	goTestFile  = lazyre.New(`_test\.go$`)
	goBenchFunc = lazyre.New(`^func (Benchmark[\p{Lu}\d_]\w*|Benchmark)\(\w+ \*testing\.B\)`)
)

// goPackage is a folder with Go benchmarks.
type goPackage struct {
	dir   string
	names []string
	at    hit
}

// goBenchmarks are those of go test -bench: one finding for each module, and one
// for each package where a module has several.
func goBenchmarks(i *index) (found []Finding) {
	modules := map[string][]goPackage{}
	var order []string
	for _, p := range goPackages(i) {
		root := i.above(p.dir, "go.mod")
		if _, ok := modules[root]; !ok {
			order = append(order, root)
		}
		modules[root] = append(modules[root], p)
	}
	slices.SortStableFunc(order, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	for _, root := range order {
		all := modules[root]
		found = append(found, goFinding(root, all))
		for _, p := range all {
			if len(all) > 1 {
				found = append(found, goFinding(root, []goPackage{p}))
			}
		}
	}
	return found
}

func goPackages(i *index) (all []goPackage) {
	for _, file := range i.match(goTestFile) {
		hits := i.grep(file, goBenchFunc)
		if len(hits) == 0 || strings.Contains("/"+file, "/testdata/") {
			continue
		}
		dir := path.Dir(file)
		at := slices.IndexFunc(all, func(p goPackage) bool { return p.dir == dir })
		if at < 0 {
			all, at = append(all, goPackage{dir: dir, at: hits[0]}), len(all)
		}
		for _, h := range hits {
			all[at].names = append(all[at].names, h.groups[1])
		}
	}
	return all
}

func goFinding(root string, packages []goPackage) Finding {
	f := Finding{
		Tool: "go test -bench", File: packages[0].at.file, Line: packages[0].at.line, Text: packages[0].at.text,
		Format: benchmark.FormatGoBench, Metric: "geomean", Direction: track.LowerIsBetter, Sure: Tool, whole: true,
	}
	var dirs []string
	n := 0
	for _, p := range packages {
		dirs = append(dirs, quote(below(root, p.dir)))
		f.Sealed = append(f.Sealed, joinDir(p.dir, "*_test.go"))
		f.Scope = append(f.Scope, joinDir(p.dir, "*.go"))
		n += len(p.names)
	}
	if n == 1 {
		f.Metric = strings.TrimPrefix(packages[0].names[0], "Benchmark")
	}
	const most = 8 // a benchmark takes a second and more
	if n > most {
		f.Note = fmt.Sprintf("%d benchmarks, each of a second or more: narrow -bench to those that matter", n)
	}
	slices.Sort(dirs)
	f.Command = inDir(root, "go test -run '^$' -bench . "+strings.Join(dirs, " "))
	f.Setup = inDir(root, "go test -run '^$' "+strings.Join(dirs, " "))
	return f
}

// below names a package of a module as go test wants it.
func below(root, dir string) string {
	switch {
	case dir == "." || dir == root:
		return "."
	case root == "":
		return "./" + dir
	}
	return "./" + strings.TrimPrefix(dir, root+"/")
}

// above is the nearest folder, from dir up, that holds a file; "" is the top,
// also where there is none.
func (i *index) above(dir, name string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if i.files[dir+"/"+name] {
			return dir
		}
	}
	return ""
}

func joinDir(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
