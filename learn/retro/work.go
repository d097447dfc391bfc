package retro

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"si/internal/durable"
	"si/learn/efficacy"
	"si/learn/evidence"
	"si/learn/knowledge"
	"si/learn/mistakes"
	"si/learn/place"
	"si/track"
)

// work is a retrospective that is being carried out.
type work struct {
	in      Input
	m       *Material
	j       Judgement
	place   place.Place // where it writes; a copy in a dry run
	counted bool        // the judge is the built-in one
	record  Record
	out     Outcome
	at      time.Time
}

func newWork(in Input, m *Material, j Judgement, counted bool) *work {
	w := &work{in: in, m: m, j: j, place: in.Place, counted: counted, at: in.Now().UTC().Truncate(time.Second)}
	judge := "agent"
	if counted {
		judge = "counted"
	}
	w.record = Record{
		Run: in.Run, Track: in.Track, Trigger: in.Trigger, At: w.at, Judge: judge, Worked: list(j.Worked), Failed: list(j.Failed), Done: []Done{},
		Proposed: []string{}, Rejected: list(j.Rejected), Refused: []Refusal{}, Candidates: list(j.Candidates), Efficacy: []efficacy.Line{}, Notes: []string{},
	}
	return w
}

func list[T any](items []T) []T { return append([]T{}, items...) }

// all carries the wishes out, in the order in which each rests on the one before:
// what was counted, then what is judged.
func (w *work) all(ctx context.Context, changes map[string]classed) error {
	if w.in.DryRun {
		undo, err := w.scratch()
		if err != nil {
			return err
		}
		defer undo()
	}
	for _, step := range []func(context.Context) error{w.fold, w.mistakes, w.promote, w.laws, w.knowledge} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := w.changes(ctx, changes); err != nil {
		return err
	}
	return w.measure()
}

// scratch makes a dry run work on a copy of the learned files.
func (w *work) scratch() (undo func(), err error) {
	files, err := w.in.Place.Snapshot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "si-retro-")
	if err != nil {
		return nil, fmt.Errorf("prepare a dry run: %w", err)
	}
	undo = func() { _ = os.RemoveAll(dir) }
	if err := os.Mkdir(filepath.Join(dir, w.in.Place.Dir()), 0o755); err != nil {
		undo()
		return nil, fmt.Errorf("prepare a dry run: %w", err)
	}
	w.place, err = place.Open(&durable.Store{}, dir)
	if err == nil {
		err = w.place.Lay(files)
	}
	if err != nil {
		undo()
		return nil, fmt.Errorf("prepare a dry run: %w", err)
	}
	return undo, nil
}

// step is one change: what it wrote is handed to the caller as one commit. A change
// that changes nothing is none.
func (w *work) step(ctx context.Context, d Done, write func() error) error {
	before, err := w.place.Snapshot()
	if err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	after, err := w.place.Snapshot()
	if err != nil {
		return err
	}
	files := place.Changes(before, after)
	if len(files) == 0 {
		return nil
	}
	d.Paths, d.From = sorted(files), list(d.From)
	ev := track.Learned{What: d.What, Text: d.Text, Paths: d.Paths, From: d.From}
	if w.in.Commit != nil && !w.in.DryRun {
		if d.Commit, err = w.in.Commit(ctx, Commit{Message: w.message(d), Files: files, Event: ev}); err != nil {
			return fmt.Errorf("commit what was learned (%s): %w", d.What, err)
		}
	}
	ev.Commit = d.Commit
	w.record.Done, w.out.Learned = append(w.record.Done, d), append(w.out.Learned, ev)
	return nil
}

// message says what a change follows from, for who reads the log.
func (w *work) message(d Done) string {
	text := "Learn: " + cut(d.Text, 100) + "\n"
	if points(d.Text) > 100 {
		text += "\n" + d.Text + "\n"
	}
	if len(d.From) > 0 {
		text += "\nFollows from: " + oneLine(d.From) + "\n"
	}
	return text + fmt.Sprintf("\nTrack: %s\nRun: %s\n", w.in.Track, w.in.Run)
}

func (w *work) fold(ctx context.Context) error {
	d := Done{What: "fold", Text: "count how the delivered entries did"}
	return w.step(ctx, d, func() error {
		_, err := evidence.Fold(ctx, w.place, w.in.Track, w.in.Events())
		return err
	})
}

// reject records a wish that did not pass.
func (w *work) reject(what, by, why string) {
	w.record.Rejected = append(w.record.Rejected, Rejection{told(what), told(why), by})
}

func (w *work) note(format string, args ...any) {
	w.record.Notes = append(w.record.Notes, told(fmt.Sprintf(format, args...)))
}

// mistakes records the failures that the judge calls mistakes. One finding is one
// mistake, also when the retrospective is done again after a crash.
func (w *work) mistakes(ctx context.Context) error {
	for _, wish := range w.j.Mistakes {
		f, ok := w.m.Proofs[wish.Proof]
		if !ok {
			w.reject(wish.Title, byFilter, fmt.Sprintf("its proof %.20q is no finding of the journal", wish.Proof))
			continue
		}
		l, err := mistakes.Load(w.place)
		if err != nil {
			return err
		}
		if !l.Exists {
			w.note("the repository has no MISTAKES.md, so mistakes are not recorded")
			return nil
		}
		log, err := evidence.Load(w.place)
		if err != nil {
			return err
		}
		if w.recorded(l, log, f) {
			continue
		}
		if err := w.mistake(ctx, wish, f); err != nil {
			return err
		}
	}
	return nil
}

// recorded reports whether a finding is in MISTAKES.md. The findings of a track that was
// made anew are numbered from one again, so one of another run is another finding.
func (w *work) recorded(l *mistakes.Ledger, log *evidence.Log, f Found) bool {
	for i, known := range l.Facts(log) {
		if e := l.Entries[i]; e.Initiative == w.in.Track && e.Proof == f.Proof && (known.Run == f.Run || known.Run == "") {
			return true
		}
	}
	return false
}

func (w *work) mistake(ctx context.Context, wish MistakeWish, f Found) error {
	n := mistakes.New{Run: f.Run, Commit: f.Commit, At: f.At, Entry: mistakes.Entry{
		Title: wish.Title, What: wish.What, Cause: wish.Cause, Consequence: wish.Consequence, Prevention: wish.Prevention,
		Signature: wish.Signature, Initiative: w.in.Track, Actor: actor(f), Proof: wish.Proof,
	}}
	var added mistakes.Added
	var refused error
	err := w.step(ctx, Done{What: "mistake", Text: fmt.Sprintf("record the mistake %s: %s", wish.Signature, wish.Title), From: []string{wish.Proof}}, func() error {
		var err error
		added, err = mistakes.Add(ctx, w.place, n)
		var bad *mistakes.InvalidError
		if errors.As(err, &bad) {
			refused = bad
			return nil
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		w.reject(wish.Title, byFilter, refused.Error())
		return nil
	}
	if len(added.Alike) > 0 {
		w.note("%s looks like %s: a near-synonym begins a count of its own", wish.Signature, oneLine(added.Alike))
	}
	if added.AfterLaw {
		w.note("%s happened again though there is a rule against it: the rule does not work, a mechanism is needed", wish.Signature)
	}
	return nil
}

// actor is the role whose work failed.
func actor(f Found) string {
	switch {
	case f.Area == "plans":
		return "planner"
	case strings.HasPrefix(f.Signature, "agent-failed-"):
		return f.Area
	}
	return "executor"
}

// promote makes knowledge of the signatures that have earned it by their counts.
func (w *work) promote(ctx context.Context) error {
	repeats, err := w.reread()
	if err != nil {
		return err
	}
	for _, r := range repeats {
		switch r.Recommended {
		case mistakes.ToKnowledge:
			if err := w.promoteOne(ctx, r); err != nil {
				return err
			}
		case mistakes.ToMechanism:
			w.note("%s: %s", r.Signature, r.Why)
		}
	}
	return nil
}

// reread takes in what the steps before have written.
func (w *work) reread() (_ []mistakes.Repeat, err error) {
	if w.m.Ledger, err = mistakes.Load(w.place); err != nil {
		return nil, err
	}
	if w.m.Store, err = knowledge.Load(w.place); err != nil {
		return nil, err
	}
	return mistakes.Repeats(w.place, 0)
}

func (w *work) promoteOne(ctx context.Context, r mistakes.Repeat) error {
	wish, ok := w.textFor(r)
	if !ok {
		w.record.Candidates = append(w.record.Candidates, fmt.Sprintf("%s has earned an entry of the knowledge store (%d runs or commits); the judge gave no text for it", r.Signature, r.Occurrences))
		return nil
	}
	origin := knowledge.Provenance{Source: place.Mistakes, Reference: r.Signature}
	id := w.m.entryFor(r.Signature) // written before a crash
	if why := w.m.covered(wish.Text, wish.Supersedes); why != "" && id == "" {
		w.reject(wish.Text, byFilter, why)
		return nil
	}
	e := wish.entry(origin)
	return w.write(ctx, Done{What: "promotion", Kind: KindAdd, Text: fmt.Sprintf("%s happened in %d runs or commits: it is knowledge now", r.Signature, r.Open), From: append([]string{r.Signature}, wish.Proofs...)}, func() error {
		if id == "" {
			written, err := knowledge.Add(ctx, w.place, e, w.taken)
			if err != nil {
				return err
			}
			id = written.ID
		}
		_, err := mistakes.SetStatus(ctx, w.place, r.Signature, mistakes.ForKnowledge(id))
		return err
	})
}

// entryFor is the live entry that was made of a signature, "" for none.
func (m *Material) entryFor(signature string) string {
	for _, e := range m.Store.Live() {
		if slices.Contains(e.Provenance, knowledge.Provenance{Source: place.Mistakes, Reference: signature}) {
			return e.ID
		}
	}
	return ""
}

func (m *Material) hasEntryFor(signature string) bool { return m.entryFor(signature) != "" }

// textFor is the judge's entry for a signature. The built-in judge composes it from
// the mistakes.
func (w *work) textFor(r mistakes.Repeat) (KnowledgeWish, bool) {
	i := slices.IndexFunc(w.j.Knowledge, func(k KnowledgeWish) bool { return k.Signature == r.Signature })
	switch {
	case i >= 0:
		return w.j.Knowledge[i], true
	case w.counted:
		return w.m.composed(r), true
	}
	return KnowledgeWish{}, false
}

func (k KnowledgeWish) entry(origin knowledge.Provenance) knowledge.Entry {
	e := knowledge.Entry{
		Kind: k.Kind, Text: strings.TrimSpace(k.Text), Confidence: k.Confidence, AppliesTo: k.AppliesTo, Supersedes: k.Supersedes,
		Provenance: []knowledge.Provenance{origin},
	}
	for _, proof := range k.Proofs[:min(len(k.Proofs), 20)] {
		e.Provenance = append(e.Provenance, knowledge.Provenance{Source: "finding", Reference: proof})
	}
	return e
}

// taken are the ids that evidence is about.
func (w *work) taken() ([]string, error) {
	log, err := evidence.Load(w.place)
	if err != nil {
		return nil, err
	}
	return log.IDs(), nil
}

// write is a step whose refusal by the store is the wish's fault and no failure of
// the retrospective: nothing is written then.
func (w *work) write(ctx context.Context, d Done, write func() error) error {
	var bad *knowledge.InvalidError
	err := w.step(ctx, d, write)
	if errors.As(err, &bad) {
		w.reject(d.Text, byFilter, bad.Error())
		return nil
	}
	return err
}

// laws writes the rules that their counts have earned.
func (w *work) laws(ctx context.Context) error {
	repeats, err := w.reread()
	if err != nil {
		return err
	}
	log, err := evidence.Load(w.place)
	if err != nil {
		return err
	}
	for _, r := range repeats {
		// A crash can come between the rule and the fact that it is one.
		if _, known := log.LawSince(r.Signature); r.Recommended != mistakes.ToLaw && (known || !r.Law || r.Rejected) {
			continue
		}
		rule, ok := w.ruleFor(r)
		if !ok {
			w.record.Candidates = append(w.record.Candidates, fmt.Sprintf("%s has earned a rule (%d runs or commits, also after its entry was delivered); the judge gave no text for it", r.Signature, r.Occurrences))
			continue
		}
		d := Done{What: "law", Text: fmt.Sprintf("%s happened %d times, also after its entry was delivered: it is a rule now", r.Signature, r.Occurrences), From: append([]string{r.Signature}, r.Knowledge...)}
		var refused error
		err := w.step(ctx, d, func() error {
			_, refused = mistakes.MakeLaw(ctx, w.place, mistakes.LawRequest{Signature: r.Signature, Rule: rule, At: w.at, Allow: w.in.Policy.AllowLaw})
			if durableFault(refused) {
				return refused
			}
			return nil
		})
		if err != nil {
			return err
		}
		if refused != nil {
			w.reject(rule, byPolicy, refused.Error())
		}
	}
	if w.m.Rules, err = mistakes.Rules(w.place); err != nil {
		return err
	}
	return nil
}

// durableFault tells the failure of a write from a refusal.
func durableFault(err error) bool {
	var path *os.PathError
	return errors.As(err, &path) || errors.Is(err, place.ErrBusy)
}

func (w *work) ruleFor(r mistakes.Repeat) (string, bool) {
	for _, rule := range w.j.Rules {
		if rule.Signature == r.Signature {
			return rule.Rule, true
		}
	}
	for _, e := range w.m.Ledger.Entries {
		if w.counted && e.Signature == r.Signature && e.Prevention != "" {
			return sentence(strings.TrimRight(e.Prevention, ". ")) + ".", true
		}
	}
	return "", false
}

// knowledge writes the entries that the judge wants for other reasons than a count.
func (w *work) knowledge(ctx context.Context) error {
	for _, wish := range w.j.Knowledge {
		if wish.Signature != "" {
			if !w.m.hasEntryFor(wish.Signature) {
				w.record.Candidates = append(w.record.Candidates, fmt.Sprintf("an entry for %s, once it has happened in %d runs or commits: %s", wish.Signature, mistakes.DefaultThreshold, told(wish.Text)))
			}
			continue // written when its count has earned it
		}
		if why := w.m.against(wish.Filter, wish.Text, wish.Supersedes); why != "" {
			w.reject(wish.Text, byFilter, why)
			continue
		}
		kind := KindAdd
		if len(wish.Supersedes) > 0 {
			kind = KindMerge
		}
		origin := knowledge.Provenance{Source: "retrospective", Reference: "run " + w.in.Run}
		err := w.write(ctx, Done{What: "knowledge", Kind: kind, Text: "know that " + cut(wish.Text, 300), From: wish.Proofs}, func() error {
			_, err := knowledge.Add(ctx, w.place, wish.entry(origin), w.taken)
			return err
		})
		if err != nil {
			return err
		}
		if _, err := w.reread(); err != nil {
			return err
		}
	}
	return nil
}

// measure adds what can be said now that all is written.
func (w *work) measure() error {
	lines, err := efficacy.Measure(w.place)
	if err != nil {
		return err
	}
	w.record.Efficacy = lines
	for _, l := range lines {
		if l.Advice != "" {
			w.record.Candidates = append(w.record.Candidates, l.Advice+": "+l.String())
		}
	}
	store, err := knowledge.Load(w.place)
	if err != nil {
		return err
	}
	audit, err := store.Audit(0)
	for _, r := range audit.Retire {
		w.record.Candidates = append(w.record.Candidates, fmt.Sprintf("retire %s: %s (used %d, helpful %d, reported wrong %d)", r.ID, r.Reason, r.Used, r.Helpful, r.OutdatedReports))
	}
	return err
}
