package proc

import "path/filepath"

// Containment says what a command may reach. It is plain data: package sandbox
// makes it true as far as the machine can, and says what it could not. All
// paths are absolute. Of two paths the deeper one decides, so that a folder may
// be hidden and one inside it writable; of one path that is named twice the
// stricter use does.
type Containment struct {
	Writable []string // files and folders that exist; all else is read-only. A file that is named here cannot be replaced by rename.
	ReadOnly []string // read-only inside a writable folder, or visible inside a hidden one; skipped when not there
	Hidden   []string // files and folders whose content cannot be read; skipped when not there
	Private  []string // folders that look empty and may be written to; what was written goes away with the command
	Bind     []Bind
	Devices  []string // files and folders under /dev beyond the harmless ones

	Network bool // the machine's network; without it there is not even its loopback
	Nested  bool // the command may make user namespaces, for a sandbox of its own
	Limits  Limits
}

// Bind shows a folder at the path of another one.
type Bind struct {
	From, To string
	ReadOnly bool
}

// Limits bound what one command can use; 0 is no limit.
type Limits struct {
	Processes   int   // processes and threads of the whole tree
	MemoryBytes int64 // private memory of each process
	FileBytes   int64 // size of each file that is written
}

// Find gives the absolute path of the program that c would run.
func (c Command) Find() (string, error) {
	dir, err := folder(c.Dir)
	if err != nil {
		return "", err
	}
	path, err := lookPath(c.Path, dir, c.Env)
	if err != nil {
		return "", err
	}
	return filepath.Clean(path), nil
}
