// Command configdoc writes docs/configuration.md from the types that the
// settings are read into: their comments are the reference.
package main

import (
	"fmt"
	"os"
)

func main() {
	text, err := Generate("track/settings.go")
	if err == nil {
		_, err = os.Stdout.WriteString(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "configdoc:", err)
		os.Exit(1)
	}
}
