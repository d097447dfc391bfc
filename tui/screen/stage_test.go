package screen

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"

	"si/tui"
	"si/tui/feed"
	"si/tui/scene"
	"si/tui/staged"
)

func TestMain(m *testing.M) {
	// The library leaves its reader behind when keys arrive while a program ends.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/charmbracelet/ultraviolet.(*TerminalReader).sendEvents"))
}

// script is a feed that a test tells its news.
type script struct {
	mu    sync.Mutex
	next  feed.Batch
	alive bool
	at    time.Time
	reads chan struct{} // one for each read, when somebody waits for it
}

func (s *script) Read() feed.Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.next
	b.Alive = s.alive
	s.next = feed.Batch{}
	select {
	case s.reads <- struct{}{}:
	default:
	}
	return b
}

func (s *script) Now() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.at }
func (s *script) Close() error   { return nil }

func (s *script) tell(p *staged.Play, facts scene.Facts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next.Events, s.next.Facts, s.at = append(s.next.Events, p.Events...), &facts, p.At
}

func (s *script) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive = false
}

// stage is a screen on a terminal emulator, with somebody who types.
type stage struct {
	t      *testing.T
	emu    *vt.SafeEmulator
	mu     sync.Mutex // of what reads the whole screen
	keys   *io.PipeWriter
	drawn  chan struct{}
	p      *tea.Program
	m      *Model
	feed   *script
	asked  *asked
	done   chan error
	cancel context.CancelFunc
}

// Write puts what the program draws on the emulator, as a terminal driver would
// that maps line feeds.
func (s *stage) Write(b []byte) (int, error) {
	s.mu.Lock()
	_, _ = s.emu.Write([]byte(strings.ReplaceAll(string(b), "\n", "\r\n")))
	s.mu.Unlock()
	select {
	case s.drawn <- struct{}{}:
	default:
	}
	return len(b), nil
}

// newStage opens the screen on what a journal tells, or on an empty one.
func newStage(t *testing.T, w, h int, play *staged.Play, change func(*Options)) *stage {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	in, keys := io.Pipe()
	s := &stage{
		t: t, emu: vt.NewSafeEmulator(w, h), keys: keys, drawn: make(chan struct{}, 1), done: make(chan error, 1), cancel: cancel,
		feed: &script{alive: true, at: staged.Begin()}, asked: &asked{},
	}
	if play != nil {
		s.feed.tell(play, staged.Facts())
	}
	o := Options{Feed: s.feed, Steer: s.asked, Dark: true, Now: s.feed.Now}
	if change != nil {
		change(&o)
	}
	s.m = New(ctx, o)
	s.p = tea.NewProgram(s.m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(s), tea.WithEnvironment([]string{"TERM=xterm-256color"}),
		tea.WithColorProfile(colorprofile.ANSI256), tea.WithWindowSize(w, h), tea.WithoutSignalHandler(), tea.WithFPS(120))
	var wg sync.WaitGroup
	answers := make(chan []byte, 1000)
	wg.Go(func() { // the terminal's answers are input too; it never waits for who reads them
		defer close(answers)
		for {
			b := make([]byte, 256)
			n, err := s.emu.Read(b)
			if err != nil {
				return
			}
			select {
			case answers <- b[:n]:
			default:
			}
		}
	})
	wg.Go(func() {
		for b := range answers {
			_, _ = keys.Write(b)
		}
	})
	wg.Go(func() {
		_, err := s.p.Run()
		s.done <- err
	})
	t.Cleanup(func() {
		cancel()
		_ = keys.Close()
		if w, ok := s.emu.InputPipe().(io.Closer); ok { // its Close races with its Read
			_ = w.Close()
		}
		_ = in.Close()
		wg.Wait()
	})
	return s
}

func (s *stage) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emu.String()
}

// sees waits until the screen shows a text.
func (s *stage) sees(want string) { s.t.Helper(); s.waits(want, true) }

// misses waits until it shows it no more.
func (s *stage) misses(text string) { s.t.Helper(); s.waits(text, false) }

func (s *stage) waits(text string, there bool) {
	s.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		if strings.Contains(s.text(), text) == there {
			return
		}
		select {
		case <-s.drawn:
		case err := <-s.done:
			s.done <- err
			s.t.Fatalf("the screen has ended (%v); %q there: %v in\n%s", err, text, !there, s.text())
		case <-limit:
			s.t.Fatalf("%q there: %v in\n%s", text, !there, s.text())
		}
	}
}

func (s *stage) types(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatal(err)
	}
}

// leaves waits for the end of the screen and says how it was left.
func (s *stage) leaves() Left {
	s.t.Helper()
	select {
	case err := <-s.done:
		s.done <- err
		if err != nil {
			s.t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		s.t.Fatalf("the screen does not end:\n%s", s.text())
	}
	return s.m.Left()
}

// wishes waits until so many things were asked of the loop.
func (s *stage) wishes(n int) []tui.Wish {
	s.t.Helper()
	for range 1000 {
		if got := s.asked.all(); len(got) >= n {
			return got
		}
		select {
		case <-s.drawn:
		case <-time.After(10 * time.Millisecond): // a wish draws nothing by itself
		}
	}
	s.t.Fatalf("asked for %v, want %d wishes", s.asked.all(), n)
	return nil
}
