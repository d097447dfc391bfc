package acp

import (
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// maxQueue is how many bytes may wait for a program that does not read.
const maxQueue = 16 << 20

var errQueue = errors.New("it does not read what is sent to it")

// outbox holds what the program has not read yet. To send never blocks: a program
// that writes and does not read would otherwise stop si and itself.
type outbox struct {
	mu     sync.Mutex
	more   *sync.Cond
	queue  []byte
	closed bool
}

var _ io.ReadCloser = (*outbox)(nil)

func newOutbox() *outbox {
	o := &outbox{}
	o.more = sync.NewCond(&o.mu)
	return o
}

// send queues one message.
func (o *outbox) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return io.ErrClosedPipe
	}
	if len(o.queue) > maxQueue {
		return errQueue
	}
	o.queue = append(append(o.queue, line...), '\n')
	o.more.Signal()
	return nil
}

// Read waits for a message; it is called by the runner.
func (o *outbox) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.closed {
		o.more.Wait()
	}
	if len(o.queue) == 0 {
		return 0, io.EOF
	}
	n := copy(p, o.queue)
	if o.queue = o.queue[n:]; len(o.queue) == 0 {
		o.queue = nil // a long prompt is not kept
	}
	return n, nil
}

// Close ends the program's stdin after what is queued.
func (o *outbox) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.more.Broadcast()
	return nil
}
