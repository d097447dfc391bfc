package gitops

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"si/internal/secret"
)

// Name and address of commits in a repository whose user has none.
const (
	ownName  = "si"
	ownEmail = "si@localhost"
)

// CommitMeta is what a commit says besides its tree. The same meta on the same
// tree and parents gives the same id.
type CommitMeta struct {
	Message     string
	Name, Email string    // empty: Identity
	When        time.Time // author and committer date, to the second
	Limits      Limits    // for Collect

	// Secrets stand in no commit: the message says Hidden in their place, and Collect
	// refuses a file that brings one.
	Secrets secret.Set
}

// Commit is a commit that was made.
type Commit struct {
	ID, Tree string
}

// Identity gives the name and the address that commits carry: the user's own
// from the configuration, else si <si@localhost>.
func (r *Repo) Identity(context.Context) (name, email string) {
	name, email = r.conf["user.name"], r.conf["user.email"]
	if name == "" || email == "" {
		return ownName, ownEmail
	}
	return name, email
}

// identityEnv keeps git from asking for, or making up, an identity where the
// repository has none.
func (r *Repo) identityEnv() []string {
	if r.conf["user.name"] != "" && r.conf["user.email"] != "" {
		return nil
	}
	return person("GIT_COMMITTER", ownName, ownEmail)
}

func person(role, name, email string) []string {
	return []string{role + "_NAME=" + name, role + "_EMAIL=" + email}
}

// commitTree makes a commit object; no ref points at it yet.
func (r *Repo) commitTree(ctx context.Context, tree string, parents []string, c CommitMeta) (string, error) {
	name, email := r.Identity(ctx)
	if c.Name != "" && c.Email != "" {
		name, email = c.Name, c.Email
	}
	date := fmt.Sprintf("@%d %s", c.When.Unix(), c.When.Format("-0700"))
	env := append(person("GIT_AUTHOR", clean(name), clean(email)), person("GIT_COMMITTER", clean(name), clean(email))...)
	env = append(env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	args := []string{"commit-tree", "--no-gpg-sign"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.git.line(ctx, call{
		op: "commit tree", path: tree, in: r.store(), env: env, stdin: message(c.Secrets.Mask(c.Message)), args: append(args, "-F", "-", tree),
	})
}

// clean makes a value fit for a header line of a commit.
func clean(s string) string {
	return strings.TrimSpace(strings.Trim(printable(strings.ToValidUTF8(s, "?")), "<>"))
}

// message makes the text of a commit: models write it, so control characters
// that would act on a terminal are taken out, and git refuses NUL.
func message(s string) []byte {
	var b bytes.Buffer
	for line := range strings.SplitSeq(strings.ToValidUTF8(s, string(utf8.RuneError)), "\n") {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    ")
		b.WriteString(strings.TrimRight(printable(line), " ") + "\n")
	}
	return append(bytes.TrimSpace(b.Bytes()), '\n')
}

// Recommit gives a commit with the same tree, parents, people and dates as
// commit, and another message.
func (r *Repo) Recommit(ctx context.Context, commit, msg string) (string, error) {
	const op = "change the message of commit"
	if !r.isID(commit) {
		return "", wrong(op, commit, ErrNotFound, "")
	}
	a, err := r.git.git(ctx, call{op: op, path: commit, in: r.store(), args: []string{"cat-file", "commit", commit}})
	if err != nil {
		return "", err
	}
	head, _, ok := bytes.Cut(a.out, []byte("\n\n"))
	if !ok {
		head = bytes.TrimSuffix(a.out, []byte("\n"))
	}
	object := append(withoutSignature(head), '\n', '\n')
	object = append(object, message(msg)...)
	return r.git.line(ctx, call{
		op: op, path: commit, in: r.store(), stdin: object, args: []string{"hash-object", "-t", "commit", "-w", "--stdin"},
	})
}

// withoutSignature keeps the headers that stay true under another message: a
// signature does not, and the text is UTF-8 now.
func withoutSignature(head []byte) []byte {
	var kept [][]byte
	skip := false
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		if !bytes.HasPrefix(line, []byte(" ")) {
			name, _, _ := bytes.Cut(line, []byte(" "))
			skip = bytes.HasPrefix(name, []byte("gpgsig")) || string(name) == "encoding"
		}
		if !skip {
			kept = append(kept, line)
		}
	}
	return bytes.Join(kept, []byte("\n"))
}
