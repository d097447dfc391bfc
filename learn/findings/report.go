package findings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"si/internal/clean"
	"si/track"
)

// Bounds of what is read out of one agent's report.
const (
	maxReport = 1 << 20 // bytes, from its end
	maxClaims = 5
)

// Report is what an agent's answer says beside its work.
type Report struct {
	Verdicts map[string]track.KnowledgeVerdict // one for each delivered entry; missing where there is none
	Claims   []Claim
}

// Claim is something that an agent says it discovered. It is a finding only with a
// proof of the program's.
type Claim struct {
	Area    string
	Claim   string
	Command string // that shows it; "" for none
}

// Ask is the part of a prompt that asks an agent for its report, "" when there is
// nothing to ask. How it is written is what Read reads.
func Ask(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf(`Say what each entry of the knowledge brief was worth to you, in one line before the end of your answer (before the JSON
document, if you owe one):
Knowledge: %s
where each verdict is helped (it changed what you did, for the better), wrong (it is not true here, or not any more) or unused.
If you discovered something about this repository that the next agent must know, add a line
Finding: <area> | <one sentence> | <a command that shows it, or nothing>
`, strings.Join(ids, " <verdict>; ")+" <verdict>")
}

var (
	verdictForm = regexp.MustCompile(`\b(K-[1-9][0-9]{0,8})\b["'` + "`" + `*_\])]*[ \t]*[:=—–-]?[ \t]*["'` + "`" + `*_]*(helped|wrong|unused)\b`)
	claimForm   = regexp.MustCompile(`(?m)^[ \t]*(?:[-*] )?Finding:[ \t]*([^|\n]+)\|([^|\n]+)(?:\|([^\n]*))?$`)
)

// Read reads an agent's report. A verdict on what was not delivered counts for
// nothing, a delivered entry without one is missing, and of several the last counts.
func Read(text string, delivered []string) Report {
	text = text[max(0, len(text)-maxReport):]
	r := Report{Verdicts: map[string]track.KnowledgeVerdict{}}
	for _, id := range delivered {
		r.Verdicts[id] = track.VerdictMissing
	}
	for _, m := range verdictForm.FindAllStringSubmatch(text, -1) {
		if slices.Contains(delivered, m[1]) {
			r.Verdicts[m[1]] = track.KnowledgeVerdict(m[2])
		}
	}
	for _, m := range claimForm.FindAllStringSubmatch(text, maxClaims) {
		c := Claim{clean.Line(m[1], 100), clean.Line(m[2], maxClaim), strings.TrimSpace(clean.Text([]byte(m[3])))}
		if c.Command == "nothing" || c.Command == "none" || c.Command == "-" {
			c.Command = ""
		}
		if c.Area != "" && c.Claim != "" && !strings.HasPrefix(c.Area, "<") {
			r.Claims = append(r.Claims, c)
		}
	}
	return r
}

// Proof is what the program saw when it ran a claim's command.
type Proof struct {
	ExitCode int
	Output   string // file below the track's root
}

// Prove makes a finding of a claim. number is Next of the journal, commit what the
// command was run on. A claim without a command, or whose command could not be run
// (proof nil), is recorded as said, without an exit code.
func (c Claim) Prove(number int, commit string, proof *Proof) track.Finding {
	f := track.Finding{Proof: fmt.Sprintf("F-%d", number), Area: c.Area, Claim: c.Claim, Command: clean.Line(c.Command, maxClaim), Commit: commit}
	if proof != nil && c.Command != "" {
		f.ExitCode, f.Output = &proof.ExitCode, proof.Output
	}
	return f
}
