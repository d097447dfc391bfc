package slurm

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"si/internal/proc"
)

// exact is a text that JSON must not mend: arguments, paths and environment
// variables are bytes, and need not be UTF-8.
type exact string

// MarshalText writes the bytes in base64.
func (e exact) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(e)), nil
}

// UnmarshalText reads what MarshalText wrote.
func (e *exact) UnmarshalText(b []byte) error {
	raw, err := base64.StdEncoding.DecodeString(string(b))
	*e = exact(raw)
	return err
}

// order asks a job for one run.
type order struct {
	Seq     int           `json:"seq"`   // from 1
	Nonce   string        `json:"nonce"` // to be repeated in the answer
	Last    bool          `json:"last"`  // the job ends after it
	Lease   time.Duration `json:"lease"` // else it waits so long for the next order
	Command wire          `json:"command"`
}

// wire is a proc.Command as it travels.
type wire struct {
	Path       exact         `json:"path"`
	Args       []exact       `json:"args"`
	Dir        exact         `json:"dir"`
	Env        []exact       `json:"env"`
	Stdout     wireOutput    `json:"stdout"`
	Stderr     wireOutput    `json:"stderr"`
	Report     *wireOutput   `json:"report,omitempty"`
	Merge      bool          `json:"merge"`
	Wall       time.Duration `json:"wall"`
	Idle       time.Duration `json:"idle"`
	Grace      time.Duration `json:"grace"`
	Supervised bool          `json:"supervised"`
	Shield     bool          `json:"shield"`

	Contain *proc.Containment `json:"contain"`
}

type wireOutput struct {
	File    exact `json:"file"`
	FileMax int64 `json:"file_max"`
	HeadMax int   `json:"head_max"`
	TailMax int   `json:"tail_max"`
}

// answer is what the job says about one run.
type answer struct {
	Seq     int          `json:"seq"`
	Nonce   string       `json:"nonce"`
	Node    string       `json:"node"`
	Load    float64      `json:"load"` // average of one minute before the run, -1 when unknown
	Started time.Time    `json:"started"`
	Fault   string       `json:"fault"` // why the command could not be started or watched
	Ran     *proc.Result `json:"ran"`
}

// progress is what the job says while it lives.
type progress struct {
	Attempt int    `json:"attempt"` // of the submission that wrote this
	Seq     int    `json:"seq"`     // the run that was begun last
	Node    string `json:"node"`
}

func newWire(c proc.Command) (wire, error) {
	if c.Stdin != nil || c.Stdout.Line != nil || c.Stderr.Line != nil || c.Report != nil && c.Report.Line != nil {
		return wire{}, errors.New("a command with standard input, or whose lines are read live, cannot run as a job")
	}
	if err := travels(c.Contain); err != nil {
		return wire{}, err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return wire{}, fmt.Errorf("find folder %q: %w", c.Dir, err)
	}
	w := wire{
		Path: exact(c.Path), Args: exactly(c.Args), Dir: exact(dir), Env: exactly(c.Env),
		Merge: c.Merge, Wall: c.Wall, Idle: c.Idle, Grace: c.Grace, Supervised: c.Supervised, Shield: c.Shield, Contain: c.Contain,
	}
	if c.Report != nil {
		w.Report = &wireOutput{}
	}
	for _, o := range []struct {
		from *proc.Output
		to   *wireOutput
	}{{&c.Stdout, &w.Stdout}, {&c.Stderr, &w.Stderr}, {c.Report, w.Report}} {
		if o.from == nil {
			continue
		}
		if *o.to, err = newWireOutput(*o.from); err != nil {
			return wire{}, err
		}
	}
	return w, nil
}

func newWireOutput(o proc.Output) (wireOutput, error) {
	if !o.Hide.Empty() {
		return wireOutput{}, errors.New("a command whose output holds secrets cannot run as a job: they would travel to the node")
	}
	file := o.File
	if file != "" {
		var err error
		if file, err = filepath.Abs(file); err != nil {
			return wireOutput{}, fmt.Errorf("find output file %q: %w", o.File, err)
		}
	}
	return wireOutput{File: exact(file), FileMax: o.FileMax, HeadMax: o.HeadMax, TailMax: o.TailMax}, nil
}

func (o wireOutput) output() proc.Output {
	return proc.Output{File: string(o.File), FileMax: o.FileMax, HeadMax: o.HeadMax, TailMax: o.TailMax}
}

func (w wire) command() proc.Command {
	var report *proc.Output
	if w.Report != nil {
		o := w.Report.output()
		report = &o
	}
	return proc.Command{
		Path: string(w.Path), Args: texts(w.Args), Dir: string(w.Dir), Env: texts(w.Env),
		Stdout: w.Stdout.output(), Stderr: w.Stderr.output(), Report: report, Merge: w.Merge,
		Wall: w.Wall, Idle: w.Idle, Grace: w.Grace, Supervised: w.Supervised, Shield: w.Shield, Contain: w.Contain,
	}
}

// travels checks that JSON does not mend a path of the containment, which would
// then hold another one.
func travels(c *proc.Containment) error {
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write the containment down: %w", err)
	}
	var back *proc.Containment
	if err := json.Unmarshal(data, &back); err != nil {
		return fmt.Errorf("write the containment down: %w", err)
	}
	if !reflect.DeepEqual(c, back) {
		return errors.New("write the containment down: a path in it is not valid UTF-8; rename that file or folder")
	}
	return nil
}

// digest tells two commands apart that were given the same key.
func (w wire) digest() (string, error) {
	data, err := json.Marshal(w)
	if err != nil {
		return "", fmt.Errorf("write the command down: %w", err)
	}
	return digestOf(string(data)), nil
}

// answerMax bounds what is read of an answer: its heads and tails in base64,
// and the rest.
func (w wire) answerMax() int64 {
	const defaultKeep = 64 << 10
	n := int64(0)
	keeps := []int{w.Stdout.HeadMax, w.Stdout.TailMax, w.Stderr.HeadMax, w.Stderr.TailMax}
	if w.Report != nil {
		keeps = append(keeps, w.Report.HeadMax, w.Report.TailMax)
	}
	for _, keep := range keeps {
		if keep == 0 {
			keep = defaultKeep
		}
		n += int64(max(keep, 0))
	}
	return 1<<20 + 2*n
}

// variable is the value that the command sees.
func (w wire) variable(name string) string {
	found := ""
	for _, pair := range w.Env {
		if value, ok := strings.CutPrefix(string(pair), name+"="); ok {
			found = value
		}
	}
	return found
}

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func exactly(in []string) []exact {
	out := make([]exact, len(in))
	for i, s := range in {
		out[i] = exact(s)
	}
	return out
}

func texts(in []exact) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}
