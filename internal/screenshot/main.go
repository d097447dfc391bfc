// Command screenshot turns what a terminal shows into a picture, so that the
// screen can be looked at where there is none. It reads the text of a screen with
// its colours, such as `tmux capture-pane -e -p` prints, and writes a PNG:
//
//	tmux capture-pane -e -p | go run ./internal/screenshot -o screen.png
//
// It knows the characters that the screen is made of. What its font has not is
// drawn as an empty box.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

// mostInput bounds what is read, in bytes.
const mostInput = 8 << 20

func main() {
	if err := run(os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "screenshot:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader) error {
	flags := flag.NewFlagSet("screenshot", flag.ContinueOnError)
	out := flags.String("o", "screen.png", "the file to write")
	light := flags.Bool("light", false, "a light background")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(in, mostInput))
	if err != nil {
		return fmt.Errorf("read the screen: %w", err)
	}
	picture, err := Draw(string(text), *light)
	if err != nil {
		return err
	}
	if err := os.WriteFile(*out, picture, 0o644); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}
