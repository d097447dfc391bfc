package slurm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"si/internal/clean"
	"si/internal/durable"
)

// folder is where a launcher and its job meet, on the shared file system.
//
//	inbox     the next order; the job empties it when it has begun the run
//	progress  the job: the run that it has begun, and its node
//	result.N  the job: the answer to order N, by rename
//	claim.N   made by the job of submission N, so that it works once
//	script.N  what the scheduler is given
//	job.log   what the job prints itself
//
// Files that the other side waits for exist, empty, before they are written:
// over NFS the content of a file that is opened anew is up to date, whereas a
// name that was missing a moment ago may stay so for a minute.
type folder string

func (f folder) path(name string) string   { return filepath.Join(string(f), name) }
func (f folder) inbox() string             { return f.path("inbox") }
func (f folder) progress() string          { return f.path("progress") }
func (f folder) result(seq int) string     { return f.path("result." + strconv.Itoa(seq)) }
func (f folder) claim(attempt int) string  { return f.path("claim." + strconv.Itoa(attempt)) }
func (f folder) script(attempt int) string { return f.path("script." + strconv.Itoa(attempt)) }
func (f folder) log() string               { return f.path("job.log") }

// messageMax bounds an order. Its largest part is the environment, which the
// system bounds too.
const messageMax = 64 << 20

// write replaces the file of a message.
func (f folder) write(store *durable.Store, path string, message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return store.Replace(path, append(data, '\n'), 0o600)
}

// touch makes the file, empty, if it is not there.
func (f folder) touch(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("make a file of the job: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("make a file of the job: %w", err)
	}
	return nil
}

// read gives the content of a message's file, nil when it is missing or empty.
// The command of the run can write to this folder, if it looks for it: a link, a
// device or a huge file in a message's place is an error.
func (f folder) read(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESTALE) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a file of the job: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read a file of the job: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("read %s: it is no regular file of at most %d bytes", path, limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit))
	if err != nil {
		return nil, fmt.Errorf("read a file of the job: %w", err)
	}
	return bytes.TrimSpace(data), nil
}

// load reads a message, false when there is none.
func (f folder) load(path string, limit int64, message any) (bool, error) {
	data, err := f.read(path, limit)
	if err != nil || len(data) == 0 {
		return false, err
	}
	if err := json.Unmarshal(data, message); err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return true, nil
}

// logEnd is the end of the job's own log, on one line. The run's output is not
// in it, but the command may have written to it all the same.
func (f folder) logEnd() string {
	file, err := os.OpenFile(f.log(), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	const most = 2 << 10
	data := make([]byte, min(info.Size(), most))
	n, err := file.ReadAt(data, max(0, info.Size()-most))
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	return clean.Line(string(data[:n]), 400)
}
