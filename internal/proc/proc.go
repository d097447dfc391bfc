// Package proc runs child processes. It promises that a child's whole tree has
// ended when Run returns, that its output is bounded in memory and on disk, and
// that nothing of it survives the death of this program. It does not interpret
// what a child prints.
package proc

import (
	"context"
	"io"
	"time"

	"si/internal/secret"
)

// Command describes one child. Nothing is inherited: the environment is Env and
// nothing else, plus the runner's mark.
type Command struct {
	Path  string   // program, looked up in Env's PATH when it has no slash
	Args  []string // without the program's name
	Dir   string
	Env   []string  // KEY=value, complete
	Stdin io.Reader // nil: nothing. The runner copies it and closes the pipe; an io.Closer is closed when the run ends, so that a blocked Read returns.

	Stdout Output
	Stderr Output // the zero Output together with Merge sends it where Stdout goes
	Merge  bool   // stderr is interleaved into Stdout
	// Report is for what a command is to say in confidence: when it is not nil,
	// descriptor 3 of the command is one end of a socket, and what it writes there is
	// captured like its output. A pipe or a file could be opened again through /proc by
	// whoever runs as the same user; a socket is reached only by those to whom the
	// command gives the descriptor. Supervised commands only.
	Report *Output

	Wall  time.Duration // limit of the whole run, 0 for none
	Idle  time.Duration // limit without a byte of output, 0 for none
	Grace time.Duration // between TERM and KILL, default 4 s

	// Supervised children run under a small supervisor (this program, executed
	// again) that ends the whole tree also when this program is killed. Short
	// helpers such as git run unsupervised, in a session of their own.
	Supervised bool

	// Contain is honoured by sandbox.Runner. A Local refuses it, so that nothing
	// runs uncontained because a runner was put together wrongly.
	Contain *Containment

	// Shield starts the program with TERM, INT and HUP ignored: it is a container
	// that ends with what is in it, which gets the signals itself. Supervised
	// commands only.
	Shield bool
}

// Output says where a stream goes. Head and tail are kept in memory always.
type Output struct {
	File    string       // also written here when not empty; created or truncated
	FileMax int64        // bytes kept in the file, default 64 MiB; beyond it a note, then nothing
	HeadMax int          // bytes kept from the start, default 64 KiB
	TailMax int          // bytes kept from the end, default 64 KiB
	Line    func([]byte) // called with each line, without its newline, from one goroutine; the slice is the callee's; long lines are cut at LineMax. While it blocks, the child does.
	LineMax int          // default 1 MiB
	Hide    secret.Set   // taken out of the file, the head and the tail; Line gets what was printed
}

// Captured is what was kept of a stream.
type Captured struct {
	Head  []byte // the first HeadMax bytes; the whole stream when Total fits
	Tail  []byte // the last TailMax bytes, whether or not they overlap Head
	Total int64  // bytes that the child wrote
}

// Outcome says how a child ended.
type Outcome string

// The outcomes of a run.
const (
	Exited    Outcome = "exited"    // by itself, with Code
	Signaled  Outcome = "signaled"  // by a signal that we did not send
	TimedOut  Outcome = "timeout"   // the wall limit
	IdledOut  Outcome = "idle"      // the idle limit
	Cancelled Outcome = "cancelled" // the context
)

// Result is what a run gave.
type Result struct {
	Outcome Outcome
	Code    int    // exit code; 128 + signal when signaled
	Signal  string // name, when signaled
	Stdout  Captured
	Stderr  Captured
	Report  Captured
	Wall    time.Duration // until the command itself ended
	CPU     time.Duration // user and system, of the child and what it waited for
	MaxRSS  int64         // bytes
	Swept   int           // processes that outlived the child and were ended

	// Warnings say what did not go as asked although the child ran: an output
	// file that a full disk cut short, a registry that could not be written.
	Warnings []string
}

// Runner is what other packages need of this one. Run returns an error only
// when the child could not be started or watched; how it ended is in Result.
type Runner interface {
	Run(ctx context.Context, c Command) (Result, error)
}
