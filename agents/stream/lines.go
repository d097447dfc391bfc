package stream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is how many bytes a line of an agent program may have. The longest
// that matters holds an answer; tools' output of more than 15 MB in one line has
// been seen.
const MaxLine = 4 << 20

// keepLine is the buffer that is kept from one line to the next.
const keepLine = 64 << 10

// LineReader reads lines of any length in bounded memory. It is for one goroutine.
type LineReader struct {
	r       *bufio.Reader
	limit   int
	line    []byte
	dropped int
}

// Lines reads the lines of r, of each at most limit bytes.
func Lines(r io.Reader, limit int) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, 32<<10), limit: max(limit, 1)}
}

// Next returns the next line without its line end. It is valid until the next
// call. Of a line with more than the limit's bytes only the first ones are
// returned, and long is true; what follows them is passed over. A last line
// without a newline is a line. At the end the error is io.EOF; an error of the
// stream comes after the part of a line that was read before it.
func (l *LineReader) Next() (line []byte, long bool, err error) {
	if l.line = l.line[:0]; cap(l.line) > keepLine {
		l.line = nil
	}
	for {
		part, err := l.r.ReadSlice('\n')
		body := bytes.TrimSuffix(part, []byte{'\n'})
		fits := min(len(body), l.limit-len(l.line))
		l.line = append(l.line, body[:fits]...)
		if fits < len(body) {
			long = true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(part) == 0 && len(l.line) == 0:
			return nil, false, err
		}
		if long {
			l.dropped++
			return l.line, true, nil
		}
		return bytes.TrimSuffix(l.line, []byte{'\r'}), false, nil
	}
}

// Dropped is how many lines were longer than the limit.
func (l *LineReader) Dropped() int { return l.dropped }
