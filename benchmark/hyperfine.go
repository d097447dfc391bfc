package benchmark

import "encoding/json"

// parseHyperfine adds the results of hyperfine --export-json. A benchmark is
// called by its command, or by what --command-name gave it. Times are in
// seconds; the value is the median of the runs.
func parseHyperfine(doc []byte, s *suite) *Fault {
	var d struct {
		Results []map[string]json.RawMessage `json:"results"`
	}
	if fault := decodeDocument(doc, &d, "hyperfine"); fault != nil {
		return fault
	}
	for _, result := range d.Results {
		var name string
		if err := json.Unmarshal(result["command"], &name); err != nil {
			return parseFault(string(result["command"]), "a result has no command")
		}
		if fault := hyperfineExits(name, result["exit_codes"]); fault != nil {
			return fault
		}
		times, fault := numbers(result["times"], "the times of "+cleanLine(name))
		if fault != nil {
			return fault
		}
		if fault := addStatistics(s, name, nil, result, times); fault != nil {
			return fault
		}
	}
	return nil
}

// hyperfineExits refuses results of a command that failed: with
// --ignore-failure hyperfine itself exits 0, and a failure is often fast.
func hyperfineExits(name string, raw json.RawMessage) *Fault {
	if len(raw) == 0 {
		return nil // versions before 1.14 have none
	}
	var codes []*int
	if err := json.Unmarshal(raw, &codes); err != nil {
		return parseFault(string(raw), "the exit codes of %s cannot be read", cleanLine(name))
	}
	for _, code := range codes {
		if code == nil { // ended by a signal
			return parseFault("", "%s was ended by a signal in a run that hyperfine timed", cleanLine(name))
		}
		if *code != 0 {
			return parseFault("", "%s failed with exit code %d in a run that hyperfine timed", cleanLine(name), *code)
		}
	}
	return nil
}
