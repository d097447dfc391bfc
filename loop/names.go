package loop

import (
	"fmt"
	"strings"
)

// refNames are the refs of one track.
type refNames struct {
	prefix string // "" or "<slug>/"
	goal   string
}

func (n refNames) improve() string { return "improve/" + n.prefix + n.goal }

// delivery is the branch with one clean commit for each gain.
func (n refNames) delivery() string { return n.improve() + "-for-review" }

func (n refNames) experiment(round int, executor string) string {
	return fmt.Sprintf("experiment/%sround_%d_%s", n.prefix, round, executor)
}

func (n refNames) archive(round int, executor string) string {
	return fmt.Sprintf("archive/%sround_%d_%s", n.prefix, round, executor)
}

// ours says which refs the loop itself may move, so that the fingerprint of the
// user's side leaves them out.
func ours(ref string) bool {
	for _, p := range []string{"refs/heads/improve/", "refs/heads/experiment/", "refs/tags/archive/", "refs/si/"} {
		if strings.HasPrefix(ref, p) {
			return true
		}
	}
	return false
}

// letters names the n-th planner or executor: a, b, … z, aa, ab, …
func letters(n int) string {
	name := ""
	for n++; n > 0; n = (n - 1) / 26 {
		name = string(rune('a'+(n-1)%26)) + name
	}
	return name
}

func plannerID(n int) string { return "planner_" + letters(n) }

// executorOf is the executor of a planner's plan: planner_b's is executor_b.
func executorOf(planner string) string {
	return "executor_" + strings.TrimPrefix(planner, "planner_")
}

func planID(round int, planner string) string { return fmt.Sprintf("round_%d_%s", round, planner) }

func join(words []string) string { return strings.Join(words, ", ") }

func short(commit string) string {
	if len(commit) > 10 {
		return commit[:10]
	}
	return commit
}
