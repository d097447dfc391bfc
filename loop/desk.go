package loop

// desk is the loop as it stands now, for work beside it: between rounds the loop reads
// its documents anew, and who works beside it must not see that happen. It is for
// reading; what is asked, paid and journalled goes through the loop itself.
func (l *Loop) desk() *Loop {
	d := &Loop{
		cfg: l.cfg, events: l.events, refs: l.refs, started: l.started,
		settings: l.settings, progress: l.progress, goal: l.goal, goalText: l.goalText, harness: l.harness, harnText: l.harnText,
	}
	d.aids.library = l.aids.library
	return d
}
