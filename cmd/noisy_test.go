package cmd_test

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// runNoisy is a benchmark whose truth is known. The true score is that of base,
// better by as many per cent as the files gain_*.txt say together; the noise is what
// noise.txt says, a setting a line:
//
//	base 100       true score without any gain
//	sigma 0.01     noise of one run, relative
//	model NAME     gaussian (default), heavy (Student's t, 2 degrees), bursts, steps (of 1/200)
//	drift 0.0005   each run is worse than the last by as much, relative
//	outlier 0.05   share of runs that are worse by half
//	fail 0.02      share of runs that end with exit code 1
//	exact 9        the first runs of a tree in a HOME have no noise
//	kill 9         that run of a tree in a HOME kills si, once, with no chance to clean up
//
// The noise is a function of seed, of HOME's name and of the number of the run of the
// tree there: runs in the same order give the same scores. The count is kept beside HOME,
// which is put back before each run; so it must be no mount.
func runNoisy() int {
	set := noiseSettings()
	home := os.Getenv("HOME")
	n, err := countRun(filepath.Join(home, "..", "runs_"+filepath.Base(home)+"_"+treeName()))
	if err != nil {
		fmt.Fprintln(os.Stderr, "noisy:", err)
		return 3
	}
	if n == int(set.number("kill", -1)) && os.Mkdir(filepath.Join(home, "..", "..", "..", "killed"), 0o700) == nil {
		killSi()
	}
	place := fnv.New64a()
	_, _ = place.Write([]byte(filepath.Base(home)))
	rng := rand.New(rand.NewPCG(uint64(set.number("seed", 1))^place.Sum64(), uint64(n)))
	failed := rng.Float64() < set.number("fail", 0)
	noise := 0.0
	if n > int(set.number("exact", 0)) {
		noise = set.noise(rng) - set.number("drift", 0)*float64(n)
		if rng.Float64() < set.number("outlier", 0) {
			noise -= 0.5
		}
	}
	if failed {
		fmt.Fprintln(os.Stderr, "noisy: told to fail")
		return 1
	}
	gain, err := gains()
	if err != nil {
		fmt.Fprintln(os.Stderr, "noisy:", err)
		return 3
	}
	score := set.number("base", 100) * (1 + gain/100) * math.Exp(noise)
	if set["model"] == "steps" {
		score = math.Round(score*2) / 2
	}
	fmt.Printf("{\"primary\": %.17g}\n", score)
	return 0
}

type noiseFile map[string]string

func noiseSettings() noiseFile {
	set := noiseFile{}
	f, err := os.Open("noise.txt")
	if err != nil {
		return set
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), " "); ok {
			set[key] = value
		}
	}
	return set
}

func (s noiseFile) number(key string, otherwise float64) float64 {
	v, err := strconv.ParseFloat(s[key], 64)
	if err != nil {
		return otherwise
	}
	return v
}

func (s noiseFile) noise(rng *rand.Rand) float64 {
	z := rng.NormFloat64()
	switch s["model"] {
	case "heavy":
		a, b := rng.NormFloat64(), rng.NormFloat64()
		z /= math.Sqrt((a*a + b*b) / 2)
	case "bursts":
		if rng.Float64() < 0.1 {
			z -= 5
		}
	}
	return s.number("sigma", 0) * z
}

// gains sums the files gain_*.txt of the tree.
func gains() (float64, error) {
	files, err := filepath.Glob("gain_*.txt")
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return 0, err
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

// treeName tells trees apart by the files that plans change.
func treeName() string {
	sum := fnv.New64a()
	for _, pattern := range []string{"gain_*.txt", "notes.txt"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			data, _ := os.ReadFile(f)
			_, _ = fmt.Fprintf(sum, "%s %q ", f, data) // a hash takes every write
		}
	}
	return fmt.Sprintf("%x", sum.Sum64())
}

// countRun numbers the runs that a file counts, from 1.
func countRun(path string) (int, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.WriteString("."); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}

// killSi kills the si that this process descends from.
func killSi() {
	for pid := os.Getppid(); pid > 1; {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return
		}
		name := string(data[strings.IndexByte(string(data), '(')+1 : strings.LastIndexByte(string(data), ')')])
		if name == "si" {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			return
		}
		_, _ = fmt.Sscan(strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))[1], &pid)
	}
}
