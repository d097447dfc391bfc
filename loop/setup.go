package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"si/track"
)

// SetUp is what the gates of the set-up are answered with. A gate that is
// already closed and not answered anew stays as it is.
type SetUp struct {
	Trust       bool
	Goal        *GoalAnswer      // nil: keep goal.md
	Settings    *track.Settings  // nil: keep settings.json; else written whole, unknown keys kept
	Harness     []byte           // nil: keep harness.md, or the default rules
	AcceptNoise bool             // the user knows that the benchmark is noisy
	Tell        func(SetUpEvent) // hears how the set-up goes; may be nil

	// Confirm is asked, once the benchmark has run and before anything of it is
	// kept; its error ends the set-up. The word about noise is then its own. nil
	// takes what AcceptNoise allows.
	Confirm func(context.Context, Trial) error
}

// GoalAnswer is the goal: a whole file, or its four dimensions.
type GoalAnswer struct {
	File      []byte // goal.md as it is; the other fields are not used then
	Objective string
	Metric    string
	Target    string // a number, or words such as "as far as it goes"
	InScope   []string
	OutScope  []string
}

// SetUpEvent is one line of progress.
type SetUpEvent struct {
	Text string
}

// say tells the user something that no journal keeps.
func (in SetUp) say(format string, args ...any) {
	if in.Tell != nil {
		in.Tell(SetUpEvent{Text: fmt.Sprintf(format, args...)})
	}
}

// Sentinels of the set-up.
var (
	// ErrNoTrust says that nobody has said yes to running code in the repository.
	ErrNoTrust = errors.New("trust is not confirmed")
	// ErrNoisy says that the baseline's spread needs the user's word.
	ErrNoisy = errors.New("the benchmark is noisy")
)

// Prepare closes the gates of the set-up that in answers. Nothing is written
// before trust is confirmed.
func Prepare(ctx context.Context, cfg Config, in SetUp) error {
	progress, err := track.LoadProgress(cfg.Paths)
	if err != nil {
		return err
	}
	if !progress.Value.TrustConfirmed && !in.Trust {
		return fmt.Errorf("%w: si will run agents and the benchmark command in %s; this executes arbitrary code there; say yes with --trust",
			ErrNoTrust, cfg.Repo.Toplevel())
	}
	if err := cfg.Paths.EnsureLayout(cfg.Store); err != nil {
		return err
	}
	if err := hideOurs(ctx, cfg); err != nil {
		return err
	}
	lock, err := track.AcquireLock(cfg.Paths.LockPath(), track.Holder{Command: "si init", StartedAt: cfg.Now()})
	if err != nil {
		return err
	}
	defer lock.Release() //nolint:errcheck // the system releases it when the process ends
	progress.Value.TrustConfirmed = true
	if err := progress.Save(cfg.Store); err != nil {
		return err
	}
	return prepareGates(ctx, cfg, in)
}

// prepareGates checks every answer before it writes the first, so that a bad one
// leaves the track as it was. The settings are written last, when the benchmark
// and the guards have proved to work.
func prepareGates(ctx context.Context, cfg Config, in SetUp) (err error) {
	goal, goalText, err := prepareGoal(cfg, in)
	if err != nil {
		return err
	}
	settings, err := prepareSettings(ctx, cfg, in.Settings, goal.Target)
	if err != nil {
		return err
	}
	if err := checkScope(ctx, cfg, goal, settings.Value, in); err != nil {
		return err
	}
	putBack, err := rememberTexts(cfg)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, putBack())
		}
	}()
	if err := writeGoal(cfg, goalText); err != nil {
		return err
	}
	if err := prepareHarness(cfg, in.Harness); err != nil {
		return err
	}
	l := &Loop{cfg: cfg, started: cfg.Now()}
	if err := l.load(); err != nil {
		return err
	}
	l.settings = settings
	if err := l.nameTrack(); err != nil {
		return err
	}
	if err := l.prepareBenchmark(ctx, in); err != nil {
		return err
	}
	return l.checkImproveBranch(ctx)
}

// rememberTexts returns what puts goal.md, harness.md and the gates back to what
// they are now.
func rememberTexts(cfg Config) (func() error, error) {
	gates, err := track.LoadProgress(cfg.Paths)
	if err != nil {
		return nil, err
	}
	old := map[string][]byte{}
	for _, path := range []string{cfg.Paths.GoalPath, cfg.Paths.HarnessPath} {
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("read what the set-up may replace: %w", err)
		}
		if err == nil {
			old[path] = data
		}
	}
	return func() error {
		var errs []error
		for _, path := range []string{cfg.Paths.GoalPath, cfg.Paths.HarnessPath} {
			if data, was := old[path]; was {
				errs = append(errs, cfg.Store.Replace(path, data, 0o644))
			} else {
				errs = append(errs, cfg.Store.Remove(path))
			}
		}
		errs = append(errs, setGate(cfg, func(p *track.AgentSettings) {
			p.GoalSet, p.HarnessSet, p.GoalSlug, p.SI.RefPrefix = gates.Value.GoalSet, gates.Value.HarnessSet, gates.Value.GoalSlug, gates.Value.SI.RefPrefix
		}))
		return errors.Join(errs...)
	}, nil
}

// hideOurs keeps what is ours and lies inside the repository (the state, and the
// workspaces when settings put them there) out of the user's status by a line
// in info/exclude each, and out of our fingerprints.
func hideOurs(ctx context.Context, cfg Config) error {
	for _, dir := range []string{cfg.Paths.StateBase(), filepath.Dir(cfg.WorkDir)} {
		rel, inside := insideRepo(cfg, dir)
		if !inside {
			continue
		}
		if dir == cfg.Paths.StateBase() {
			if err := refuseTrackedState(ctx, cfg, rel); err != nil {
				return err
			}
		}
		cfg.Repo.Disregard(rel)
		if err := cfg.Repo.ExcludeLine(ctx, "/"+rel+"/"); err != nil {
			return err
		}
	}
	return nil
}

// insideRepo is a folder's slash path below the repository's top; false where it
// lies elsewhere.
func insideRepo(cfg Config, dir string) (string, bool) {
	rel, err := filepath.Rel(cfg.Repo.Toplevel(), dir)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel) && rel != "."
}

// refuseTrackedState refuses a repository that brings the state of a track with
// it: what is trusted in it would be somebody else's word.
func refuseTrackedState(ctx context.Context, cfg Config, rel string) error {
	head, err := cfg.Repo.Head(ctx)
	if err != nil {
		return err
	}
	entries, err := cfg.Repo.ListTree(ctx, head.Commit)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Path, rel+"/self-improve/") {
			return fmt.Errorf("%w: the repository itself holds %q, so trust and settings would be those of whoever committed it; take it out of the index (git rm -r --cached %s), or keep the state elsewhere with OMC_STATE_DIR",
				ErrNoTrust, e.Path, rel)
		}
	}
	return nil
}

// prepareGoal returns the goal that in asks for, and its text when it is not the
// one on disk.
func prepareGoal(cfg Config, in SetUp) (track.Goal, []byte, error) {
	if in.Goal == nil {
		goal, _, err := track.LoadGoal(cfg.Paths)
		if err == nil && strings.TrimSpace(goal.Objective) == "" {
			err = fmt.Errorf("%w: no goal; give --goal-file, or --objective, --metric, --target and --scope", ErrNotSetUp)
		}
		return goal, nil, err
	}
	text := in.Goal.File
	if text == nil {
		if missing := in.Goal.missing(); len(missing) > 0 {
			return track.Goal{}, nil, fmt.Errorf("%w: the goal needs %s", ErrNotSetUp, join(missing))
		}
		var err error
		if text, err = in.Goal.markdown(in.Settings); err != nil {
			return track.Goal{}, nil, err
		}
	}
	goal, _ := track.ParseGoal(text)
	if strings.TrimSpace(goal.Objective) == "" {
		return goal, nil, fmt.Errorf("%w: the goal has no text under the heading Objective", ErrNotSetUp)
	}
	return goal, text, nil
}

// writeGoal writes the goal, unless text is nil, and closes its gate.
func writeGoal(cfg Config, text []byte) error {
	if text != nil {
		if err := cfg.Store.Replace(cfg.Paths.GoalPath, text, 0o644); err != nil {
			return err
		}
	}
	return setGate(cfg, func(p *track.AgentSettings) { p.GoalSet = true })
}

func (a GoalAnswer) markdown(settings *track.Settings) ([]byte, error) {
	direction := track.HigherIsBetter
	if settings != nil {
		direction = settings.BenchmarkDirection
	}
	return track.Goal{
		Objective: a.Objective, Metric: a.Metric, Target: number(a.Target), TargetText: a.Target,
		Direction: direction, InScope: a.InScope, OutScope: a.OutScope,
	}.Markdown()
}

func number(text string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// missing names the dimensions of a goal that rules find unanswered.
func (a GoalAnswer) missing() []string {
	var out []string
	for _, d := range []struct{ flag, value string }{
		{"an objective (--objective)", a.Objective},
		{"a metric (--metric)", a.Metric},
		{"a scope: at least one path or glob (--scope)", strings.Join(a.InScope, "")},
	} {
		if strings.TrimSpace(d.value) == "" {
			out = append(out, d.flag)
		}
	}
	return out
}

func prepareHarness(cfg Config, text []byte) error {
	if text == nil {
		_, err := os.Stat(cfg.Paths.HarnessPath)
		if errors.Is(err, os.ErrNotExist) {
			text = []byte(track.DefaultHarness())
		} else if err != nil {
			return fmt.Errorf("look for the harness: %w", err)
		}
	}
	if text != nil {
		if err := cfg.Store.Replace(cfg.Paths.HarnessPath, text, 0o644); err != nil {
			return err
		}
	}
	return setGate(cfg, func(p *track.AgentSettings) { p.HarnessSet = true })
}

// prepareSettings returns the settings that in asks for, checked and not written.
func prepareSettings(ctx context.Context, cfg Config, answer *track.Settings, target *float64) (track.File[track.Settings], error) {
	doc, err := track.LoadSettings(cfg.Paths)
	if err != nil {
		return doc, err
	}
	if answer != nil {
		doc.Value = *answer
	}
	v := &doc.Value
	v.TopicSlug = cfg.Paths.TopicSlug
	if v.TargetValue == nil {
		v.TargetValue = target
	}
	if _, err := cfg.Repo.Resolve(ctx, v.TargetBranch); err != nil {
		return doc, fmt.Errorf("%w: target_branch %q: %w; name the branch to start from with --target-branch", ErrNotSetUp, v.TargetBranch, err)
	}
	if faults := v.Faults(); len(faults) > 0 {
		return doc, fmt.Errorf("%w: settings: %s", ErrNotSetUp, strings.Join(faults, "; "))
	}
	if err := checkSettings(*v); err != nil {
		return doc, fmt.Errorf("%w: settings: %w", ErrNotSetUp, err)
	}
	return doc, nil
}

func setGate(cfg Config, set func(*track.AgentSettings)) error {
	doc, err := track.LoadProgress(cfg.Paths)
	if err != nil {
		return err
	}
	set(&doc.Value)
	return doc.Save(cfg.Store)
}

// nameTrack derives the goal's slug once and keeps it. Where another track of
// the repository has the plain ref names, ours carry the topic's slug.
func (l *Loop) nameTrack() error {
	p := &l.progress.Value
	if p.GoalSlug == nil {
		slug := track.GoalSlug(l.goal.Objective)
		p.GoalSlug = &slug
		others, err := track.OtherTracks(l.cfg.Paths)
		if err != nil {
			return err
		}
		for _, o := range others {
			if o.GoalSlug != nil && o.SI.RefPrefix == "" {
				p.SI.RefPrefix = l.cfg.Paths.RefSlug() + "/"
			}
		}
	}
	l.refs = refNames{prefix: p.SI.RefPrefix, goal: *p.GoalSlug}
	return l.progress.Save(l.cfg.Store)
}
