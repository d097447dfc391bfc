package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	socketName  = "si-mcp.sock"
	maxSessions = 8 // of one agent at a time; it needs one
)

// Door is the server of one agent's task, behind a socket in a folder that the agent
// can reach. It answers until it is closed.
type Door struct {
	path     string
	root     *os.Root
	listener *net.UnixListener
	server   *mcp.Server
	cancel   context.CancelFunc
	running  sync.WaitGroup
	places   chan struct{}
}

// Open puts a door into dir, a folder that is there. What happens to the folder later
// is the agent's own loss. Close ends it.
func Open(ctx context.Context, dir string, s Source) (*Door, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the agent's server: %w", err)
	}
	d := &Door{path: filepath.Join(dir, socketName), root: root, server: New(s), places: make(chan struct{}, maxSessions)}
	if err := d.listen(ctx); err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("open the agent's server at %s: %w", d.path, err)
	}
	ctx, d.cancel = context.WithCancel(ctx)
	d.running.Go(func() { d.accept(ctx) })
	return d, nil
}

func (d *Door) listen(ctx context.Context) error {
	if err := d.root.Remove(socketName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	address, done, err := reach(d.path)
	if err != nil {
		return err
	}
	defer done()
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", address)
	if err != nil {
		return err
	}
	d.listener = l.(*net.UnixListener) //nolint:forcetypeassert // "unix" has no other
	// By then the path can lead anywhere; Close removes the name in the folder that
	// was opened at the start.
	d.listener.SetUnlinkOnClose(false)
	return d.root.Chmod(socketName, 0o600)
}

// Path is the socket, for si mcp --connect.
func (d *Door) Path() string { return d.path }

// Command is the program and the arguments with which an agent starts its side; self
// is the path of this program.
func (d *Door) Command(self string) (program string, args []string) {
	return self, []string{"mcp", "--connect", d.path}
}

func (d *Door) accept(ctx context.Context) {
	for {
		c, err := d.listener.AcceptUnix()
		if err != nil {
			return // closed, or of no use any more: the agent goes on without
		}
		select {
		case d.places <- struct{}{}:
			d.running.Go(func() { d.answer(ctx, c) })
		default:
			_ = c.Close() // too many at once
		}
	}
}

func (d *Door) answer(ctx context.Context, c net.Conn) {
	defer func() {
		_ = recover() // a broken session is its agent's loss
		_ = c.Close()
		<-d.places
	}()
	_ = d.server.Run(ctx, patient{&mcp.IOTransport{Reader: c, Writer: c, MaxLineLength: maxMessage}}) // how it ended matters to nobody
}

// Close ends the sessions and waits until nothing of the door is left.
func (d *Door) Close() error {
	d.cancel()
	err := d.listener.Close()
	d.running.Wait()
	if gone := d.root.Remove(socketName); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	if err = errors.Join(err, d.root.Close()); err != nil {
		return fmt.Errorf("close the agent's server: %w", err)
	}
	return nil
}
