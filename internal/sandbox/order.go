package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"si/internal/proc"
)

const (
	execArg = "__si_contain"
	// hiddenPrefix is put before the names of the command's variables while
	// programs outside of the sandbox run: LD_PRELOAD and its like would have
	// those execute what an earlier command may have written.
	hiddenPrefix = "SI_CONTAINED_"
)

// order tells this program, executed again, what to do before it becomes the
// command or waits for it. It travels as an argument: it has no secrets, and the
// environment is the command's.
type order struct {
	First   bool        `json:"first,omitempty"` // be the first process of a process namespace
	Path    pathBytes   `json:"path,omitempty"`  // of the command
	Started pathBytes   `json:"started,omitempty"`
	Report  bool        `json:"report,omitempty"` // the command has a descriptor 3
	Limits  proc.Limits `json:"limits,omitzero"`
	Land    *land       `json:"land,omitempty"`
	Trial   *trial      `json:"trial,omitempty"` // try what is enforced instead of a command
}

// land is what Landlock has to allow; links are resolved.
type land struct {
	Writable []pathBytes `json:"writable,omitempty"`
	Visible  []pathBytes `json:"visible,omitempty"` // inside hidden folders
	Hidden   []pathBytes `json:"hidden,omitempty"`
	Devices  []pathBytes `json:"devices,omitempty"`
	Network  bool        `json:"network,omitempty"`
}

// pathBytes is a path that need not be text; JSON has it as base64.
type pathBytes []byte

func (p pathBytes) String() string { return string(p) }

func toBytes(paths []string) []pathBytes {
	out := make([]pathBytes, len(paths))
	for i, p := range paths {
		out[i] = pathBytes(p)
	}
	return out
}

// args are the arguments of this program for o and a command's argv.
func (o order) args(argv []string) ([]string, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("write the sandbox's order: %w", err)
	}
	return append([]string{execArg, string(data)}, argv...), nil
}

func readOrder(args []string) (o order, argv []string, err error) {
	if len(args) < 2 {
		return order{}, nil, errors.New("this is for the program's own use: too few arguments")
	}
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return order{}, nil, fmt.Errorf("this is for the program's own use: %w", err)
	}
	return o, args[1:], nil
}

// disguise renames every variable, so that none means anything outside.
func disguise(env []string) []string {
	out := make([]string, len(env))
	for i, e := range env {
		out[i] = hiddenPrefix + e
	}
	return out
}

// reveal undoes disguise. The runner's mark is the only other variable that
// passes; whatever else there is was not meant for the command.
func reveal(env []string) []string {
	var out []string
	for _, e := range env {
		if real, was := strings.CutPrefix(e, hiddenPrefix); was && !strings.HasPrefix(real, proc.MarkVariable+"=") {
			out = append(out, real)
		}
	}
	return append(out, proc.MarkVariable+"="+os.Getenv(proc.MarkVariable))
}
