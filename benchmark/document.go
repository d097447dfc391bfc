package benchmark

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// readDocument reads the formats that are one JSON document a file. Without
// result files the document is looked for on standard output, among the text
// that the tool prints there.
func readDocument(spec Spec, in Input, parse func([]byte, *suite) *Fault) (Reading, *Fault) {
	s := &suite{usual: "median"}
	docs, odd, fault := documents(spec, in)
	if fault != nil {
		return Reading{}, fault
	}
	for _, doc := range docs {
		if fault := parse(doc, s); fault != nil {
			return Reading{}, fault
		}
		if len(s.series) > maxSeries {
			return Reading{}, parseFault("", "the output has too many benchmarks")
		}
	}
	r, fault := s.reading(spec.Metric)
	if fault != nil {
		return Reading{}, fault
	}
	r.Odd = odd
	return r, nil
}

func documents(spec Spec, in Input) (docs [][]byte, odd []string, fault *Fault) {
	if len(spec.ResultFiles) > 0 {
		files, fault := collectResults(in.Dir, spec.ResultFiles, in.Since)
		for _, f := range files {
			docs = append(docs, f.data)
		}
		return docs, nil, fault
	}
	parts, closeParts, fault := stdoutParts(in)
	if fault != nil {
		return nil, nil, fault
	}
	defer closeParts()
	if len(parts) > 1 {
		return nil, nil, parseFault("", "the output is too long to find a JSON document in it; write it to a file and name that in si.benchmark.result_files")
	}
	text, err := io.ReadAll(io.LimitReader(parts[0], maxResultBytes+1))
	if err != nil || len(text) > maxResultBytes {
		return nil, nil, parseFault("", "the output is too long to find a JSON document in it; write it to a file and name that in si.benchmark.result_files")
	}
	doc, rest, ok := lastDocument(text)
	if !ok {
		return nil, nil, parseFault("", "the output holds no JSON document; have the tool write one to a file and name that in si.benchmark.result_files")
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		odd = []string{OddTrailing}
	}
	return [][]byte{doc}, odd, nil
}

// lastDocument finds the last JSON object that begins a line, and what follows
// it. Looking from the end skips the braces of whatever was printed before, and
// an object within the document does not begin at the start of a line.
func lastDocument(text []byte) (doc, rest []byte, ok bool) {
	const tries = 64 // bounds the work on output that is all braces
	end := len(text)
	for range tries {
		at := bytes.LastIndex(text[:end], []byte("\n{")) + 1
		if at == 0 && (len(text) == 0 || text[0] != '{') {
			return nil, nil, false
		}
		dec := json.NewDecoder(bytes.NewReader(text[at:]))
		var raw json.RawMessage
		if err := dec.Decode(&raw); err == nil {
			return raw, text[at+int(dec.InputOffset()):], true
		}
		if end = at; end == 0 {
			return nil, nil, false
		}
		end-- // before the newline, so that the next search ends there
	}
	return nil, nil, false
}

// decodeDocument unmarshals doc and quotes the line at which it broke off.
func decodeDocument(doc []byte, v any, tool string) *Fault {
	err := json.Unmarshal(doc, v)
	if err == nil {
		return nil
	}
	at := int64(len(doc))
	var syn *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syn):
		at = syn.Offset
	case errors.As(err, &typ):
		at = typ.Offset
	}
	return parseFault(lineAround(doc, int(at)), "the document is not %s's JSON (%v)", tool, err)
}

func lineAround(doc []byte, at int) string {
	at = min(max(at-1, 0), len(doc))
	from := bytes.LastIndexByte(doc[:at], '\n') + 1
	line := doc[from:]
	if i := bytes.IndexByte(doc[at:], '\n'); i >= 0 {
		line = doc[from : at+i]
	}
	return string(line)
}

// addStatistics adds what is a number in stats as values of the benchmark:
// the median with its samples as the usual one, the rest to be found by name.
func addStatistics(s *suite, name string, aliases []string, stats map[string]json.RawMessage, samples []float64) *Fault {
	if name == "" {
		return parseFault("", "a benchmark of the document has no name")
	}
	keys := make([]string, 0, len(stats))
	for key := range stats {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	usual := false
	for _, key := range keys {
		v, err := parseNumber(string(stats[key]))
		if errors.Is(err, errNotNumber) {
			continue // names, lists, null
		}
		if err != nil {
			return parseFault(string(stats[key]), "%s of %s %v", cleanLine(key), cleanLine(name), err)
		}
		e := series{name: name, aliases: aliases, unit: key, value: v, hidden: key != s.usual}
		if key == s.usual {
			usual = true
			if len(samples) > 0 {
				e.value, e.samples = median(samples), samples
			}
		}
		s.series = append(s.series, e)
	}
	if !usual {
		return parseFault("", "%s has no finite %s", cleanLine(name), s.usual)
	}
	return nil
}

// numbers reads a list of numbers.
func numbers(raw json.RawMessage, what string) ([]float64, *Fault) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, parseFault("", "%s are not a list of numbers", what)
	}
	values := make([]float64, len(items))
	for i, item := range items {
		v, err := parseNumber(strings.TrimSpace(string(item)))
		if err != nil {
			return nil, parseFault(string(item), "an item of %s %v", what, err)
		}
		values[i] = v
	}
	return values, nil
}
