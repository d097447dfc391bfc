package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"si/learn/skills"
)

// BenchmarkListWarm answers skills_list for 10,000 skills over a pipe; the
// promise is under 50 ms.
func BenchmarkListWarm(b *testing.B) {
	dir := b.TempDir()
	old := time.Now().Add(-time.Hour)
	for i := range 10_000 {
		name := fmt.Sprintf("skill-%05d", i)
		path := filepath.Join(dir, "skills", name, "SKILL.md")
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(skillFile(name, "Does one thing, and is to be used when that thing has to be done")), 0o644)
		}
		if err == nil {
			err = os.Chtimes(path, old, old)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	time.Sleep(2 * time.Second) // a change that is so young is not believed
	lib, err := skills.Open(skills.Options{Base: dir, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), Source{Library: lib}, inR, outW) }()
	defer func() {
		_ = inW.Close()
		<-served
	}()
	answers := bufio.NewReaderSize(outR, 8<<20)
	ask := func(question string) int {
		if _, err := io.WriteString(inW, question+"\n"); err != nil {
			b.Fatal(err)
		}
		line, err := answers.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		return len(line)
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	if _, err := io.WriteString(inW, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		b.Fatal(err)
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"skills_list"}}`
	ask(list)
	began := spent(b)
	for b.Loop() {
		if n := ask(list); n < 8e5 {
			b.Fatal(n, "bytes")
		}
	}
	b.ReportMetric(float64((spent(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op") // what others do on the machine is not in it
}

// spent is the time of all processors that this process has used.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
