package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"si/agents"
	"si/gitops"
	"si/learn/established"
	"si/learn/evidence"
	"si/learn/mistakes"
	"si/learn/place"
	"si/learn/policy"
	"si/learn/retro"
	"si/track"
)

// learn lets the repository learn from what the journal holds: counters are folded,
// and runs are looked back on that are owed it. It is called between rounds. What goes
// wrong is said and costs the run nothing: what is owed is found again by the next.
func (l *Loop) learn(ctx context.Context, trigger string) error {
	if l.settings.Value.SI.Learn.Off {
		return nil
	}
	err := l.lookBack(ctx, trigger)
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errStop):
		return err
	}
	return l.note("nothing was learned from this run: %v; the next run, or 'si retro', takes it up", err)
}

func (l *Loop) lookBack(ctx context.Context, trigger string) error {
	tip, err := l.tip(ctx)
	if err != nil {
		return err
	}
	if err := l.learner.lay(ctx, tip); err != nil {
		return err
	}
	if err := l.follow(ctx); err != nil {
		return err
	}
	owed, err := retro.OwedRuns(l.allEvents(), l.cfg.RunID)
	if err != nil {
		return err
	}
	type due struct{ run, trigger string }
	var all []due
	for _, o := range owed {
		all = append(all, due{o.Run, retro.ByOwed})
	}
	for _, d := range append(all, due{l.cfg.RunID, trigger}) {
		if err := l.helm.pending(); err != nil && trigger == retro.ByEvery {
			return err
		}
		if err := l.retrospect(ctx, d.run, d.trigger); err != nil && !errors.Is(err, retro.ErrNothing) {
			return err
		}
	}
	return nil
}

// fold counts what the journal says of the entries that were delivered.
func (l *Loop) fold(ctx context.Context) error {
	return l.learner.edit(ctx, "Count what was learned: deliveries, verdicts, runs\n\nFrom the journal of the track; counting it again changes nothing.\n",
		track.Learned{What: "fold", Text: "counters from the journal"}, func() error {
			_, err := evidence.Fold(ctx, l.learner.place, l.cfg.Paths.TopicSlug, l.allEvents())
			return err
		})
}

// seed writes what a repository that learns for the first time needs: the table of who
// decides, what set-up established, and MISTAKES.md, whose deletion is the opt-out.
func (l *Loop) seed(ctx context.Context) error {
	return l.learner.edit(ctx, "Begin to learn: who decides about what, and where mistakes are written\n\nDeleting MISTAKES.md opts out of recording mistakes.\n",
		track.Learned{What: "config", Text: "the default policy, what set-up established, and an empty MISTAKES.md"}, func() error {
			if l.progress.Value.SI.Seeded {
				return nil // what is gone was deleted by a person
			}
			if _, err := policy.Seed(ctx, l.learner.place); err != nil {
				return err
			}
			facts, err := l.established(ctx)
			if err != nil {
				return err
			}
			if _, err := established.Seed(ctx, l.learner.place, facts); err != nil {
				return err
			}
			if !slices.Contains(l.learner.links, place.Mistakes) {
				_, err = mistakes.Seed(ctx, l.learner.place)
			}
			return err
		})
}

// established is what set-up found out, as the settings and the tree have it.
func (l *Loop) established(ctx context.Context) (established.Facts, error) {
	s := l.settings.Value
	f := established.Facts{Build: s.SI.Setup, Benchmark: s.BenchmarkCommand}
	for _, g := range s.SI.Guards {
		if g.Command != "" && f.Test == "" {
			f.Test = g.Command
		}
	}
	var err error
	f.Deployment, err = l.deployment(ctx, l.learner.laid)
	return f, err
}

// mostPipelines bounds how many files are read to see what a merge sets off.
const mostPipelines = 100

// deployment is what the files of a commit say that a merge to the main branch sets
// off. A file that is too large to read says nothing.
func (l *Loop) deployment(ctx context.Context, commit string) (established.Deployment, error) {
	entries, err := l.cfg.Repo.ListTree(ctx, commit)
	if err != nil {
		return established.Deployment{}, err
	}
	var tree []string
	for _, e := range entries {
		if strings.HasPrefix(e.Mode, "100") {
			tree = append(tree, e.Path)
		}
	}
	files := map[string][]byte{}
	for _, name := range established.DeploymentPaths(tree) {
		if len(files) == mostPipelines {
			break
		}
		data, err := l.cfg.Repo.ReadFile(ctx, commit, name, maxLearnedFile)
		if errors.Is(err, gitops.ErrTooLarge) {
			continue
		}
		if err != nil {
			return established.Deployment{}, fmt.Errorf("look for what a merge sets off in %q: %w", name, err)
		}
		files[name] = data
	}
	return established.FindDeployment(files), nil
}

// retrospect looks back on one run.
func (l *Loop) retrospect(ctx context.Context, run, trigger string) error {
	if ok, err := l.worthLookingBack(run); err != nil || !ok {
		return err
	}
	if err := firstOf(l.seed(ctx), l.fold(ctx)); err != nil {
		return err
	}
	if !l.progress.Value.SI.Seeded {
		l.progress.Value.SI.Seeded = true
		if err := l.progress.Save(l.cfg.Store); err != nil {
			return err
		}
	}
	in, err := l.retroInput(ctx, run, trigger)
	if err != nil {
		return err
	}
	begun := track.RetroEvent{Of: run, Trigger: trigger, Outcome: track.RetroStarted, At: l.cfg.Now().UTC()}
	if err := l.events.emit(track.EvRetro, l.progress.Value.Iterations, "si", begun); err != nil {
		return err
	}
	out, err := retro.Look(ctx, in, l.judge())
	if err != nil {
		failed := begun
		failed.Outcome, failed.Reason, failed.At = track.RetroFailed, err.Error(), l.cfg.Now().UTC()
		return errors.Join(err, l.events.emit(track.EvRetro, l.progress.Value.Iterations, "si", failed))
	}
	for _, p := range out.Proposals {
		if err := l.events.emit(track.EvProposal, l.progress.Value.Iterations, "si", p); err != nil {
			return err
		}
	}
	if err := l.events.emit(track.EvRetro, l.progress.Value.Iterations, "si", out.Event); err != nil {
		return err
	}
	if err := l.cfg.Store.Remove(l.answerPath(run)); err != nil {
		return err
	}
	return l.delta(ctx, in)
}

// worthLookingBack tells whether a run has played a round or found something.
func (l *Loop) worthLookingBack(run string) (bool, error) {
	for ev, err := range l.allEvents() {
		if err != nil {
			return false, err
		}
		if ev.Run == run && (ev.Ev == track.EvRoundEnded || ev.Ev == track.EvFinding) {
			return true, nil
		}
	}
	return false, nil
}

// delta compares what the repository learned with what a new version of the program
// says by itself, once a version.
func (l *Loop) delta(ctx context.Context, in retro.Input) error {
	texts, err := agents.CoreTexts()
	if err != nil {
		return err
	}
	out, err := retro.Delta(ctx, in, retro.Core{Version: l.cfg.Version, Texts: texts})
	if err != nil {
		return err
	}
	for _, p := range out.Proposals {
		if err := l.events.emit(track.EvProposal, l.progress.Value.Iterations, "si", p); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) retroInput(ctx context.Context, run, trigger string) (retro.Input, error) {
	histories, err := track.LoadHistory(l.cfg.Paths, l.progress.Value.Iterations)
	if err != nil {
		return retro.Input{}, err
	}
	entries, err := l.cfg.Repo.Log(ctx, l.progress.Value.SI.StartCommit, l.learner.laid, 500)
	if err != nil {
		return retro.Input{}, err
	}
	in := retro.Input{
		Place: l.learner.place, Policy: l.learner.policy(), Track: l.cfg.Paths.TopicSlug, Run: run, Trigger: trigger,
		Events: l.allEvents, History: histories, Now: l.cfg.Now, Commit: l.learner.commit, Keep: l.keepAnswer(run), Try: l.tryCommand,
	}
	for _, e := range entries {
		in.Log = append(in.Log, retro.LogEntry{ID: e.ID, Subject: subject(e.Message)})
	}
	in.Answer, err = l.keptAnswer(run)
	return in, err
}

// allEvents is the whole journal.
func (l *Loop) allEvents() iter.Seq2[track.Event, error] {
	return track.ReadJournal(l.cfg.Paths.JournalPath())
}

// answerPath is where a judge's answer waits until it has been carried out: it is not
// paid for twice.
func (l *Loop) answerPath(run string) string {
	return filepath.Join(filepath.Dir(l.cfg.Paths.JournalPath()), "retro-answer-"+run+".json")
}

func (l *Loop) keepAnswer(run string) func(retro.Answer) error {
	return func(a retro.Answer) error {
		data, err := json.Marshal(a)
		if err != nil {
			return fmt.Errorf("keep the judge's answer: %w", err)
		}
		return l.cfg.Store.Replace(l.answerPath(run), data, 0o644)
	}
}

func (l *Loop) keptAnswer(run string) (*retro.Answer, error) {
	data, err := os.ReadFile(l.answerPath(run))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var a retro.Answer
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil {
		return nil, fmt.Errorf("read the judge's answer %s: %w; remove it to ask again", l.answerPath(run), err)
	}
	return &a, nil
}
