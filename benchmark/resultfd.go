package benchmark

import (
	"errors"
	"fmt"
	"io"
	"os"

	"si/internal/proc"
)

// maxResult bounds what is read from the result's descriptor, in bytes.
const maxResult = 1 << 20

// onDescriptor runs a command with descriptor 3 open for the result. The file has no
// name any more when the command begins: only who is given the descriptor can write
// the result, and a harness gives it to nobody. The code under test can still look
// for it in /proc where it may look at the harness.
const onDescriptor = `exec 3>"$0" && rm -f "$0" && exec /bin/sh -c "$1"`

// resultSink is where a run writes its result when settings ask for a descriptor.
type resultSink struct{ f *os.File }

// openResult makes the file in the run's TMPDIR; nil when none is asked for.
func openResult(job Job) (*resultSink, error) {
	if !job.Spec.ResultFD {
		return nil, nil
	}
	if err := makeFolders(job); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(job.Tmp, "result-*")
	if err != nil {
		return nil, fmt.Errorf("make the file of the result: %w", err)
	}
	return &resultSink{f}, nil
}

// args are the shell's for a command.
func (r *resultSink) args(command string) []string {
	if r == nil {
		return []string{"-c", command}
	}
	return []string{"-c", onDescriptor, r.f.Name(), command}
}

// read is what was written, as output that Read takes.
func (r *resultSink) read() (proc.Captured, error) {
	data, err := io.ReadAll(io.NewSectionReader(r.f, 0, maxResult))
	if err != nil {
		return proc.Captured{}, fmt.Errorf("read the result: %w", err)
	}
	info, err := r.f.Stat()
	if err != nil {
		return proc.Captured{}, fmt.Errorf("read the result: %w", err)
	}
	return proc.Captured{Head: data, Tail: data, Total: info.Size()}, nil
}

// close removes the file, should the command never have begun.
func (r *resultSink) close() error {
	if r == nil {
		return nil
	}
	err := os.Remove(r.f.Name())
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, r.f.Close())
}
