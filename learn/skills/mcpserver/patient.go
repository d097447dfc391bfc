package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patient is a transport whose end is told only when what was asked before it is
// answered: the library drops the calls that are under way at the end of the input,
// and a client that writes its questions and closes would get no answer.
type patient struct{ mcp.Transport }

func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patientConn{Connection: c, idle: closedChannel()}, nil
}

type patientConn struct {
	mcp.Connection
	mu    sync.Mutex
	asked int
	idle  chan struct{} // closed while no call is under way
}

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func (p *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := p.Connection.Read(ctx)
	if err != nil {
		p.wait(ctx)
		return nil, err
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		p.mu.Lock()
		if p.asked++; p.asked == 1 {
			p.idle = make(chan struct{})
		}
		p.mu.Unlock()
	}
	return m, nil
}

func (p *patientConn) wait(ctx context.Context) {
	p.mu.Lock()
	idle := p.idle
	p.mu.Unlock()
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-idle:
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (p *patientConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := p.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		p.mu.Lock()
		if p.asked--; p.asked == 0 {
			close(p.idle)
		}
		p.mu.Unlock()
	}
	return err
}
