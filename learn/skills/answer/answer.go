// Package answer finds the JSON object in what a model wrote, whatever prose, fences
// and drafts are around it. Its work is bounded, also for text that is made to be
// expensive; what it returns is valid JSON and still to be judged.
package answer

import (
	"bytes"
	"encoding/json"
	"strings"
)

const (
	maxText = 1 << 20  // bytes of an answer that are looked at, from its end
	maxWork = 32 << 20 // bytes that all attempts together may read
)

// Find returns the last JSON object in the text that has one of the keys, nil when
// there is none.
func Find(text string, keys ...string) json.RawMessage {
	if len(text) > maxText {
		text = text[len(text)-maxText:]
	}
	var found json.RawMessage
	work := 0
	for at := 0; work < maxWork; {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			break
		}
		at += next
		object, read := try(text[at:])
		work += read
		if has(object, keys) {
			found = object
			at += len(object)
			continue
		}
		at++ // what is asked for may stand inside
	}
	return found
}

// try reads the object that the text begins with. read is how much was looked at.
func try(text string) (object json.RawMessage, read int) {
	r := strings.NewReader(text)
	dec := json.NewDecoder(r)
	err := dec.Decode(&object)
	read = len(text) - r.Len()
	if err != nil {
		return nil, read
	}
	return object, read
}

func has(object json.RawMessage, keys []string) bool {
	if len(object) == 0 {
		return false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return false
	}
	for _, key := range keys {
		if v, ok := fields[key]; ok && !bytes.Equal(v, []byte("null")) {
			return true
		}
	}
	return false
}
