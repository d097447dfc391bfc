package benchmark

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// jsonLines reads the format json: the last line that is a JSON object with
// the primary metric as a finite number, and its sub_scores. A line that names
// the metric and gives it anything else is never passed over for an earlier one.
type jsonLines struct {
	metric string
	seen   int    // lines with the metric
	last   string // the last of them
	after  bool   // something was printed after it
	end    string // the last line that was not blank
}

func (j *jsonLines) line(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	j.end, j.after = text, true
	if text[0] == '{' && j.names(text) {
		j.seen, j.last, j.after = j.seen+1, text, false
	}
}

// names reports whether text is an object with the metric, or would be if it
// were JSON: NaN is no JSON, and several languages print it.
func (j *jsonLines) names(text string) bool {
	members, err := decodeObject([]byte(text))
	if err != nil && !errors.Is(err, errTwice) {
		return strings.Contains(text, quoted(j.metric))
	}
	_, ok := members[j.metric]
	return ok
}

func quoted(key string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(key) // a text always encodes
	return strings.TrimSpace(b.String())
}

func (j *jsonLines) finish() (Reading, *Fault) {
	if j.seen == 0 {
		return Reading{}, parseFault(j.end, "no line of the output is a JSON object with the key %q; print it on one line", j.metric)
	}
	members, err := decodeObject([]byte(j.last))
	if err != nil {
		return Reading{}, parseFault(j.last, "the line with %q is not a JSON object (%v)", j.metric, err)
	}
	score, err := parseNumber(string(members[j.metric]))
	if err != nil {
		return Reading{}, parseFault(j.last, "%q %v", j.metric, err)
	}
	subs, err := subScores(members["sub_scores"])
	if err != nil {
		return Reading{}, parseFault(j.last, "sub_scores %v", err)
	}
	r := Reading{Metric: j.metric, Score: score, SubScores: subs}
	r.Odd = oddLines(j.seen, j.after)
	return r, nil
}

func oddLines(seen int, after bool) (odd []string) {
	if seen > 1 {
		odd = append(odd, OddRepeated)
	}
	if after {
		odd = append(odd, OddTrailing)
	}
	return odd
}

// subScores reads an object of finite numbers; null and absent are none.
func subScores(raw json.RawMessage) (map[string]float64, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	members, err := decodeObject(raw)
	if err != nil {
		return nil, fmt.Errorf("is not an object of numbers (%w)", err)
	}
	if len(members) > maxSubScores {
		return nil, fmt.Errorf("has %d entries; at most %d are read", len(members), maxSubScores)
	}
	subs := make(map[string]float64, len(members))
	for name, value := range members {
		if subs[name], err = parseNumber(string(value)); err != nil {
			return nil, fmt.Errorf("of %q %w", cleanLine(name), err)
		}
	}
	return subs, nil
}

// maxSubScores bounds what a run can make the track keep.
const maxSubScores = 1000

var errTwice = errors.New("a key stands twice")

// decodeObject splits one JSON object into its members. The standard decoder
// takes the last of two equal keys; another reader of the same line may not.
func decodeObject(data []byte) (map[string]json.RawMessage, error) {
	if !json.Valid(data) {
		return nil, errors.New("not valid JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	members, twice := map[string]json.RawMessage{}, error(nil)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if _, ok := members[name]; ok {
			twice = errTwice
		}
		members[name] = value
	}
	return members, twice
}
