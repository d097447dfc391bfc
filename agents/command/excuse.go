package command

import (
	"strings"

	"si/agents"
)

// maxExcuse is how long a text may be that is only a reason for having done nothing.
const maxExcuse = 4 << 10 // bytes

// excuse tells a text without a document that says why there is none: many programs
// end with 0 after their limit was reached. What an executor says is a report, and its
// work may well be about limits and keys.
func excuse(t agents.Task, text string) bool {
	if t.Role == agents.Executor || len(text) > maxExcuse || strings.Contains(text, "{") {
		return false
	}
	switch agents.SaidWhy(text) { //nolint:exhaustive // the rest does not say enough
	case agents.FailAuth, agents.FailUsage, agents.FailContext:
		return true
	}
	return false
}

// explain reads the kind of a failure out of the program's last words: nothing else is
// known of it. A program that ended well enough to give an exit code is believed.
func (b *Backend) explain(t agents.Task, f *agents.Failure) {
	if f.Kind != agents.FailExit || f.Code >= signalled {
		return
	}
	switch why := agents.SaidWhy(f.Said); why { //nolint:exhaustive // the rest does not say more than the exit code
	case agents.FailAuth:
		f.Kind, f.What = why, "it is not logged in, or its key is not taken"
	case agents.FailContext:
		f.Kind, f.What = why, "the task is too long for its model"
	case agents.FailUsage:
		f.Kind, f.What = why, "its usage limit is reached"
		now := b.o.Now()
		f.Until = agents.LimitUntil(f.Said, now, b.o.Zone)
		if t.Watch != nil {
			t.Watch(agents.Event{Kind: agents.EventLimit, At: now, Text: f.Said, Until: f.Until, Failed: true})
		}
	}
}

// signalled is the least exit code by which a shell says that a signal ended its program.
const signalled = 128
