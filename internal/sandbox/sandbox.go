// Package sandbox contains commands: what they may write to, read and reach is
// what their proc.Containment says, as far as this machine can enforce it. New
// finds out by trying what it can, and Report says which promises hold and which
// do not. It is a second line: a benchmark must not depend on it alone (code in
// the command's own writable folders is the command's to change).
//
// On Linux bubblewrap is used where it works, else Landlock. On other systems
// nothing is enforced, and the report says that.
package sandbox

import (
	"context"

	"si/internal/proc"
)

// Profile is what a command may reach.
type Profile = proc.Containment

// Kind is how commands are contained.
type Kind string

// The kinds, from the one that enforces most.
const (
	Bubblewrap Kind = "bubblewrap"
	Landlock   Kind = "landlock"
	None       Kind = "none"
)

// Options configure a Sandbox.
type Options struct {
	// Run starts the probe's commands. It need not supervise.
	Run proc.Runner
	// Self is the path of an executable whose main calls Exec before anything
	// else: this program. Without it nothing can be contained.
	Self string
	// Path is the list of folders in which bwrap is looked for: the user's PATH.
	Path string
	// Scratch is the folder for small files of a run, the system's when empty.
	Scratch string
	// Only leaves out the kinds that it does not name; empty leaves out none.
	Only []Kind
}

// Sandbox contains commands in the best way that was found to work. It is safe
// for concurrent use.
type Sandbox struct {
	o      Options
	report Report
	bwrap  string
	// keepUserns: this bwrap is too old to know --disable-userns.
	keepUserns bool
	landlock   int // version of the kernel's interface, 0 for none
}

// New tries what this machine can enforce, in about 40 ms, and never fails: what
// cannot be enforced is in the report. A context that ends during the trial
// gives a sandbox that enforces less.
func New(ctx context.Context, o Options) *Sandbox {
	s := &Sandbox{o: o}
	s.report = s.probe(ctx)
	return s
}

// Probe reports what New would find.
func Probe(ctx context.Context, o Options) Report { return New(ctx, o).Report() }

// Report says what is enforced and what is not.
func (s *Sandbox) Report() Report { return s.report }
