package acp

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// play is an agent program with a fault.
func (a *agent) play(mode string) {
	m, more := a.until("session/prompt")
	if !more {
		return
	}
	switch mode {
	case "works":
		a.text("I work.")
		a.done(m)
	case "dies":
		a.text("half of an ans")
		fmt.Fprintln(os.Stderr, "panic: \x1b[31mout of memory\x1b[0m", os.Getenv("MODEL_KEY"))
		os.Exit(3)
	case "killed":
		a.text("half of an ans")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		forever()
	case "leaves":
		a.text("half of an ans")
	case "flood":
		part := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` +
			strings.Repeat("x", 60<<10) + `"}}}}`
		for n := 0; n < floodBytes; n += len(part) {
			a.say(part)
		}
		a.text("the end")
		a.done(m)
	case "huge line":
		fmt.Fprint(a.out, `{"jsonrpc":"2.0","method":"session/update","params":{"x":"`)
		part := strings.Repeat("y", 1<<20)
		for range 20 {
			fmt.Fprint(a.out, part)
		}
		a.say(`"}}`)
		a.text("after it")
		a.done(m)
	case "no end":
		a.text("done, and still here")
		a.done(m)
		forever()
	case "ignores cancel":
		a.text("working")
		forever()
	case "child":
		child := exec.Command("/bin/sleep", sleeps)
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		child.Stdout, child.Stderr = os.Stdout, os.Stderr // it holds the pipes
		if err := child.Start(); err != nil {
			a.text(err.Error())
			return
		}
		a.text("I left something running.")
		a.done(m)
	}
}

// sleeps tells the child of this test from others.
const sleeps = "876543.25"

// forever never returns, without being a deadlock to the runtime.
func forever() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR2)
	<-never
}
