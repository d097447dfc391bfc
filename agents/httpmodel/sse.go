package httpmodel

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"si/internal/clean"
)

const (
	maxLine   = 4 << 20  // bytes of one line of a stream
	maxEvent  = 8 << 20  // bytes of the data of one event
	maxStream = 64 << 20 // bytes of one reply on the wire
)

// ErrCut says that a stream ended before the server said that it was complete.
var ErrCut = errors.New("the model's stream broke off before its end")

// MalformedError says that what a server sent is not of its format.
type MalformedError struct{ What string }

func (e *MalformedError) Error() string {
	return "the model's server sent what cannot be read: " + e.What
}

// StreamEvent is one event of a stream.
type StreamEvent struct {
	Name string
	Data []byte // valid until the next call of Next
}

// Stream reads server-sent events. Its memory is bounded whatever the server
// sends: an event, or a stream, that is too long is a *MalformedError.
type Stream struct {
	in    *bufio.Reader
	data  bytes.Buffer
	line  []byte
	total int64
	torn  bool // the last line had no end
}

// NewStream reads from r.
func NewStream(r io.Reader) *Stream { return &Stream{in: bufio.NewReaderSize(r, 16<<10)} }

// Unmarshal reads the data of an event into v. Half an event at the end of the
// stream is ErrCut, anything else that is not JSON a *MalformedError.
func (s *Stream) Unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	switch {
	case err == nil:
		return nil
	case s.torn:
		return ErrCut
	}
	return &MalformedError{fmt.Sprintf("%v in %s", err, clean.Line(string(data[:min(len(data), 2000)]), 200))}
}

// Next returns the next event that has data. At the end of the stream it gives
// io.EOF; the event before may lack the blank line after it, as some servers
// leave out the last one.
func (s *Stream) Next() (StreamEvent, error) {
	var e StreamEvent
	var has bool
	s.data.Reset()
	for {
		line, err := s.readLine()
		if err != nil && (!errors.Is(err, io.EOF) || !has && len(line) == 0) {
			return StreamEvent{}, err
		}
		if len(line) == 0 {
			if has || err != nil {
				e.Data = s.data.Bytes()
				return e, nil
			}
			e.Name = ""
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.Name = string(value[:min(len(value), 200)])
		case "data":
			if has {
				s.data.WriteByte('\n')
			}
			has = true
			s.data.Write(value)
		}
		if s.data.Len() > maxEvent {
			return StreamEvent{}, &MalformedError{fmt.Sprintf("an event of more than %d bytes", maxEvent)}
		}
	}
}

// readLine returns the next line without its end, which may be LF, CR LF or CR.
// A line at the end of the stream comes together with io.EOF.
func (s *Stream) readLine() ([]byte, error) {
	s.line = s.line[:0]
	for {
		part, err := s.in.ReadSlice('\n')
		if s.total += int64(len(part)); s.total > maxStream {
			return nil, &MalformedError{fmt.Sprintf("a reply of more than %d bytes", maxStream)}
		}
		if len(s.line)+len(part) > maxLine {
			return nil, &MalformedError{fmt.Sprintf("a line of more than %d bytes", maxLine)}
		}
		s.line = append(s.line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		s.torn = s.torn || err != nil && len(s.line) > 0
		return bytes.TrimRight(s.line, "\r\n"), err
	}
}
