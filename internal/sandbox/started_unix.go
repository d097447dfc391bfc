//go:build unix

package sandbox

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// startPipe is a named pipe over which the program inside tells that the sandbox
// came about, before it starts the command: only the first line counts, so the
// command, which can write too, cannot take it back.
type startPipe struct {
	path string
	dir  string
	file *os.File
}

// news is what came over the pipe.
type news struct {
	started bool
	why     string // the command cannot be started
	missing bool   // because it is not there
	signal  int    // that ended the command; believed only with the exit code for it
	left    int    // processes that the command left; also 1 when it wrote to the pipe itself
}

func newStartPipe(parent string) (*startPipe, error) {
	dir, err := scratch(parent)
	if err != nil {
		return nil, err
	}
	p := &startPipe{dir: dir, path: filepath.Join(dir, "started")}
	if err := syscall.Mkfifo(p.path, 0o600); err != nil {
		p.remove()
		return nil, fmt.Errorf("make a pipe for the sandbox in %s: %w", dir, err)
	}
	// Open for both directions: neither side waits for the other.
	if p.file, err = os.OpenFile(p.path, os.O_RDWR|syscall.O_NONBLOCK, 0); err != nil {
		p.remove()
		return nil, fmt.Errorf("open a pipe for the sandbox: %w", err)
	}
	return p, nil
}

// remove leaves nothing. A folder that cannot be removed is an empty one in the
// system's folder for such.
func (p *startPipe) remove() {
	if p == nil {
		return
	}
	if p.file != nil {
		_ = p.file.Close()
	}
	_ = os.Remove(p.path)
	_ = os.Remove(p.dir)
}

// read gives what has been written by now, at most one pipe full.
func (p *startPipe) read() news {
	buf := make([]byte, 64<<10)
	n := 0
	if raw, err := p.file.SyscallConn(); err == nil {
		_ = raw.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), buf)
			return true // also with nothing to read
		})
	}
	return parseNews(buf[:max(n, 0)])
}

func parseNews(data []byte) news {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	word, why, _ := strings.Cut(string(first), " ")
	switch word {
	case wordStarted:
		out := news{started: true}
		for line := range strings.SplitSeq(string(rest), "\n") {
			word, number, _ := strings.Cut(line, " ")
			switch n, _ := strconv.Atoi(number); {
			case word == wordSignal:
				out.signal = n
			case word == wordLeft:
				out.left = max(out.left, n)
			case line != "": // who fills the pipe keeps others from telling
				out.left = max(out.left, 1)
			}
		}
		return out
	case wordMissing:
		return news{why: why, missing: true}
	case wordFailed:
		return news{why: why}
	}
	return news{}
}

// Error makes news of a failure an error.
func (n news) Error() string { return n.why }

// Is lets a caller tell that a program is missing, as from other runners.
func (n news) Is(target error) bool { return n.missing && target == fs.ErrNotExist }

const (
	wordStarted = "started"
	wordMissing = "missing"
	wordFailed  = "failed"
	wordSignal  = "signal"
	wordLeft    = "left"
)

// sender is the inner end of a startPipe. It is a plain descriptor: an os.File would
// wait while the pipe is full, which is the command's doing.
type sender int

func openSender(path string) (sender, error) {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open the pipe of the sandbox: %w", &os.PathError{Op: "open", Path: path, Err: err})
	}
	return sender(fd), nil
}

// tell writes one line, without waiting.
func (s sender) tell(line string) error {
	_, err := unix.Write(int(s), []byte(strings.ReplaceAll(line, "\n", " ")+"\n"))
	return err
}

func signalName(n int) string { return unix.SignalName(syscall.Signal(n)) }
