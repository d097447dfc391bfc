package loop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"si/gitops"
	"si/internal/clean"
	"si/internal/proc"
	"si/track"
)

// remote is where the improve branch is pushed to: a backup, never waited for
// by a decision.
const remote = "origin"

// pushWinner pushes the branch after a win, when settings say so. A failure is
// a warning.
func (r *round) pushWinner(ctx context.Context) error {
	if len(r.st.Value.SI.Merges) == 0 {
		return nil
	}
	branch := r.refs.improve()
	if !r.settings.Value.AutoPush {
		return nil // the summary prints the command
	}
	if err := r.cfg.Repo.Push(ctx, remote, branch); err != nil {
		return r.note("branch %s was not pushed: %v", branch, err)
	}
	return nil
}

// openPull opens a pull request when the target is reached and settings say so.
func (l *Loop) openPull(ctx context.Context) error {
	if l.progress.Value.Status != track.StatusTargetReached {
		return nil
	}
	args := l.pullArgs(l.refs.improve(), "--body", "Made by si; see the merge commits.")
	text := "gh " + joinArgs(args)
	if !l.settings.Value.AutoPR {
		l.notes = append(l.notes, "no pull request was opened (auto_pr: false); to open one: "+text)
		return nil
	}
	said, err := l.gh(ctx, args)
	if errors.Is(err, fs.ErrNotExist) {
		l.notes = append(l.notes, "gh is not installed; to open the pull request: "+text)
		return nil
	}
	if err != nil {
		return l.note("the pull request was not opened: %v; to open it: %s", err, text)
	}
	return l.note("opened a pull request: %s", said)
}

// gh runs GitHub's program and returns the end of what it said. The error wraps
// fs.ErrNotExist when it is not installed.
func (l *Loop) gh(ctx context.Context, args []string) (string, error) {
	result, err := l.cfg.Runner.Run(ctx, proc.Command{
		Path: "gh", Args: args, Dir: l.cfg.Repo.Toplevel(), Env: l.ghEnv(), Wall: 2 * time.Minute, Merge: true,
	})
	said := clean.Line(clean.Text(result.Stdout.Tail), 300)
	if err == nil && (result.Outcome != proc.Exited || result.Code != 0) {
		err = fmt.Errorf("gh ended with %d: %s", result.Code, said)
	}
	return said, err
}

// pullArgs asks gh for a pull request of a branch to the branch that was improved.
func (l *Loop) pullArgs(head string, body ...string) []string {
	s := l.settings.Value
	args := append([]string{"pr", "create", "--base", s.TargetBranch, "--title", clean.Line(l.goal.Objective, 100)}, body...)
	if s.UpstreamURL != "" {
		args = append(args, "--repo", s.UpstreamURL)
	}
	if owner := gitops.OwnerOf(s.ForkURL); owner != "" {
		head = owner + ":" + head
	}
	return append(args, "--head", head)
}

// ghEnv is what gh needs to find its login, and nothing that would let it ask.
func (l *Loop) ghEnv() []string {
	env := []string{"GH_PROMPT_DISABLED=1", "GIT_TERMINAL_PROMPT=0"}
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "GH_CONFIG_DIR", "SSH_AUTH_SOCK", "HTTPS_PROXY", "https_proxy"} {
		if v, ok := l.cfg.Lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
