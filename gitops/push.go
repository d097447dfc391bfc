package gitops

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
)

// Push pushes a branch (short name) to the branch of the same name of a remote,
// never by force, without tags and submodules, and without a question: what
// needs a password that no helper knows fails.
func (r *Repo) Push(ctx context.Context, remote, branch string) error {
	op := "push " + branch + " to"
	if strings.HasPrefix(remote, "-") || remote == "" {
		return &Error{Op: op, Path: remote, Msg: "not the name of a remote"}
	}
	ref := "refs/heads/" + branch
	_, err := r.git.git(ctx, call{
		op: op, path: redacted(remote), in: r.here(), net: true, limit: pushLimit, env: r.ssh(),
		args: []string{
			"push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
			"--", remote, ref + ":" + ref,
		},
	})
	return err
}

// PushCommand is the command that a user can type instead of Push.
func PushCommand(remote, branch string) string {
	return "git push " + shellQuote(remote) + " " + shellQuote("refs/heads/"+branch)
}

// RemoteURL gives the address of a remote without a password in it, "" when
// there is no such remote.
func (r *Repo) RemoteURL(ctx context.Context, remote string) (string, error) {
	if remote == "" || strings.HasPrefix(remote, "-") {
		return "", nil
	}
	u, err := r.git.line(ctx, call{
		op: "read the address of remote", path: remote, in: r.here(), codes: []int{2, 128},
		args: []string{"remote", "get-url", "--", remote},
	})
	return redacted(u), err
}

func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	if _, secret := u.User.Password(); secret {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}

// ssh keeps the user's own ssh command and forbids it to ask.
func (r *Repo) ssh() []string {
	command := first(r.git.lookup("GIT_SSH_COMMAND"), r.conf["core.sshcommand"])
	if command == "" {
		if program := r.git.lookup("GIT_SSH"); program != "" {
			return []string{"GIT_SSH=" + program}
		}
		command = "ssh"
	}
	// Other programs, such as plink, do not know the option.
	if word, _, _ := strings.Cut(command, " "); filepath.Base(word) == "ssh" {
		command += " -o BatchMode=yes"
	}
	return []string{"GIT_SSH_COMMAND=" + command}
}
