package acp

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"time"

	"si/agents"
	"si/internal/proc"
)

// versionLimit is how long a program may take to say its version.
const versionLimit = 30 * time.Second

// flags are those that the program's version understands. It is asked once; one
// that does not say is taken for a new one.
func (b *Backend) flags(ctx context.Context, t agents.Task, env []string) []string {
	p := b.o.Profile
	if p.Old == nil {
		return p.Args
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.args != nil {
		return b.args
	}
	r, err := b.run.Run(ctx, proc.Command{
		Path: p.Program, Args: []string{"--version"}, Dir: t.Dir, Env: env, Wall: versionLimit, Supervised: true, Contain: t.Contain,
		Stdout: proc.Output{HeadMax: 4 << 10, TailMax: -1}, Stderr: proc.Output{HeadMax: -1, TailMax: -1},
	})
	if err != nil || r.Outcome != proc.Exited || r.Code != 0 {
		return p.Args // and asked again next time
	}
	b.args = p.Args
	if said := version(string(r.Stdout.Head)); said != nil && slices.Compare(said, version(p.Old.Before)) < 0 {
		b.args = p.Old.Args
	}
	return b.args
}

// version reads the first version number of a text, nil when there is none.
func version(text string) []int {
	m := regexp.MustCompile(`(\d{1,6})\.(\d{1,6})\.(\d{1,6})`).FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	var out []int
	for _, part := range m[1:] {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}
