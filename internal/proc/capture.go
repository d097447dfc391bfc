package proc

import (
	"bytes"

	"si/internal/secret"
)

// Defaults of an Output.
const (
	defaultKeep    = 64 << 10
	defaultLineMax = 1 << 20
	defaultFileMax = 64 << 20
)

// capture keeps what an Output asks for of a stream, in bounded memory. One
// goroutine writes; captured is called when it has ended.
type capture struct {
	head, tail []byte
	headMax    int
	tailMax    int
	total      int64
	lines      *lineCutter
	file       *cappedFile
	hide       *secret.Stream // nil: nothing is hidden
}

func newCapture(o Output) (*capture, error) {
	c := &capture{headMax: orDefault(o.HeadMax, defaultKeep), tailMax: orDefault(o.TailMax, defaultKeep)}
	if o.Line != nil {
		c.lines = &lineCutter{call: o.Line, max: orDefault(o.LineMax, defaultLineMax)}
	}
	if !o.Hide.Empty() {
		c.hide = o.Hide.Stream()
	}
	if o.File == "" {
		return c, nil
	}
	maxBytes := o.FileMax
	if maxBytes <= 0 {
		maxBytes = defaultFileMax
	}
	var err error
	c.file, err = createCapped(o.File, maxBytes)
	return c, err
}

// orDefault reads a limit: 0 is the default, less than 0 is nothing.
func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return max(n, 0)
}

// write keeps p, and hands its lines on last: a callback that panics must not
// cost the file its bytes.
func (c *capture) write(p []byte) {
	c.total += int64(len(p))
	if c.hide != nil {
		c.keep([]byte(c.hide.Next(string(p))))
	} else {
		c.keep(p)
	}
	if c.lines != nil {
		c.lines.write(p)
	}
}

// end is the end of the stream.
func (c *capture) end() {
	if c.hide != nil {
		c.keep([]byte(c.hide.Rest()))
	}
}

// keep takes what may be kept.
func (c *capture) keep(p []byte) {
	if room := c.headMax - len(c.head); room > 0 {
		c.head = append(c.head, p[:min(room, len(p))]...)
	}
	c.keepTail(p)
	if c.file != nil {
		c.file.write(p)
	}
}

// keepTail lets the tail grow to twice its size before it moves it down, so that
// each byte is copied about twice.
func (c *capture) keepTail(p []byte) {
	if c.tailMax == 0 {
		return
	}
	p = p[max(0, len(p)-c.tailMax):]
	c.tail = append(c.tail, p...)
	if len(c.tail) >= 2*c.tailMax {
		n := copy(c.tail, c.tail[len(c.tail)-c.tailMax:])
		c.tail = c.tail[:n]
	}
}

func (c *capture) captured() Captured {
	return Captured{Head: c.head, Tail: c.tail[max(0, len(c.tail)-c.tailMax):], Total: c.total}
}

// lineCutter calls back with each line of a stream. A line beyond max is handed
// on cut, and its rest is dropped up to the next newline.
type lineCutter struct {
	call func([]byte)
	max  int
	line []byte
	skip bool // the rest of a line that was handed on
}

func (l *lineCutter) write(p []byte) {
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		p = rest
		l.add(part)
		if ended {
			l.end()
		}
	}
}

func (l *lineCutter) add(part []byte) {
	if l.skip {
		return
	}
	room := l.max - len(l.line)
	l.line = append(l.line, part[:min(room, len(part))]...)
	if len(part) > room {
		l.emit()
		l.skip = true
	}
}

// end is the end of a line.
func (l *lineCutter) end() {
	if !l.skip {
		l.emit()
	}
	l.skip = false
}

// last hands on a last line that had no newline.
func (l *lineCutter) last() {
	if len(l.line) > 0 && !l.skip {
		l.emit()
	}
}

// emit gives the line away: the callee may keep it.
func (l *lineCutter) emit() {
	line := l.line
	if line == nil {
		line = []byte{}
	}
	l.line = nil
	l.call(line)
}
