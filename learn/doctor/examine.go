package doctor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"si/learn/evidence"
	"si/learn/knowledge"
	"si/learn/mistakes"
	"si/learn/retro"
	"si/track"
)

// Shares from which the doctor speaks.
const (
	enoughVerdicts = 5 // deliveries
	mostMissing    = 0.5
)

// journal looks for damage, and for retrospectives that are owed.
func (x *examination) journal() {
	if x.in.Journal == "" {
		return
	}
	r, err := track.OpenJournalReader(x.in.Journal, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		x.add(JournalDamaged, "look at the file; what the documents of the track say is not touched by it", "%v", err)
		return
	}
	defer r.Close() // opened for reading only
	owed, err := retro.OwedRuns(x.events(r), "")
	switch {
	case err != nil:
		x.add(JournalDamaged, "correct the line or remove it", "%v", err)
		return
	case r.Torn() > 0:
		x.add(JournalTorn, "nothing: the next run cuts it off and says so", "the last line of %s has no end; a crash left it, or a run is writing it", x.in.Journal)
	}
	for _, o := range owed {
		how := "has had no retrospective"
		if o.Begun {
			how = "has a retrospective that began and did not end"
		}
		x.add(RetroOwed, "si retro", "the run %s %s", o.Run, how)
	}
}

func (x *examination) events(r *track.JournalReader) iter.Seq2[track.Event, error] {
	return func(yield func(track.Event, error) bool) {
		for {
			ev, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			x.delivered = x.delivered || ev.Ev == track.EvBriefDelivered
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

func (x *examination) knowledge() {
	s, err := knowledge.Load(x.in.Place)
	var twice *knowledge.DuplicateError
	switch {
	case errors.As(err, &twice):
		x.add(KnowledgeDuplicateID, "give one of the two entries a new id", "%v", err)
		return
	case err != nil:
		x.add(KnowledgeInvalid, "correct the file: until then no entry is delivered to anybody", "%v", err)
		return
	}
	a, err := s.Audit(0)
	if err != nil {
		x.add(KnowledgeInvalid, "correct the file", "%v", err)
		return
	}
	if a.Unreachable > 0 {
		x.add(KnowledgeUnreachable, "merge entries with 'si knowledge supersede', or scope them with applies_to; 'si knowledge audit' measures it",
			"%d of %d live entries (%d code points) cannot be in one brief of %d", a.Unreachable, a.Live, a.LiveCost, a.Budget)
	}
	for _, d := range a.Dangling {
		x.add(KnowledgeDangling, "correct the id or remove it: an id that is not in the store retires nothing", "%s supersedes %s, which is not in the store", d.By, d.ID)
	}
	if a.NoFoldYet && x.delivered {
		x.add(KnowledgeNoEvidence, "si retro: it folds the verdicts of the runs into the counters", "entries were delivered, and no counter is above 0: the fold is not happening")
	}
	for _, r := range a.Retire {
		x.add(RetirementCandidates, "look at it with 'si knowledge show "+r.ID+"'; replace it with 'si knowledge supersede', or keep it", "%s is %s: used %d, helpful %d, reported wrong %d", r.ID, r.Reason, r.Used, r.Helpful, r.OutdatedReports)
	}
	x.verdicts()
}

func (x *examination) verdicts() {
	log, err := evidence.Load(x.in.Place)
	if err != nil {
		x.add(KnowledgeInvalid, "correct the line: counters are not computed until then", "%v", err)
		return
	}
	missing, all := log.Missing()
	if all >= enoughVerdicts && float64(missing) > mostMissing*float64(all) {
		x.add(VerdictsMissing, "look at the agents' logs: a report owes a verdict on each entry that it was given", "%d of %d verdicts on delivered entries are missing", missing, all)
	}
}

func (x *examination) mistakes() {
	l, err := mistakes.Load(x.in.Place)
	if err != nil {
		x.add(MistakesUnreadable, "make MISTAKES.md a readable file of the repository, or move it away", "%v", err)
		return
	}
	for _, p := range l.Problems {
		x.add(MistakesUnreadable, "correct the entry: it is not counted until then", "%s", p)
	}
	if l.Unclosed > 0 {
		x.add(MistakesOpenFence, "close it: what stands behind it is not counted", "MISTAKES.md:%d opens a block of code or a comment that never ends", l.Unclosed)
	}
	repeats, err := mistakes.Repeats(x.in.Place, 0)
	if err != nil {
		return // the evidence cannot be read, which is said above
	}
	for _, r := range repeats {
		switch r.Recommended {
		case mistakes.ToKnowledge:
			x.add(RepeatUnpromoted, "si knowledge add, then si mistakes promote --signature "+r.Signature+" --status knowledge:<id>", "%s happened in %d runs or commits", r.Signature, r.Open)
		case mistakes.ToLaw:
			x.add(LawReady, "si mistakes promote --signature "+r.Signature+" --law --rule TEXT", "%s happened in %d runs or commits, also after its entry was delivered", r.Signature, r.Occurrences)
		case mistakes.ToMechanism:
			if !r.Rejected {
				x.add(RuleNotWorking, "more words do not help: build a mechanism (a test, a guard, a hook) that makes it impossible", "%s happened %d times since there is a rule against it", r.Signature, r.AfterLaw)
			}
		}
	}
}

func (x *examination) rules() {
	name := x.in.Place.Rules()
	has, err := mistakes.HasFence(x.in.Place)
	var malformed *mistakes.FenceError
	switch {
	case errors.As(err, &malformed):
		x.add(FenceMalformed, "mend the two marker lines by hand; nothing is written there until then", "%v", err)
		return
	case err != nil:
		x.add(FenceMalformed, "make "+name+" a readable file of the repository", "%v", err)
		return
	case has:
		return
	}
	repeats, err := mistakes.Repeats(x.in.Place, 0)
	if err != nil {
		return
	}
	var law []string
	for _, r := range repeats {
		if r.Law && !r.Rejected {
			law = append(law, r.Signature)
		}
	}
	if len(law) > 0 {
		x.add(FenceMissing, "if you deleted the rules, nothing: they stay deleted; else take the lines back from git", "entries say that %s is law, and %s has no rules", strings.Join(law, ", "), name)
	}
}

func (x *examination) policy() {
	p := x.in.Policy
	switch {
	case p.Broken != nil:
		x.add(PolicyInvalid, "correct the file: until then everything is GATED", "%v", p.Broken)
		return
	case p.Missing && x.learns():
		x.add(PolicyMissing, "write one, or take it back from git; si writes the default one itself, once, in the first run that learns. Without it everything is GATED, and the retrospective only proposes", "there is no %s", x.in.Place.Policy())
	}
	for _, d := range p.Dead() {
		x.add(PolicyRuleDead, "remove the rule, or make it say what you want", "%s:%d: the rule %s %s can never decide: %s", x.in.Place.Policy(), d.Rule.Line, d.Rule.Path, d.Rule.Class, d.Why)
	}
}

// learns reports whether the repository has learned anything yet.
func (x *examination) learns() bool {
	files, err := x.in.Place.Snapshot()
	if err != nil {
		return false
	}
	for name := range files {
		if strings.HasPrefix(name, x.in.Place.Dir()+"/") {
			return true
		}
	}
	return false
}

func (x *examination) skills() {
	if x.in.Skills != nil {
		broken, err := x.in.Skills()
		if err != nil {
			broken = append(broken, fmt.Sprint(err))
		}
		for _, b := range broken {
			x.add(SkillsInvalid, "correct the file: no agent sees the skill until then", "%s", b)
		}
	}
	if x.in.Curator != nil {
		since, err := x.in.Curator()
		if err == nil && since != "" {
			x.add(CuratorOverdue, "si curator run", "the curator's pass is due since %s", since)
		}
	}
	if x.in.Reviewer != "" {
		x.add(ReviewerNoModel, "name a model in si.skills.default_aux of the settings, or an agent for the role reviewer; or turn si.skills.review off", "si.skills.review is on and does nothing: %s", x.in.Reviewer)
	}
}
