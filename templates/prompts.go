package templates

import (
	"embed"
	"io/fs"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

// Prompts returns the templates of the prompts, prompts/*.tmpl in the syntax
// of text/template; what they may use is documented in package agents.
func Prompts() fs.FS { return promptFiles }
