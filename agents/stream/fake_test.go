package stream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"si/agents"
	"si/internal/proc"
	"si/internal/sandbox"
)

// modeKey makes the test binary play an agent program.
const modeKey = "AGENT_MODE"

func TestMain(m *testing.M) {
	if code, was := sandbox.Exec(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	if mode := os.Getenv(modeKey); mode != "" {
		syscall.Exit(play(mode, os.Stdin, os.Stdout)) // as above
	}
	os.Exit(m.Run())
}

const done = `{"say":"done","text":"all good"}` + "\n"

// play is the agent program. Most modes read their prompt first.
func play(mode string, stdin io.Reader, stdout io.Writer) int {
	out := func(text string) { fmt.Fprint(stdout, text) }
	if mode != "deaf" && mode != "not logged in" {
		prompt, err := io.ReadAll(stdin) // without the end of stdin this never returns
		if err != nil || len(prompt) == 0 {
			return 90
		}
		out(`{"say":"start","text":` + quote(string(prompt[:min(len(prompt), 100)])) + "}\n")
	}
	switch mode {
	case "good", "deaf":
		out(`{"say":"text","text":"working"}` + "\n" + done)
	case "giant line":
		out(`{"say":"text","text":"` + strings.Repeat("x", 20<<20) + `"}` + "\n" + done)
	case "no last newline":
		out(strings.TrimSpace(done))
	case "chatter":
		out("Loading…\n\n{broken json\n[1]\n\x1b[2K\x1b[1G" + `{"say":"text","text":"a"}` + "\r\n   " + done + "bye\n")
	case "no end":
		out(`{"say":"text","text":"half an answ`)
	case "no end, code":
		fmt.Fprintln(os.Stderr, "Error: \x1b[31mcannot open display\x1b[0m "+os.Getenv("MY_API_KEY"))
		return 3
	case "error, code 0":
		out(`{"say":"failed","text":"unexpected status 429 with sk-0123456789; try again in 2 hours"}` + "\n")
	case "not logged in":
		fmt.Fprintln(os.Stderr, "Not logged in · Please run /login")
		return 1
	case "never ends":
		out(done)
		forever()
	case "ignores TERM":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		out(done)
		forever()
	case "leaves a child":
		c := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 98765")
		c.Stdout, c.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
		if c.Start() != nil {
			return 91
		}
		out(done)
	case "goes on":
		out(done + `{"say":"more"}` + "\n")
		forever()
	case "silent":
		forever()
	case "asks":
		out(`{"say":"asks","text":"may I?"}` + "\n")
		if line, err := bufio.NewReader(stdin).ReadString('\n'); err == nil || line != "" {
			return 92 // somebody answered
		}
		forever()
	case "loops":
		for i := 0; ; i++ {
			out(`{"say":"tool","text":"step ` + fmt.Sprint(i) + `"}` + "\n")
		}
	case "repeats":
		for {
			out(`{"say":"tool","text":"same"}` + "\n")
		}
	case "flood":
		line := bytes.Repeat([]byte(`{"say":"text","text":"`+strings.Repeat("y", 20_000)+`"}`+"\n"), 50)
		for range floodMiB << 20 / len(line) {
			if _, err := stdout.Write(line); err != nil {
				return 93
			}
		}
		out(done)
	case "waits for a file":
		out(`{"say":"text","text":"now"}` + "\n")
		for {
			if _, err := os.Stat(os.Getenv("FILE")); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		out(done)
	case "panics its reader":
		out(`{"say":"panic"}` + "\n")
	}
	return 0
}

// forever never returns, without being a deadlock to the runtime.
func forever() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR2)
	<-never
}

func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(data)
}

// fakeProgram starts the test binary; fakeDialect reads what it says.
type fakeProgram struct {
	o     Options
	notes []string
}

func (p fakeProgram) Order(t agents.Task, dir string) (Order, error) {
	return Order{
		Env: p.o.Environment(t, Keys{Own: []string{"MY_API_KEY"}, Foreign: []string{"OTHER_"}}), Stdin: t.Prompt,
		Files: map[string][]byte{"note": []byte(dir)}, Notes: p.notes,
	}, nil
}

func (p fakeProgram) Dialect(agents.Task, func() time.Time) Dialect { return &fakeDialect{} }

type fakeDialect struct {
	done         bool
	text, failed string
}

func (d *fakeDialect) Line(data []byte) []agents.Event {
	var l struct{ Say, Text string }
	if json.Unmarshal(data, &l) != nil {
		return nil
	}
	switch l.Say {
	case "start":
		return []agents.Event{{Kind: agents.EventStarted, Session: "s-1", Text: l.Text}}
	case "text":
		return []agents.Event{{Kind: agents.EventText, Text: l.Text}}
	case "tool":
		return []agents.Event{{Kind: agents.EventToolStart, Tool: "t", Text: l.Text}}
	case "asks":
		return []agents.Event{{Kind: agents.EventPermission, Text: l.Text}}
	case "more":
		d.done = false
	case "done":
		d.done, d.text = true, l.Text
	case "failed":
		d.done, d.failed = true, l.Text
	case "panic":
		panic(errors.New("a bug"))
	}
	return nil
}

func (d *fakeDialect) Long(head []byte) []agents.Event {
	return []agents.Event{{Kind: agents.EventNotice, Text: string(head[:20])}}
}

func (d *fakeDialect) Done() bool { return d.done }

func (d *fakeDialect) End(Exit) Verdict {
	switch {
	case d.failed != "":
		return Failed(d.failed, 0, time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC), time.UTC)
	case d.done:
		return Verdict{Text: d.text}
	}
	return Unfinished()
}
