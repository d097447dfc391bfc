package modelserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// event is one event of a stream; raw stands for data that is no JSON of ours.
type event struct {
	name string
	data any
	raw  string
}

// stream sends events, with the faults of the reply among them.
func stream(ctx context.Context, w http.ResponseWriter, req Request, r Reply, events []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	flush.Flush()
	for i, e := range disturbed(req, r, events) {
		if !pass(ctx, r.Gate) {
			return
		}
		if err := e.write(w); err != nil {
			return
		}
		if err := flush.Flush(); err != nil {
			return
		}
		if r.Fault.Drop && i == len(events)/2 {
			panic(http.ErrAbortHandler) // the server's own way to break a connection off
		}
	}
}

// disturbed puts the faults into a stream, in its middle.
func disturbed(req Request, r Reply, events []event) []event {
	half := events[:len(events)/2]
	switch f := r.Fault; {
	case f.Cut:
		return half
	case f.Malformed:
		return append(half[:len(half):len(half)], event{raw: `{"this is": not JSON`})
	case f.InStream:
		return append(half[:len(half):len(half)], event{name: "error", data: errorBody(req.Format, f.Status, f.Code, f.Said)})
	}
	return events
}

// pass waits for the gate, if there is one.
func pass(ctx context.Context, gate chan struct{}) bool {
	if gate == nil {
		return true
	}
	select {
	case <-gate:
		return true
	case <-ctx.Done():
		return false
	}
}

func (e event) write(w http.ResponseWriter) error {
	data := []byte(e.raw)
	if e.raw == "" {
		var err error
		if data, err = json.Marshal(e.data); err != nil {
			return err
		}
	}
	if e.name != "" {
		if _, err := fmt.Fprintf(w, "event: %s\n", e.name); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "data: %s\n\n", data)
	return err
}

// pieces cuts a text into n parts of whole characters.
func pieces(text string, n int) []string {
	if text == "" {
		return nil
	}
	if n == 0 {
		n = 3
	}
	runes := []rune(text)
	size := max(1, (len(runes)+n-1)/n)
	var out []string
	for len(runes) > size {
		out = append(out, string(runes[:size]))
		runes = runes[size:]
	}
	return append(out, string(runes))
}
