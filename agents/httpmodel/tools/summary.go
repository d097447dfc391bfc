package tools

import "si/agents"

// Summary says in one line what a call asks for. Calls that differ have summaries
// that differ: repeats are found by them.
func Summary(name, args string) string {
	key := "path"
	switch name {
	case "shell":
		key = "command"
	case "search":
		key = "pattern"
	}
	return agents.CallLine(args, key)
}
