package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// Promise is one thing that a sandbox may enforce.
type Promise string

// The promises.
const (
	WriteConfined  Promise = "writes only where allowed"
	ReadOnlyInside Promise = "read-only files inside writable folders"
	PathsHidden    Promise = "hidden files unreadable"
	NetworkOff     Promise = "no network"
	OwnProcesses   Promise = "no reach to other processes"
	SamePath       Promise = "both arms at one path"
	NoNesting      Promise = "no user namespaces inside"
	ProcessLimit   Promise = "limit of processes"
	MemoryLimit    Promise = "limit of memory"
	FileLimit      Promise = "limit of file size"
)

// Promises lists all of them in the order in which reports show them.
func Promises() []Promise {
	return []Promise{
		WriteConfined, ReadOnlyInside, PathsHidden, NetworkOff, OwnProcesses,
		SamePath, NoNesting, ProcessLimit, MemoryLimit, FileLimit,
	}
}

// Finding is what was found out about a promise.
type Finding struct {
	Promise  Promise `json:"promise"`
	Enforced bool    `json:"enforced"`
	Why      string  `json:"why,omitempty"` // why not, or a restriction of what is enforced
}

// Report is what a machine can enforce. It has no secrets and is fit for a terminal.
type Report struct {
	Kind     Kind      `json:"kind"`
	Version  string    `json:"version,omitempty"`  // of what enforces it
	Findings []Finding `json:"findings"`           // one for each promise, in the order of Promises
	Failures []string  `json:"failures,omitempty"` // why a better kind could not be used
	Advice   []string  `json:"advice,omitempty"`   // what the user can do about that
}

// Enforces says whether p holds for every command that is run by this sandbox.
func (r Report) Enforces(p Promise) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Promise == p && f.Enforced })
}

// Missing lists the promises that are not enforced.
func (r Report) Missing() []Promise {
	var out []Promise
	for _, f := range r.Findings {
		if !f.Enforced {
			out = append(out, f.Promise)
		}
	}
	return out
}

// Line says in one line what contains commands and what is not enforced.
func (r Report) Line() string {
	missing := r.Missing()
	name := strings.TrimSpace(string(r.Kind) + " " + r.Version)
	switch {
	case r.Kind == None:
		return "sandbox: none, seals and checks alone protect the measurement"
	case len(missing) == 0:
		return "sandbox: " + name
	}
	words := make([]string, len(missing))
	for i, p := range missing {
		words[i] = string(p)
	}
	return fmt.Sprintf("sandbox: %s; not enforced: %s", name, strings.Join(words, ", "))
}

// String is the whole report, a line for each finding.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString(r.Line() + "\n")
	for _, f := range r.Findings {
		word := "no "
		if f.Enforced {
			word = "yes"
		}
		fmt.Fprintf(&b, "  %s  %s", word, f.Promise)
		if f.Why != "" {
			b.WriteString(" (" + f.Why + ")")
		}
		b.WriteByte('\n')
	}
	for _, f := range r.Failures {
		b.WriteString("  tried: " + f + "\n")
	}
	for _, a := range r.Advice {
		b.WriteString("  advice: " + a + "\n")
	}
	return b.String()
}

// findings fills in what why does not mention as enforced without restriction.
func findings(not map[Promise]string, but map[Promise]string) []Finding {
	all := make([]Finding, 0, len(Promises()))
	for _, p := range Promises() {
		reason, missing := not[p]
		if !missing {
			reason = but[p]
		}
		all = append(all, Finding{Promise: p, Enforced: !missing, Why: reason})
	}
	return all
}
