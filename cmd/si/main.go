// Command si improves a git repository against a benchmark, by itself.
package main

import (
	"context"
	"os"
	_ "time/tzdata" // usage limits name zones, and not every machine knows them

	"si/benchmark/slurm"
	"si/cmd"
	"si/internal/proc"
	"si/internal/sandbox"
)

func main() {
	if code, was := proc.Supervise(os.Args); was {
		os.Exit(code)
	}
	if code, was := sandbox.Exec(os.Args); was {
		os.Exit(code)
	}
	if code, was := slurm.Serve(os.Args, cmd.Contained(os.Getenv("PATH"))); was {
		os.Exit(code)
	}
	os.Exit(cmd.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
