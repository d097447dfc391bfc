package gitops

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"si/internal/durable"
)

// layClone makes the repository and the checkout of a clone. It is what git
// clone --shared does, less the fetch, the remote and the cost of many refs;
// the files are laid with the target's own configuration.
func (w *Workspace) layClone(ctx context.Context) error {
	// The files first: git may have to fetch some of them in a partial clone, and
	// they are lent then.
	if err := os.MkdirAll(w.path, 0o755); err != nil {
		return fmt.Errorf("lay checkout: %w", err)
	}
	if err := w.lay(ctx, w.owner.Commit); err != nil {
		return err
	}
	if err := w.repo.borrow(ctx, w.repo.common, w.path, w.owner.Commit); err != nil {
		return err
	}
	if err := copyIndex(w.slot.index(), filepath.Join(w.path, ".git", "index")); err != nil {
		return err
	}
	return w.ready()
}

// borrow makes a repository at path that reads the objects of gitDir which commit
// reaches, on the branch "candidate" at commit. It is what git init would make, less
// the template of the user, which may hold hooks (gitrepository-layout(5)).
func (r *Repo) borrow(ctx context.Context, gitDir, path, commit string) error {
	const op = "clone into"
	objects, err := r.lend(ctx, gitDir, commit)
	if err != nil {
		return err
	}
	own := filepath.Join(path, ".git")
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(own, dir), 0o755); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/candidate\n", "refs/heads/candidate": commit + "\n", "config": r.cloneConfig(),
		"objects/info/alternates": alternate(objects) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(own, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	return nil
}

// alternate writes a folder as a line of objects/info/alternates: as it is, or
// quoted as in C when a byte of it would break the line (gitrepository-layout(5)).
func alternate(folder string) string {
	plain := func(c byte) bool { return c >= ' ' && c != '"' && c != '\\' && c != 0x7f }
	if i := strings.IndexFunc(folder, func(r rune) bool { return r < 0x80 && !plain(byte(r)) }); i < 0 {
		return folder
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(folder) {
		switch c := folder[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case plain(c):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "\\%03o", c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// cloneConfig is the configuration of a clone: hooks off, no gc that could run on
// after the agent, and the target's settings for line ends and modes.
func (r *Repo) cloneConfig() string {
	var b strings.Builder
	version, format := 0, ""
	if r.format == "sha256" {
		version, format = 1, "[extensions]\n\tobjectFormat = sha256\n"
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n%s", version, format)
	b.WriteString("[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n")
	for _, key := range copied {
		if v, ok := r.conf[key]; ok && !strings.ContainsAny(v, "\n\"\\") {
			_, name, _ := strings.Cut(key, ".")
			fmt.Fprintf(&b, "[core]\n\t%s = \"%s\"\n", name, v)
		}
	}
	if r.conf["user.name"] == "" || r.conf["user.email"] == "" {
		fmt.Fprintf(&b, "[user]\n\tname = %s\n\temail = %s\n", ownName, ownEmail)
	}
	return b.String()
}

// layWorktree registers a linked worktree and lays its checkout.
func (w *Workspace) layWorktree(ctx context.Context) error {
	if err := w.register(ctx); err != nil {
		return err
	}
	if err := w.lay(ctx, w.owner.Commit); err != nil {
		return err
	}
	if err := w.publish(ctx, w.owner.Commit); err != nil {
		return err
	}
	return w.ready()
}

// register runs git worktree add without a checkout: the short part that two
// must not do at once. Nothing is written to .git/config.
func (w *Workspace) register(ctx context.Context) error {
	r := w.repo
	r.admin.Lock()
	defer r.admin.Unlock()
	_, err := r.git.git(ctx, call{
		op: "add worktree", path: w.path, in: r.store(), env: r.identityEnv(),
		args: []string{"worktree", "add", "--detach", "--no-checkout", "--lock", "--reason", lockReason, w.path, w.owner.Commit},
	})
	if err != nil {
		return err
	}
	admin := r.adminOf(w.path)
	if admin == "" {
		return &Error{Op: "add worktree", Path: w.path, Msg: "git did not register it"}
	}
	return nil
}

// lay makes the tracked files equal to a commit or tree.
func (w *Workspace) lay(ctx context.Context, treeish string) error {
	r := w.repo
	select {
	case r.laying <- struct{}{}:
		defer func() { <-r.laying }()
	case <-ctx.Done():
		return fmt.Errorf("lay checkout %s: %w", w.path, context.Cause(ctx))
	}
	_, err := r.git.git(ctx, call{
		op: "lay checkout", path: w.path, in: w.place(), limit: workLimit, args: []string{"read-tree", "--reset", "-u", treeish},
	})
	if err != nil {
		return err
	}
	w.tree = treeish
	return w.complete(ctx, treeish)
}

// publish gives a linked worktree the HEAD and the index that git commands of
// the benchmark see there.
func (w *Workspace) publish(ctx context.Context, commit string) error {
	admin := w.repo.adminOf(w.path)
	if admin == "" {
		return &Error{Op: "reset worktree", Path: w.path, Msg: "it is no longer registered with the repository"}
	}
	if err := purge(admin); err != nil {
		return fmt.Errorf("reset worktree %s: %w", w.path, err)
	}
	if err := copyIndex(w.slot.index(), filepath.Join(admin, "index")); err != nil {
		return err
	}
	return w.repo.detach(ctx, admin, commit)
}

// detach sets the HEAD of a worktree of ours. Where refs are files it is one of them,
// and nobody else writes it.
func (r *Repo) detach(ctx context.Context, admin, commit string) error {
	const op = "set HEAD of worktree"
	if r.conf["extensions.refstorage"] != "" {
		_, err := r.git.git(ctx, call{
			op: op, path: admin, in: place{gitDir: admin}, env: r.identityEnv(),
			args: []string{"update-ref", "--no-deref", "HEAD", commit},
		})
		return err
	}
	part := filepath.Join(admin, "HEAD.si-new")
	if err := os.WriteFile(part, []byte(commit+"\n"), 0o644); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err := os.Rename(part, filepath.Join(admin, "HEAD")); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// purge empties the git folder of a worktree of ours but for what makes it one.
// Locks there are of a crashed git; a sparse checkout of the user's breeds
// config.worktree and info/sparse-checkout; and a benchmark could keep something
// for the next candidate.
func purge(admin string) error {
	entries, err := os.ReadDir(admin)
	if err != nil {
		return err // wrapped by publish
	}
	needed := []string{"HEAD", "commondir", "gitdir", "locked", "refs", "reftable"}
	for _, e := range entries {
		if !slices.Contains(needed, e.Name()) {
			if err := removeAll(filepath.Join(admin, e.Name())); err != nil {
				return err
			}
		}
	}
	// git reads the configuration of the repository that this file names.
	file, own := filepath.Join(admin, "commondir"), "../..\n"
	if data, err := readBounded(file, 1<<10); err == nil && string(data) == own {
		return nil
	}
	var store durable.Store
	return store.Replace(file, []byte(own), 0o644) // wrapped by publish
}
