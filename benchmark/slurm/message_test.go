package slurm

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"si/internal/proc"
)

// A command arrives as it was, whatever bytes are in it.
func TestCommandsTravel(t *testing.T) {
	c := proc.Command{
		Path: "/bin/\xff", Args: []string{"", "a b", "\n\x00\xfe"}, Dir: "/d\xff", Env: []string{"A=\xff\n'\"", "B="},
		Stdout: proc.Output{File: "/o\xff", FileMax: 1, HeadMax: 2, TailMax: -1},
		Stderr: proc.Output{File: "/e", FileMax: 3, HeadMax: 4, TailMax: 5},
		Report: &proc.Output{File: "/r", FileMax: 6, HeadMax: 7, TailMax: 8},
		Merge:  true, Wall: time.Minute, Idle: time.Second, Grace: time.Hour, Supervised: true, Shield: true,
		Contain: &proc.Containment{Writable: []string{"/w"}, Bind: []proc.Bind{{From: "/f", To: "/t", ReadOnly: true}}, Network: true, Limits: proc.Limits{Processes: 7}},
	}
	w, err := newWire(c)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var back wire
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if got := back.command(); !reflect.DeepEqual(got, c) {
		t.Errorf("got  %+v\nwant %+v", got, c)
	}
	c.Contain.Hidden = []string{"/secret\xff"}
	if _, err := newWire(c); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("a hidden path that cannot travel: %v", err)
	}
}

// A field that is added to a command must be carried to the node or refused, and
// not be lost on the way: it may be what contains the command.
func TestEveryFieldOfACommandIsKnown(t *testing.T) {
	for _, tc := range []struct {
		of    reflect.Type
		known []string
	}{
		{reflect.TypeFor[proc.Command](), []string{
			"Path", "Args", "Dir", "Env", "Stdin", "Stdout", "Stderr", "Merge", "Wall", "Idle", "Grace", "Supervised", "Contain", "Shield", "Report",
		}},
		{reflect.TypeFor[proc.Output](), []string{"File", "FileMax", "HeadMax", "TailMax", "Line", "LineMax", "Hide"}},
	} {
		for i := range tc.of.NumField() {
			if name := tc.of.Field(i).Name; !slices.Contains(tc.known, name) {
				t.Errorf("%s.%s is new: carry it in a wire, or refuse it in newWire, and then add it here", tc.of, name)
			}
		}
	}
}

// Without a sandbox on the node a command that is to be contained does not run.
func TestContainmentIsNotDropped(t *testing.T) {
	r := newRig(t)
	r.fake.states = []step{r.done()}
	c := r.shell("touch ran")
	c.Contain = &proc.Containment{}
	if _, err := r.launch("k", c); err == nil || !strings.Contains(err.Error(), "contain") {
		t.Errorf("got %v", err)
	}
}

func TestOutside(t *testing.T) {
	c := &proc.Containment{Bind: []proc.Bind{{From: "/real", To: "/seen"}, {From: "/deep", To: "/seen/in"}}}
	for path, want := range map[string]string{
		"/seen": "/real", "/seen/a/b": "/real/a/b", "/seen/in/c": "/deep/c", "/seenother": "/seenother", "/else": "/else",
	} {
		wants(t, path, outside(path, c), want)
	}
	wants(t, "without containment", outside("/seen", nil), "/seen")
}
