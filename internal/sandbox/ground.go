package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"si/internal/proc"
)

// ground is a folder with one thing of each kind for a trial.
type ground struct {
	dir    string
	listen net.Listener // nil where there is no loopback
	trial  trial
}

func newGround(ctx context.Context, parent string) (*ground, error) {
	dir, err := scratch(parent)
	if err != nil {
		return nil, err
	}
	g := &ground{dir: dir}
	var errs []error
	for _, d := range []string{"open", "outside", "veil", "arm", "place"} {
		errs = append(errs, os.Mkdir(g.at(d), 0o700))
	}
	for _, f := range []string{"open/fixed", "veil/secret", "secret", "arm/here"} {
		errs = append(errs, os.WriteFile(g.at(f), []byte("x"), 0o600))
	}
	if err := errors.Join(errs...); err != nil {
		g.remove()
		return nil, fmt.Errorf("prepare a trial of the sandbox: %w", err)
	}
	g.trial = trial{
		Writable: pathBytes(g.at("open")), Fixed: pathBytes(g.at("open/fixed")), Outside: pathBytes(g.at("outside")),
		Secrets: []pathBytes{pathBytes(g.at("veil/secret")), pathBytes(g.at("secret"))},
		Arm:     pathBytes(g.at("place/here")), Process: os.Getpid(), Namespace: ownNamespace(),
	}
	var lc net.ListenConfig
	if g.listen, err = lc.Listen(ctx, "tcp4", "127.0.0.1:0"); err == nil {
		if a, ok := g.listen.Addr().(*net.TCPAddr); ok {
			g.trial.Port = a.Port
		}
	}
	return g, nil
}

func (g *ground) at(name string) string { return filepath.Join(g.dir, name) }

// profile asks for all that the trial tries.
func (g *ground) profile() Profile {
	return Profile{
		Writable: []string{g.at("open")}, ReadOnly: []string{g.at("open/fixed")},
		Hidden: []string{g.at("veil"), g.at("secret")},
		Bind:   []proc.Bind{{From: g.at("arm"), To: g.at("place")}},
	}
}

func (g *ground) remove() {
	if g.listen != nil {
		_ = g.listen.Close()
	}
	_ = os.RemoveAll(g.dir)
}
