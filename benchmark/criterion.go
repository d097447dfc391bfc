package benchmark

import (
	"encoding/json"
	"path"
	"strings"
)

// readCriterion reads the files that criterion leaves for each benchmark:
// new/estimates.json, with new/benchmark.json for its id. Times are in
// nanoseconds an iteration. The usual value is the median, which a few slow
// iterations do not move; mean, slope and the rest are found by name.
func readCriterion(spec Spec, in Input) (Reading, *Fault) {
	patterns := spec.ResultFiles
	if len(patterns) == 0 {
		patterns = criterionFiles
	}
	files, fault := collectResults(in.Dir, patterns, in.Since)
	if fault != nil {
		return Reading{}, fault
	}
	ids, fault := criterionIDs(files)
	if fault != nil {
		return Reading{}, fault
	}
	s := &suite{usual: "median"}
	for _, f := range files {
		if path.Base(f.path) != "estimates.json" {
			continue
		}
		if fault := addCriterion(s, ids[path.Dir(f.path)], f); fault != nil {
			return Reading{}, fault
		}
	}
	return s.reading(spec.Metric)
}

// criterionIDs maps the folder of each benchmark.json to the id in it.
func criterionIDs(files []resultFile) (map[string]string, *Fault) {
	ids := map[string]string{}
	for _, f := range files {
		if path.Base(f.path) != "benchmark.json" {
			continue
		}
		var d struct {
			FullID string `json:"full_id"`
		}
		if fault := decodeDocument(f.data, &d, "criterion"); fault != nil {
			return nil, fault
		}
		ids[path.Dir(f.path)] = d.FullID
	}
	return ids, nil
}

// addCriterion adds the estimates of one benchmark. Without an id, because the
// user's patterns leave benchmark.json out, its folder names it.
func addCriterion(s *suite, id string, f resultFile) *Fault {
	if id == "" {
		id = strings.TrimSuffix(path.Dir(f.path), "/new")
		if _, below, ok := strings.Cut(id, "criterion/"); ok {
			id = below
		}
	}
	var estimates map[string]*struct {
		Point json.RawMessage `json:"point_estimate"`
	}
	if fault := decodeDocument(f.data, &estimates, "criterion"); fault != nil {
		return fault
	}
	stats := map[string]json.RawMessage{}
	for name, e := range estimates {
		if e != nil { // slope is null where samples are flat
			stats[name] = e.Point
		}
	}
	return addStatistics(s, id, nil, stats, nil)
}
