package track

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// parseEventLine reads a line in the exact form in which Append writes it. It is
// several times as fast as encoding/json, which matters when a watcher opens the
// journal of a long campaign. Whatever has another form gives false and is left
// to encoding/json.
func parseEventLine(line []byte) (e Event, ok bool) {
	p := lineParser{rest: line}
	ts := p.text(`{"ts":"`)
	e.Ev = Kind(p.text(`,"ev":"`))
	e.Run = string(p.text(`,"run":"`))
	round := p.until(`,"round":`, `,"actor":"`)
	e.Actor = string(p.text(`,"actor":"`))
	if p.failed || e.TS.UnmarshalText(ts) != nil {
		return Event{}, false
	}
	n, err := strconv.Atoi(string(round))
	if err != nil || strconv.Itoa(n) != string(round) {
		return Event{}, false
	}
	e.Round = n
	if string(p.rest) == "}" {
		return e, true
	}
	data, found := bytes.CutPrefix(p.rest, []byte(`,"data":`))
	data, closed := bytes.CutSuffix(data, []byte("}"))
	if !found || !closed || len(bytes.TrimSpace(data)) != len(data) || !json.Valid(data) {
		return Event{}, false
	}
	e.Data = bytes.Clone(data)
	return e, true
}

type lineParser struct {
	rest   []byte
	failed bool
}

// text reads a JSON string of plain characters behind prefix, which holds its
// opening quote.
func (p *lineParser) text(prefix string) []byte {
	value := p.until(prefix, `"`)
	if !p.failed {
		p.rest = p.rest[1:]
	}
	for _, c := range value {
		if c < ' ' || c > '~' || c == '\\' {
			p.failed = true
		}
	}
	return value
}

// until reads what stands between prefix and the next end, which it leaves.
func (p *lineParser) until(prefix, end string) []byte {
	rest, found := bytes.CutPrefix(p.rest, []byte(prefix))
	at := bytes.Index(rest, []byte(end))
	if p.failed || !found || at < 0 {
		p.failed = true
		return nil
	}
	p.rest = rest[at:]
	return rest[:at]
}
