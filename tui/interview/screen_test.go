package interview_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"

	"si/tui/interview"
)

// terminal runs an interview on an emulated terminal.
type terminal struct {
	t     *testing.T
	emu   *vt.SafeEmulator
	keys  *io.PipeWriter
	drawn chan struct{}
	done  chan struct{}
	model *interview.Model
	mu    sync.Mutex
}

// Write draws; lines end in \n only, as a program in raw mode would not send them.
func (s *terminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	_, err := s.emu.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	s.mu.Unlock()
	select {
	case s.drawn <- struct{}{}:
	default:
	}
	return len(p), err
}

// play starts an interview in a terminal of w × h.
func play(t *testing.T, world interview.World, w, h int) *terminal {
	t.Helper()
	in, keys := io.Pipe()
	s := &terminal{t: t, emu: vt.NewSafeEmulator(w, h), keys: keys, drawn: make(chan struct{}, 1), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	s.model = interview.New(ctx, world)
	program := tea.NewProgram(s.model, tea.WithInput(in), tea.WithOutput(s), tea.WithWindowSize(w, h), tea.WithoutSignalHandler(), tea.WithFPS(120), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	var wg sync.WaitGroup
	wg.Go(func() { // the emulator answers what the program asks the terminal
		buf := make([]byte, 256)
		for {
			if _, err := s.emu.Read(buf); err != nil {
				return
			}
		}
	})
	wg.Go(func() {
		defer close(s.done)
		if _, err := program.Run(); err != nil && ctx.Err() == nil {
			t.Errorf("the program: %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		program.Kill()
		_ = keys.Close()
		if pipe, ok := s.emu.InputPipe().(io.Closer); ok { // its Close races with its Read
			_ = pipe.Close()
		}
		s.model.Close()
		wg.Wait()
	})
	return s
}

// text is the screen as lines without trailing blanks.
func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Split(s.emu.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// sees waits until the screen holds every text.
func (s *terminal) sees(texts ...string) {
	s.t.Helper()
	limit := time.After(15 * time.Second)
	for {
		screen, missing := s.text(), ""
		for _, want := range texts {
			if !strings.Contains(screen, want) {
				missing = want
			}
		}
		if missing == "" {
			return
		}
		select {
		case <-s.drawn:
		case <-s.done:
			if strings.Contains(s.text(), missing) {
				return
			}
			s.t.Fatalf("the interview ended before %q was seen:\n%s", missing, s.text())
		case <-limit:
			s.t.Fatalf("%q was never seen:\n%s", missing, screen)
		}
	}
}

// press sends keys; names in < > are keys, all else is typed.
func (s *terminal) press(keys ...string) {
	s.t.Helper()
	named := map[string]string{
		"<enter>": "\r", "<esc>": "\x1b", "<tab>": "\t", "<up>": "\x1b[A", "<down>": "\x1b[B", "<left>": "\x1b[D", "<right>": "\x1b[C",
		"<ctrl+c>": "\x03", "<ctrl+j>": "\n", "<ctrl+u>": "\x15", "<shift+tab>": "\x1b[Z",
	}
	for _, k := range keys {
		if code, ok := named[k]; ok {
			k = code
		}
		if _, err := io.WriteString(s.keys, k); err != nil {
			s.t.Fatal(err)
		}
	}
}

// ends waits for the end of the interview.
func (s *terminal) ends() interview.Outcome {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(15 * time.Second):
		s.t.Fatalf("the interview did not end:\n%s", s.text())
	}
	return s.model.Outcome()
}
