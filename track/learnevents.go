package track

import "time"

// The kinds of events that learning writes and reads, each with the type of its
// data.
const (
	EvFinding        Kind = "finding"         // Finding
	EvBriefDelivered Kind = "brief_delivered" // BriefDelivered
	EvBriefVerdict   Kind = "brief_verdict"   // BriefVerdict
	EvLearned        Kind = "learned"         // Learned
	EvRetro          Kind = "retro"           // RetroEvent
	EvProposal       Kind = "proposal"        // ProposalEvent
)

func learnKinds() []Kind {
	return []Kind{EvFinding, EvBriefDelivered, EvBriefVerdict, EvLearned, EvRetro, EvProposal}
}

// Finding is something that a run discovered, with what proves it. The program
// gives the proof its id and, where a command was run, the exit code and the file
// with the output: an agent's word for them is never taken.
type Finding struct {
	Proof     string `json:"proof"`               // F-<n>, unique in the journal
	Area      string `json:"area"`                // what it is about: a role, a folder, the benchmark
	Claim     string `json:"claim"`               // one sentence
	Signature string `json:"signature,omitempty"` // names the failure, as MISTAKES.md does
	Command   string `json:"command,omitempty"`
	ExitCode  *int   `json:"exit_code,omitempty"`
	Output    string `json:"output,omitempty"` // file below the track's root
	Commit    string `json:"commit,omitempty"` // what the finding was made on
	Subject   string `json:"subject,omitempty"`
}

// BriefDelivered says which knowledge entries went into one agent's prompt.
type BriefDelivered struct {
	Role  string   `json:"role"`
	Agent string   `json:"id"` // unique in its round, such as planner_a
	IDs   []string `json:"entries"`
}

// KnowledgeVerdict is what an agent made of an entry that it was given.
type KnowledgeVerdict string

// The verdicts on an entry. A report that owes one and gives none is recorded as
// missing.
const (
	VerdictHelped  KnowledgeVerdict = "helped"
	VerdictWrong   KnowledgeVerdict = "wrong"
	VerdictUnused  KnowledgeVerdict = "unused"
	VerdictMissing KnowledgeVerdict = "missing"
)

// BriefVerdict holds an agent's verdicts, one for each entry delivered to it.
type BriefVerdict struct {
	Role     string                      `json:"role"`
	Agent    string                      `json:"id"`
	Verdicts map[string]KnowledgeVerdict `json:"verdicts"` // by entry id
}

// Learned is one change of the learned files.
type Learned struct {
	What   string   `json:"what"` // fold, knowledge, mistake, promotion, law, prompt, skill, config, record
	Text   string   `json:"text"`
	Paths  []string `json:"paths,omitempty"`
	From   []string `json:"from,omitempty"` // the proofs and ids that it follows from
	Commit string   `json:"commit,omitempty"`
	// Measured is the commit that the tip's measurement belongs to: both are equal
	// outside the learned files.
	Measured string `json:"measured,omitempty"`
}

// The outcomes of a retrospective.
const (
	RetroStarted   = "started"
	RetroUnchanged = "unchanged" // nothing passed the filter, which is a success
	RetroChanged   = "changed"
	RetroFailed    = "failed"
)

// RetroEvent is the begin or end of a retrospective. One that has begun and not
// ended is owed.
type RetroEvent struct {
	Of       string    `json:"of"`      // the run that it looks back on
	Trigger  string    `json:"trigger"` // end, every, owed, hand
	Outcome  string    `json:"outcome"`
	Reason   string    `json:"reason,omitempty"`
	Record   string    `json:"record,omitempty"` // path in the repository
	Applied  []string  `json:"applied,omitempty"`
	Proposed []string  `json:"proposed,omitempty"`
	Refused  []string  `json:"refused,omitempty"` // each with its reason
	At       time.Time `json:"at"`
}

// ProposalEvent is what happened to a proposal.
type ProposalEvent struct {
	ID     string   `json:"id"`     // P-<n>
	Action string   `json:"action"` // made, approved, rejected
	Title  string   `json:"title"`
	Paths  []string `json:"paths,omitempty"`
	Reason string   `json:"reason,omitempty"`
}
