package interview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// patience is how long a terminal has to take the last output when it is time to
// go.
const patience = 3 * time.Second

// Terminal is where an interview is held.
type Terminal struct {
	In, Out *os.File
	Env     []string
	Signals <-chan os.Signal // each one leaves the interview, as ctrl+c does
}

// leaveMsg is a signal that came.
type leaveMsg struct{}

// Run holds an interview, and returns when nothing that it began runs any more.
// The terminal is then as it was before, also after a panic.
func Run(ctx context.Context, t Terminal, w World) (Outcome, error) {
	m := New(ctx, w)
	defer m.work.wait()
	defer m.Close()
	err := hold(ctx, t, m)
	return m.Outcome(), err
}

// hold runs a program on the terminal until it ends, or is given up because the
// terminal takes no output.
func hold(ctx context.Context, t Terminal, m tea.Model) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before, err := term.GetState(t.In.Fd())
	if err != nil {
		return fmt.Errorf("read the state of the terminal: %w", err)
	}
	p := tea.NewProgram(m, tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithoutSignalHandler())
	ended := make(chan error, 1)
	go func() { // owned by the select below; a blocked terminal can hold it for ever
		defer func() {
			if r := recover(); r != nil {
				ended <- fmt.Errorf("the set-up panicked: %v", r)
			}
		}()
		_, err := p.Run()
		ended <- err
	}()
	for {
		select {
		case err := <-ended:
			if err != nil && ctx.Err() == nil {
				_ = term.Restore(t.In.Fd(), before) // after a panic the library has done so already
				return fmt.Errorf("show the set-up: %w", err)
			}
			return nil
		case <-t.Signals:
			go p.Send(leaveMsg{}) // ends with the program: Send returns when it does
			select {
			case err := <-ended:
				return err
			case <-t.Signals:
			case <-time.After(20 * patience): // a benchmark has its grace to end
			}
			return giveUp(t, p, before, ended)
		case <-ctx.Done():
			return giveUp(t, p, before, ended)
		}
	}
}

// errStuck says that the terminal takes no more output.
var errStuck = errors.New("the terminal takes no more output")

// giveUp ends a program that does not end by itself, and takes the terminal back.
func giveUp(t Terminal, p *tea.Program, before *term.State, ended <-chan error) error {
	go p.Kill() // can wait for the terminal
	select {
	case <-ended: //nolint:errcheck // it was ended, so it says that
		return nil
	case <-time.After(patience):
		_ = term.Restore(t.In.Fd(), before) // there is nothing better to do
		return errStuck
	}
}

// work counts what an interview has begun, so that its end can be waited for. The
// library waits for no command.
type work struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// begin is false once nothing may begin any more.
func (w *work) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.wg.Add(1)
	}
	return !w.closed
}

func (w *work) wait() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wg.Wait()
}
