package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"si/internal/proc"
)

// Limits of one git call. Laying or staging a large tree on a busy disk takes
// minutes; a read that takes more than its limit is stuck.
const (
	readLimit = 2 * time.Minute
	workLimit = 30 * time.Minute
	pushLimit = 5 * time.Minute
	headBytes = 64 << 20 // most that is read of git's output
)

// settings go before every command. Hooks: --no-verify leaves five of them
// running. Signing: a signed tag opens an editor and hangs. fsmonitor and hooks
// are programs that a configuration names. Sparse: the user's checkout may be
// sparse, ours never is. Ref locks: another git may hold them for a moment.
var settings = []string{
	"core.hooksPath=/dev/null",
	"commit.gpgsign=false",
	"tag.gpgsign=false",
	"push.gpgsign=false",
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	"core.trustctime=true",
	"core.checkStat=default",
	"core.splitIndex=false",
	"core.sparseCheckout=false",
	"index.sparse=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"core.quotePath=false",
	"core.filesRefLockTimeout=5000",
	"core.packedRefsTimeout=5000",
	"i18n.commitEncoding=UTF-8",
	"i18n.logOutputEncoding=UTF-8",
	"worktree.useRelativePaths=false",
}

// passed are the variables that git may see. An allow list drops by itself all
// that git rev-parse --local-env-vars names, now and in later versions.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "KRB5CCNAME",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH",
}

// networked are passed to commands that speak to a remote, besides.
var networked = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
}

var quiet = []string{
	"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:",
	"GIT_PAGER=cat", "PAGER=cat", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0",
	// A path of a repository is a name, never a pattern.
	"GIT_LITERAL_PATHSPECS=1",
	// go-git knows no replace refs; both readers must see the same objects.
	"GIT_NO_REPLACE_OBJECTS=1",
}

// program runs git. It holds no repository: each call says where.
type program struct {
	run  proc.Runner
	base []string // environment that parts are passed of
}

// place is a repository, a working tree and an index for one call. They are
// always given, never discovered: the .git that git would find in a workspace
// was writable for an agent or a benchmark.
type place struct {
	gitDir, workTree, index string
	objects                 string // folder that new objects go to; "": the repository's
}

func (p place) env() []string {
	var env []string
	if p.gitDir != "" {
		env = append(env, "GIT_DIR="+p.gitDir)
	}
	if p.workTree != "" {
		env = append(env, "GIT_WORK_TREE="+p.workTree)
	}
	if p.index != "" {
		env = append(env, "GIT_INDEX_FILE="+p.index)
	}
	if p.objects != "" {
		env = append(env, ownObjects(p.objects, filepath.Join(p.gitDir, "objects"))...)
	}
	return env
}

// ownObjects has git write objects to one folder, and read those of another, too.
func ownObjects(own, others string) []string {
	return []string{"GIT_OBJECT_DIRECTORY=" + own, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + listedAlternate(others)}
}

// call is one git command.
type call struct {
	op    string // what is being done, for errors
	path  string // on what, for errors
	in    place
	dir   string // working directory, default the working tree or the git folder
	args  []string
	env   []string
	stdin []byte
	limit time.Duration // default readLimit
	max   int           // bytes of output kept, default headBytes
	net   bool
	codes []int // exit codes that are answers, besides 0
	cut   bool  // output beyond max is no error
}

// answer is what git gave.
type answer struct {
	out  []byte
	code int
	cut  bool
}

// lookup finds name in the base environment.
func (p program) lookup(name string) string {
	for _, kv := range slices.Backward(p.base) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

func (p program) environment(c call) []string {
	names := passed
	if c.net {
		names = slices.Concat(passed, networked)
	}
	var env []string
	for _, name := range names {
		if v := p.lookup(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, quiet...)
	for _, kv := range slices.Concat(c.in.env(), c.env) {
		name, _, _ := strings.Cut(kv, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, kv)
	}
	return env
}

func arguments(c call) []string {
	var args []string
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	if !c.net {
		args = append(args, "-c", "credential.helper=")
	}
	return append(args, c.args...)
}

// git runs one command. An exit code that the call does not expect is an *Error
// with git's own words.
func (p program) git(ctx context.Context, c call) (answer, error) {
	cmd := proc.Command{
		Path: "git", Args: arguments(c), Env: p.environment(c), Wall: c.limit,
		Dir:    first(c.dir, c.in.workTree, c.in.gitDir),
		Stdout: proc.Output{HeadMax: c.max, TailMax: 1},
		Stderr: proc.Output{HeadMax: 16 << 10, TailMax: 1},
	}
	if cmd.Wall == 0 {
		cmd.Wall = readLimit
	}
	if cmd.Stdout.HeadMax == 0 {
		cmd.Stdout.HeadMax = headBytes
	}
	if c.stdin != nil {
		cmd.Stdin = io.Reader(bytes.NewReader(c.stdin))
	}
	res, err := p.run.Run(ctx, cmd)
	if _, folder := os.Stat(cmd.Dir); folder == nil && errors.Is(err, fs.ErrNotExist) {
		return answer{}, &Error{Op: c.op, Path: c.path, Msg: "the git program was not found", Hint: "install git " + oldest + " or newer", Err: err}
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: run git: %w", c.op, printable(c.path), err)
	}
	return judge(ctx, c, cmd, res)
}

func judge(ctx context.Context, c call, cmd proc.Command, res proc.Result) (answer, error) {
	a := answer{out: res.Stdout.Head, code: res.Code, cut: res.Stdout.Total > int64(cmd.Stdout.HeadMax)}
	fail := &Error{Op: c.op, Path: c.path, Msg: gitWords(res.Stderr.Head)}
	switch res.Outcome {
	case proc.Exited:
		if res.Code != 0 && !slices.Contains(c.codes, res.Code) {
			if fail.Msg == "" {
				fail.Msg = fmt.Sprintf("git %s ended with code %d", c.args[0], res.Code)
			}
			return a, fail
		}
	case proc.Cancelled:
		return a, fmt.Errorf("%s %s: %w", c.op, printable(c.path), context.Cause(ctx))
	case proc.TimedOut, proc.IdledOut:
		fail.Msg = fmt.Sprintf("git %s did not end within %s", c.args[0], cmd.Wall)
		return a, fail
	case proc.Signaled:
		fail.Msg = fmt.Sprintf("git %s was ended by signal %s", c.args[0], res.Signal)
		return a, fail
	}
	if a.cut && !c.cut {
		fail.Msg = fmt.Sprintf("git %s printed more than %d bytes", c.args[0], cmd.Stdout.HeadMax)
		fail.Err = ErrTooLarge
		return a, fail
	}
	return a, nil
}

// line runs a command whose answer is one line. Only the newline that ends the
// output is cut: paths may hold others.
func (p program) line(ctx context.Context, c call) (string, error) {
	a, err := p.git(ctx, c)
	return strings.TrimSuffix(string(a.out), "\n"), err
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// fields splits -z output.
func fields(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}
