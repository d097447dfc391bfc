package stream

import (
	"slices"
	"strings"

	"si/agents"
)

// Keys say which variables a program gets beside those of every agent.
type Keys struct {
	Own     []string // its keys and settings, taken from si's environment
	Foreign []string // beginnings of names that are other vendors': not handed on even when all agents get them
	Session []string // names that would bind it to a session of its own kind around si
}

// Environment is that of the program: what every agent gets without what is not
// its business, its own keys, and set, which wins.
func (o Options) Environment(t agents.Task, k Keys, set ...string) []string {
	var env []string
	for _, e := range t.Env {
		if name, _, _ := strings.Cut(e, "="); !k.withholds(name) {
			env = append(env, e)
		}
	}
	for _, name := range k.Own {
		value, ok := o.Lookup(name)
		if ok && value != "" && !strings.ContainsRune(value, 0) && !slices.Contains(k.Session, name) {
			env = append(env, name+"="+value)
		}
	}
	return append(env, set...)
}

func (k Keys) withholds(name string) bool {
	if slices.Contains(k.Session, name) {
		return true
	}
	own := slices.Contains(k.Own, name)
	return !own && slices.ContainsFunc(k.Foreign, func(start string) bool { return strings.HasPrefix(name, start) })
}
