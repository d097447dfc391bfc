package benchmark

import "encoding/json"

// parsePytest adds the benchmarks of pytest --benchmark-json. A benchmark is
// called by its full name (file::test[param]), and by its short name where that
// is unambiguous. Times are in seconds; the value is the median of the rounds.
func parsePytest(doc []byte, s *suite) *Fault {
	var d struct {
		Benchmarks []struct {
			Name     string                     `json:"name"`
			FullName string                     `json:"fullname"`
			Stats    map[string]json.RawMessage `json:"stats"`
		} `json:"benchmarks"`
	}
	if fault := decodeDocument(doc, &d, "pytest-benchmark"); fault != nil {
		return fault
	}
	for _, b := range d.Benchmarks {
		data, fault := numbers(b.Stats["data"], "the data of "+cleanLine(b.FullName))
		if fault != nil {
			return fault
		}
		if fault := addStatistics(s, b.FullName, []string{b.Name}, b.Stats, data); fault != nil {
			return fault
		}
	}
	return nil
}
