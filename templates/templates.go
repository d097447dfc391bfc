// Package templates holds the default texts that si writes for people to edit.
// It knows nothing of what they are for: who writes a text renders and parses it.
package templates

import _ "embed" // for the texts

// The texts are compiled in, so that the program is one file.
var (
	//go:embed goal.md.tmpl
	goal string
	//go:embed harness.md
	harness string
	//go:embed idea.md
	idea string
)

// Goal is the text/template of goal.md.
func Goal() string { return goal }

// Harness is the default harness.md: the three rules and empty lists.
func Harness() string { return harness }

// Idea is the default idea.md: its instructions as a comment, and no idea.
func Idea() string { return idea }
