package screen

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

// fps bounds the frames a second: a key is seen within 22 ms, and an idle screen
// wakes no oftener than that. Each ten of them cost an idle screen 0.2 % of a core.
const fps = 45

// patience is how long a terminal has to take the last output. One that is blocked
// (a stalled connection, a stopped multiplexer) would hold the program for ever.
const patience = 2 * time.Second

// Terminal is where the screen is drawn.
type Terminal struct {
	In, Out *os.File
	Env     []string
	Signals <-chan os.Signal // what arrives there is handled as keys are; nil: nothing does
}

// Fits reports whether a full screen can be shown: both ends are terminals, and
// ones that can move a cursor.
func Fits(in, out any, termName string) bool {
	i, ok := in.(*os.File)
	if !ok || !term.IsTerminal(i.Fd()) {
		return false
	}
	o, ok := out.(*os.File)
	return ok && term.IsTerminal(o.Fd()) && termName != "dumb" && termName != ""
}

// Run shows the screen until a person leaves it or ctx ends. The terminal is as it
// was before when Run returns, also after a panic. The model of the last frame says
// how it ended.
func Run(ctx context.Context, t Terminal, o Options) (*Model, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before, err := term.GetState(t.In.Fd())
	if err != nil {
		return nil, fmt.Errorf("read the state of the terminal: %w", err)
	}
	m := New(ctx, o)
	p := tea.NewProgram(m, tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithContext(ctx),
		tea.WithoutSignalHandler(), tea.WithFPS(fps))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { passSignals(ctx, p, t.Signals, cancel) })
	ended := make(chan error, 1)
	go func() { // owned by the select below; a blocked terminal can hold it for ever
		defer func() {
			if r := recover(); r != nil {
				ended <- fmt.Errorf("the screen panicked: %v", r)
			}
		}()
		_, err := p.Run()
		ended <- err
	}()
	select {
	case err = <-ended:
	case <-m.going:
		err = waitOrRestore(t, before, ended)
	case <-ctx.Done():
		err = waitOrRestore(t, before, ended)
	}
	return result(m, t, before, err)
}

// passSignals hands signals to the program. A program that takes none within
// patience is stuck in its output, and is given up.
func passSignals(ctx context.Context, p *tea.Program, signals <-chan os.Signal, giveUp func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-signals:
			taken := make(chan struct{})
			go func() { // ends with the program: Send returns when it does
				defer close(taken)
				p.Send(signalMsg{s})
			}()
			select {
			case <-taken:
			case <-ctx.Done():
				return
			case <-time.After(patience):
				giveUp()
				return
			}
		}
	}
}

// errStuck says that the terminal takes no more output.
var errStuck = errors.New("the terminal takes no more output")

// waitOrRestore gives the program its time to end by itself, and then takes the
// terminal back without it.
func waitOrRestore(t Terminal, before *term.State, ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		discardOutput(t.Out)
		_ = term.Restore(t.In.Fd(), before) // there is nothing better to do
		return errStuck
	}
}

func result(m *Model, t Terminal, before *term.State, err error) (*Model, error) {
	switch {
	case err == nil && m.err != nil:
		return m, m.err
	case errors.Is(err, errStuck):
		m = &Model{left: Stuck, scene: m.scene} // the other one may still be drawing
		return m, nil
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic):
		return m, nil
	}
	_ = term.Restore(t.In.Fd(), before) // after a panic the library has done so already
	return m, fmt.Errorf("show the screen: %w", err)
}

// Left says how the screen was left.
func (m *Model) Left() Left { return m.left }

// Ended reports whether the last run in the journal has ended.
func (m *Model) Ended() bool { return !m.scene.Live() }
