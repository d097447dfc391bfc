package loop

import (
	"context"
	"fmt"

	"si/gitops"
)

// offer pushes the branch for the reviewer and opens a pull request, where that is
// asked for; else it says how.
func (l *Loop) offer(ctx context.Context, d *Delivery, o DeliverOptions) error {
	if !o.Push && !o.Pull {
		d.Notes = append(d.Notes, "nothing was pushed; to push: "+gitops.PushCommand(remote, d.Branch))
		return nil
	}
	if err := l.cfg.Repo.Push(ctx, remote, d.Branch); err != nil {
		return fmt.Errorf("push %s: %w; the branch and the report are there all the same", d.Branch, err)
	}
	if !o.Pull {
		return nil
	}
	args := l.pullArgs(d.Branch, "--body-file", d.Markdown)
	said, err := l.gh(ctx, args)
	if err != nil {
		return fmt.Errorf("open the pull request: %w; to open it: gh %s", err, joinArgs(args))
	}
	d.Notes = append(d.Notes, "opened a pull request: "+said)
	return nil
}
