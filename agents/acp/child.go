package acp

import (
	"context"
	"errors"
	"fmt"

	"si/internal/proc"
)

// line is one line of the program's output.
type line struct {
	text   []byte
	stderr bool
}

// child is the program under way. Its lines wait until they are taken, so that a
// program which floods is slowed down instead of filling memory.
type child struct {
	out   *outbox
	lines chan line
	gone  chan struct{} // closed when nothing of the program is left; result and err are known then
	kill  context.CancelFunc
	deaf  chan struct{} // closed when nobody takes lines any more

	result proc.Result
	err    error
}

// launch starts c. The program outlives ctx: it is asked to stop in its own
// protocol first.
func launch(ctx context.Context, run proc.Runner, c proc.Command) *child {
	ctx, kill := context.WithCancel(context.WithoutCancel(ctx))
	k := &child{out: newOutbox(), lines: make(chan line), gone: make(chan struct{}), kill: kill, deaf: make(chan struct{})}
	c.Stdin = k.out
	c.Stdout = proc.Output{HeadMax: -1, TailMax: -1, LineMax: maxLine + 1, Line: func(b []byte) { k.deliver(line{text: b}) }}
	c.Stderr = proc.Output{HeadMax: -1, TailMax: -1, LineMax: 16 << 10, Line: func(b []byte) { k.deliver(line{text: b, stderr: true}) }}
	go k.live(ctx, run, c)
	return k
}

func (k *child) live(ctx context.Context, run proc.Runner, c proc.Command) {
	defer close(k.gone)
	defer func() {
		if p := recover(); p != nil {
			k.err = errors.Join(k.err, fmt.Errorf("run the program: panic: %v", p))
		}
	}()
	k.result, k.err = run.Run(ctx, c)
}

func (k *child) deliver(l line) {
	select {
	case k.lines <- l:
	case <-k.deaf:
	}
}

// close ends whatever is left and waits for it.
func (k *child) close() {
	close(k.deaf)
	k.kill()
	_ = k.out.Close()
	<-k.gone
}
