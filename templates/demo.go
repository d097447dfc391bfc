package templates

import (
	_ "embed" // for the demonstration repository
	"slices"

	"golang.org/x/tools/txtar"
)

//go:embed demo.txtar
var demo []byte

// Demo returns the files of the demonstration repository: a small key-value store
// in Go whose constants are badly chosen. The caller writes them to a folder and
// makes it a repository; nothing else in si knows what is in them.
func Demo() *txtar.Archive {
	return txtar.Parse(slices.Clone(demo)) // the archive shares the memory that it was parsed from
}

// DemoFacts are the answers to the questions of the set-up, for Demo's repository.
type DemoFacts struct {
	Objective     string
	Metric        string // key in the benchmark's JSON object
	Direction     string // as settings.json has it
	Target        string // as goal.md has it
	InScope       []string
	OutScope      []string
	Setup         string // run once in each new tree
	Benchmark     string
	Format        string
	Sealed        []string
	Guards        []string // commands that a change must pass
	MaxIterations int
}

// DemoSetup returns what to tell the set-up about Demo's repository.
func DemoSetup() DemoFacts {
	return DemoFacts{
		Objective: "Increase the operations per second of the store in shelf",
		Metric:    "primary",
		Direction: "higher_is_better",
		Target:    "as far as it goes",
		InScope:   []string{"store/"},
		OutScope:  []string{"device/", "cmd/", "store/store_test.go"},
		Setup:     "go build -o .bench/bench ./cmd/bench",
		Benchmark: "./.bench/bench",
		Format:    "json",
		// go.mod too: another Go version there is another compiler.
		Sealed:        []string{"device/", "cmd/", "store/store_test.go", "go.mod", ".gitignore"},
		Guards:        []string{"go test -vet=off ./store"},
		MaxIterations: 5,
	}
}
