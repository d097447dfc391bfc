// Package agents plays the roles of a round: it renders a role's prompt, hands
// the task to a backend, and checks what comes back against the contract, with
// one repair. It measures nothing, commits nothing and decides nothing.
package agents

import (
	"context"
	"encoding/json"
	"time"

	"si/internal/proc"
	"si/internal/secret"
	"si/track"
)

// Role is a part that an agent plays.
type Role string

// The roles of a round.
const (
	Researcher Role = "researcher"
	Planner    Role = "planner"
	Architect  Role = "architect"
	Critic     Role = "critic"
	Executor   Role = "executor"
)

// The roles outside of a round: the interview's, and those that learn from a run.
const (
	Clarifier     Role = "clarifier"
	Builder       Role = "builder"
	Reviewer      Role = "reviewer"
	Retrospective Role = "retrospective"
)

// Roles are all roles of a round.
func Roles() []Role { return []Role{Researcher, Planner, Architect, Critic, Executor} }

// Task is one piece of work for a backend. Prompt is the whole order in words;
// the other fields are the same facts for a backend that reads no prose.
type Task struct {
	Role   Role
	ID     string // planner_a, executor_b, researcher…; unique in its round
	Round  int
	Dir    string // working folder: a workspace, writable for executors only
	Prompt string
	Facts  Facts
	Log    string // file that receives the agent's output
	Env    []string
	Hide   secret.Set // what it must not say or print, beside the secrets of Env
	Wall   time.Duration
	Idle   time.Duration

	Contain *proc.Containment // what a program that plays may reach; nil is no limit

	Model  string          // in the backend's own words; its own default when empty
	Effort string          // how hard the model thinks, in the backend's own words
	Schema json.RawMessage // JSON schema of the answer, nil when none is wanted
	MCP    []MCPServer     // servers offered to a backend that takes them
	Limits Limits
	Watch  func(Event)  // hears each event at once, from one goroutine; must not block; may be nil
	Played func(Player) // hears who plays, before each start; may be nil
	Said   func(Answer) // hears each answer before it is judged; may be nil
	Paid   func(Spent)  // hears what each start cost, also one that failed; may be nil
}

// Secrets are the keys and passwords that whoever plays the task can know, in env and
// in the environments of the servers that it is offered: nothing that it says or prints
// is shown or written down with them.
func (t Task) Secrets(env []string) secret.Set {
	envs := [][]string{env}
	for _, m := range t.MCP {
		envs = append(envs, m.Env)
	}
	return secret.Of(envs...).And(t.Hide)
}

// MCPServer is a Model Context Protocol server that is started by the agent and
// spoken to over its stdin and stdout.
type MCPServer struct {
	Name    string
	Command string
	Args    []string
	Env     []string // KEY=value
}

// Facts are what a task is about.
type Facts struct {
	Seed       uint64
	Goal       Goal
	Harness    Harness
	Families   []string // taxonomy and custom
	Sealed     []string // paths, folders with a trailing /, globs
	Command    string   // the benchmark
	Metric     string
	Direction  track.Direction
	BestScore  *float64
	History    []track.History // all rounds so far, oldest first
	Brief      *track.Brief    // nil when research failed
	Plan       *track.Plan     // reviewers and executors
	OtherPlans []track.Plan    // critics: the earlier plans of this round, in planner order
	Planners   []string        // all planners of this round
	Learned    Learned
	UserIdeas  string // idea.md's text, for the planner that is to use it
}

// Goal is what agents need of goal.md.
type Goal struct {
	Text      string // the whole file
	Objective string
	InScope   []string // globs and paths
	OutScope  []string
}

// Harness is what agents need of harness.md.
type Harness struct {
	Text string // the whole file
}

// Answer is what a backend gave back.
type Answer struct {
	Text  string          // for every role but the executor: prose holding one JSON document
	JSON  json.RawMessage // the document, where the backend has a way of its own to give it; preferred to Text
	Spent Spent
}

// Backend plays roles. Run blocks until the agent has ended and nothing of it
// is left. It is called from several goroutines at once. An error means that
// the agent failed; a cancelled context is returned as its error.
type Backend interface {
	Run(ctx context.Context, t Task) (Answer, error)
}
