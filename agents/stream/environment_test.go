package stream

import (
	"slices"
	"testing"

	"si/agents"
)

func TestEachProgramGetsItsOwnKeysOnly(t *testing.T) {
	o := Options{Lookup: func(name string) (string, bool) {
		value, ok := map[string]string{"MY_KEY": "mine", "NOT_ASKED": "x", "EMPTY": "", "SESSION": "1", "NUL": "a\x00b"}[name]
		return value, ok
	}}
	k := Keys{Own: []string{"MY_KEY", "ABSENT", "EMPTY", "NUL", "SESSION", "OTHER_BUT_MINE"}, Foreign: []string{"OTHER_"}, Session: []string{"SESSION"}}
	task := agents.Task{Env: []string{"PATH=/bin", "OTHER_KEY=x", "OTHER_BUT_MINE=y", "SESSION=2", "CHOSEN=z"}}
	want := []string{"PATH=/bin", "OTHER_BUT_MINE=y", "CHOSEN=z", "MY_KEY=mine", "SET=1"}
	if got := o.Environment(task, k, "SET=1"); !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}
