package tuner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"si/agents"
)

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func names(t *testing.T, dir string, s scope) []string {
	t.Helper()
	knobs, err := findKnobs(context.Background(), dir, s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, k := range knobs {
		out = append(out, k.Name)
	}
	return out
}

// What is not the project's own, what measures it, and what cannot have been
// written by hand is not searched.
func TestFilesThatAreNotSearched(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.py": "WORKERS = 4\n", "vendor/b.py": "WORKERS = 4\n", "x/node_modules/b.py": "WORKERS = 4\n", ".git/c.py": "WORKERS = 4\n",
		"a_test.go": "package a\nconst workers = 4\n", "test_a.py": "WORKERS = 4\n", "bench/run.py": "WORKERS = 4\n", "bench.py": "WORKERS = 4\n",
		"package.json": `{"workers": 4}`, "x.lock": "workers = 4\n", "Makefile": "JOBS = 4\n", "notes.txt": "WORKERS = 4\n",
		"binary.py": "WORKERS = 4\n\x00", "latin.py": "WORKERS = 4 # \xff\n", "huge.py": "WORKERS = 4\n" + strings.Repeat("#\n", maxBytes/2),
		"long.py": "WORKERS = 4 #" + strings.Repeat("x", maxLine) + "\n", "odd\nname.py": "WORKERS = 4\n",
		"lines.py": strings.Repeat("\n", 100_000) + "DEPTH = 4\n",
	})
	if got, want := names(t, dir, scope{}), []string{"a.py:WORKERS", "lines.py:DEPTH"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	// A file that the scope names is meant, whatever its name.
	if got, want := names(t, dir, scope{in: []string{"bench/run.py", "Makefile"}}), []string{"Makefile:JOBS", "bench/run.py:WORKERS"}; !slices.Equal(got, want) {
		t.Errorf("named files: found %q, want %q", got, want)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	outside := tree(t, map[string]string{"secret.py": "WORKERS = 4\n", "d/e.py": "WORKERS = 4\n"})
	dir := tree(t, map[string]string{"a.py": "WORKERS = 4\n", "sealed/b.py": "WORKERS = 4\n"})
	for name, to := range map[string]string{
		"out.py": filepath.Join(outside, "secret.py"), "folder": filepath.Join(outside, "d"), "up.py": "../" + filepath.Base(outside) + "/secret.py",
		"inside.py": "sealed/b.py", "loop": ".", "nowhere.py": "absent",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := names(t, dir, scope{sealed: []string{"sealed/"}}), []string{"a.py:WORKERS"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// One name as long as the file, repeated in each key's path, must not multiply.
func TestDeepAndLongJSONIsData(t *testing.T) {
	deep := strings.Repeat(`{"`+strings.Repeat("k", 50)+`":`, 1000) + "64" + strings.Repeat("}", 1000)
	long := `{"` + strings.Repeat("k", 100_000) + `": 64, "short": [` + strings.Repeat(`{"a": 64},`, 10_000)
	nested := strings.Repeat(`{"size":`, 17) + "64" + strings.Repeat("}", 17)
	if got := knobsIn("a.json", []byte(nested)); len(got) > 0 {
		t.Errorf("%s gives %v", nested, got)
	}
	for _, text := range []string{deep, long, `{"a": 64`, `"`, `]]]]`, `{"a":"\`, `-`} {
		if got := knobsIn("a.json", []byte(text)); len(got) > 1 {
			t.Errorf("%.30q gives %d knobs", text, len(got))
		}
	}
}

func TestScope(t *testing.T) {
	s := scope{in: patterns([]string{"`src/` (the engine)", "lib/*.go", "./main.go and nothing else"}), out: []string{"src/gen"}, sealed: []string{"src/**/score.go", "lib/sealed.go"}}
	for p, want := range map[string]bool{
		"src/a.go": true, "src/x/y.go": true, "lib/a.go": true, "lib/x/a.go": false, "main.go": true, "other.go": false,
		"src/gen/a.go": false, "src/x/score.go": false, "src/score.go": false, "src/x/Score.GO": false, "lib/sealed.go": false, "srcs/a.go": false,
	} {
		if got := s.allows(p); got != want {
			t.Errorf("allows(%s) = %v", p, got)
		}
	}
}

func TestNothingInScopeSaysWhatToDo(t *testing.T) {
	task := agents.Task{Role: agents.Researcher, ID: "researcher", Dir: tree(t, map[string]string{"a.py": "print(1)\n"})}
	task.Facts.Goal.InScope = []string{"a.py"}
	_, err := New().Run(context.Background(), task)
	if !errors.Is(err, ErrNothingLeft) || !strings.Contains(fmt.Sprint(err), "widen the scope") {
		t.Errorf("err = %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New().Run(ctx, task); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: err = %v", err)
	}
	task.Wall = 1
	if _, err := New().Run(context.Background(), task); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("out of time: err = %v", err)
	}
}
