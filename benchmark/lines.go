package benchmark

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
)

// maxLine is the longest line that is read; none that holds a metric comes near.
const maxLine = 1 << 20

// lineReader takes the lines of an output in order and then says what it read.
type lineReader interface {
	line(text string)
	finish() (Reading, *Fault)
}

// readLines feeds the result files, or else standard output, to lr.
func readLines(spec Spec, in Input, lr lineReader) (Reading, *Fault) {
	parts, closeParts, fault := sources(spec, in)
	if fault != nil {
		return Reading{}, fault
	}
	defer closeParts()
	odd := map[string]bool{OddGap: len(parts) > 1 && len(spec.ResultFiles) == 0}
	for i, part := range parts {
		broken := len(spec.ResultFiles) == 0
		long, err := eachLine(part, broken && i > 0, broken && i < len(parts)-1, lr.line)
		if err != nil {
			return Reading{}, parseFault("", "the output could not be read: %v", err)
		}
		odd[OddLongLine] = odd[OddLongLine] || long
	}
	r, fault := lr.finish()
	for text, seen := range odd {
		if seen {
			r.Odd = append(r.Odd, text)
		}
	}
	return r, fault
}

// sources are the pieces of the output, with a gap between each two when it is
// standard output and too long to have been kept whole.
func sources(spec Spec, in Input) ([]io.Reader, func(), *Fault) {
	if len(spec.ResultFiles) > 0 {
		files, fault := collectResults(in.Dir, spec.ResultFiles, in.Since)
		if fault != nil {
			return nil, nil, fault
		}
		parts := make([]io.Reader, len(files))
		for i, f := range files {
			parts[i] = bytes.NewReader(f.data)
		}
		return parts, func() {}, nil
	}
	return stdoutParts(in)
}

// stdoutParts puts standard output together from what was kept: all of it in
// memory when it is short, else the log file's start and the tail in memory.
func stdoutParts(in Input) ([]io.Reader, func(), *Fault) {
	out := in.Stdout
	if out.Total <= int64(len(out.Head)) {
		return []io.Reader{bytes.NewReader(out.Head[:out.Total])}, func() {}, nil
	}
	start, from, closeLog := io.Reader(bytes.NewReader(out.Head)), int64(len(out.Head)), func() {}
	if in.Log != "" && in.LogMax > from {
		f, err := os.Open(in.Log)
		if err != nil {
			return nil, nil, parseFault("", "the log could not be read: %v", err)
		}
		from = min(out.Total, in.LogMax)
		start, closeLog = io.LimitReader(f, from), func() { _ = f.Close() }
	}
	tailAt := out.Total - int64(len(out.Tail))
	switch {
	case from >= out.Total:
		return []io.Reader{start}, closeLog, nil
	case from >= tailAt: // the tail goes on where the start ends, or overlaps it
		return []io.Reader{io.MultiReader(start, bytes.NewReader(out.Tail[from-tailAt:]))}, closeLog, nil
	}
	return []io.Reader{start, bytes.NewReader(out.Tail)}, closeLog, nil
}

// eachLine calls fn with every line of r without its end. Lines over maxLine
// are left out and reported; so are, when the flags say so, the first and the
// last one, which a gap has cut. Of a line that rewrites itself with carriage
// returns, as progress bars do, fn gets what stands there in the end.
func eachLine(r io.Reader, dropFirst, dropLast bool, fn func(string)) (long bool, err error) {
	br := bufio.NewReaderSize(r, 64<<10)
	for first := true; ; first = false {
		text, cut, err := boundedLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return long, err
		}
		end := err != nil
		skip := (first && dropFirst) || (end && dropLast)
		switch {
		case cut:
			long = true
		case !skip && (text != "" || !end):
			fn(lastRewrite(text))
		}
		if end {
			return long, nil
		}
	}
}

func lastRewrite(text string) string {
	text = strings.TrimRight(text, "\r")
	return text[strings.LastIndexByte(text, '\r')+1:]
}

// boundedLine reads to the next newline and keeps at most maxLine bytes.
func boundedLine(br *bufio.Reader) (text string, cut bool, err error) {
	var b []byte
	for {
		piece, err := br.ReadSlice('\n')
		if len(b)+len(piece) <= maxLine {
			b = append(b, piece...)
		} else {
			cut = true
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return strings.TrimSuffix(string(b), "\n"), cut, err
	}
}
