package loop

import (
	"context"

	"si/agents"
	"si/track"
)

// research asks one agent for a brief. Without one the planners work from
// history alone.
func (r *round) research(ctx context.Context) error {
	path := r.cfg.Paths.BriefPath(r.n)
	doc, err := track.LoadBrief(r.cfg.Paths, r.n)
	if err == nil && doc.Exists {
		r.brief = &doc.Value
		return r.researched(track.MarkCompleted, path)
	}
	if r.st.Value.Research.Status == track.MarkFailed {
		return nil
	}
	if err := r.openReaders(ctx); err != nil {
		return err
	}
	t := r.task(agents.Researcher, "researcher", r.readers)
	skipped, err := r.attempt(ctx, t, func(ctx context.Context, t agents.Task) error {
		brief, err := r.cfg.Agents.Research(ctx, t)
		if err != nil {
			return err
		}
		brief.Iteration = r.n
		doc = track.File[track.Brief]{Path: path, Value: brief}
		return notTheAgents(doc.Save(r.cfg.Store))
	})
	if err != nil {
		return err
	}
	if skipped {
		return r.researched(track.MarkFailed, "")
	}
	r.brief = &doc.Value
	return r.researched(track.MarkCompleted, path)
}

func (r *round) researched(m track.Mark, path string) error {
	r.st.Value.Research = track.ResearchState{Status: m, OutputPath: r.cfg.Paths.Relative(path), CompletedAt: r.now()}
	return r.save()
}
