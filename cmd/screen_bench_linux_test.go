package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"si/track"
	"si/tui/staged"
)

// talk is how many lines each agent says a second, and talkBeat how often it says
// some of them.
const (
	talk     = 200
	talkBeat = 25 * time.Millisecond
)

// BenchmarkScreen is what `si watch` costs on a terminal of 160 × 48 that takes
// all output, while so many agents say 200 lines a second each: the time to the
// first frame that shows the loop, the user and system time of its process over a
// window (5 s, or SI_SCREEN_WINDOW), its peak memory, the longest of 20 times from a
// key to what it opens, and how old the newest line on the screen is. With no agent
// the loop waits and tells nothing.
func BenchmarkScreen(b *testing.B) {
	si := buildSi(b)
	for _, agents := range []int{0, 1, 4, 16} {
		b.Run(fmt.Sprintf("panes=%d", agents), func(b *testing.B) {
			var sum screenCost
			for range b.N {
				sum = sum.plus(measureScreen(b, si, agents))
			}
			n := float64(b.N)
			b.ReportMetric(0, "ns/op") // it is the length of the window
			b.ReportMetric(sum.frame.Seconds()*1000/n, "ms-frame")
			b.ReportMetric(100*sum.cpu/n, "%core")
			b.ReportMetric(sum.peak/n, "MB-peak")
			b.ReportMetric(sum.key.Seconds()*1000/n, "ms-key")
			b.ReportMetric(sum.age.Seconds()*1000/n, "ms-old")
		})
	}
}

// screenCost is what one showing cost. cpu is a part of one core.
type screenCost struct {
	frame, key, age time.Duration
	cpu, peak       float64
}

func (c screenCost) plus(d screenCost) screenCost {
	return screenCost{c.frame + d.frame, c.key + d.key, c.age + d.age, c.cpu + d.cpu, c.peak + d.peak}
}

func measureScreen(b *testing.B, si string, agents int) (c screenCost) {
	b.Helper()
	paths, repo := loudTrack(b, si, agents)
	lock, err := track.AcquireLock(paths.LockPath(), track.Holder{Command: "si run"})
	if err != nil {
		b.Fatal(err)
	}
	defer lock.Release()
	said, stop := loud(b, paths, agents)
	defer stop()
	cmd := exec.Command(si, "watch")
	cmd.Dir, cmd.Env = repo, screenEnv(repo)
	begin := time.Now()
	y := onTerminal(b, 160, 48, cmd)
	y.sees("Make the parser faster")
	c.frame = time.Since(begin)
	if agents > 0 {
		y.sees("executor_" + letterOf(agents-1))
	}
	<-time.After(time.Second) // what starting costs is over
	from, at := processorTime(b, cmd.Process.Pid), time.Now()
	<-time.After(screenWindow(b))
	c.cpu = (processorTime(b, cmd.Process.Pid) - from).Seconds() / time.Since(at).Seconds()
	if agents > 0 {
		c.age = time.Duration(said()-newest(b, y)) * time.Second / talk
	}
	c.key = slowestKey(y)
	c.peak = peakMemory(b, cmd.Process.Pid)
	y.types("q")
	y.sees("leave it running")
	y.types("l")
	y.ends(0)
	return c
}

// newest is the highest number of a line on the screen.
func newest(b *testing.B, y *tty) (n int) {
	b.Helper()
	for _, m := range regexp.MustCompile(`line (\d+): the`).FindAllStringSubmatch(y.text(), -1) {
		at, err := strconv.Atoi(m[1])
		if err != nil {
			b.Fatal(err)
		}
		n = max(n, at)
	}
	return n
}

// slowestKey is the longest of the times from a key to the page that it opens or
// closes.
func slowestKey(y *tty) (slowest time.Duration) {
	for range 10 {
		for _, step := range [][2]string{{"?", "What is seen"}, {"q", "enter zoom"}} {
			begin := time.Now()
			y.types(step[0])
			y.sees(step[1])
			slowest = max(slowest, time.Since(begin))
		}
	}
	return slowest
}

func screenEnv(repo string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(repo), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1"}
}

func screenWindow(b *testing.B) time.Duration {
	b.Helper()
	text := os.Getenv("SI_SCREEN_WINDOW")
	if text == "" {
		return 5 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		b.Fatalf("SI_SCREEN_WINDOW: %v", err)
	}
	return d
}

func letterOf(i int) string { return string(rune('a' + i)) }

// loudTrack is a track in whose second round so many executors are at work.
func loudTrack(b *testing.B, si string, agents int) (track.Paths, string) {
	b.Helper()
	repo := filepath.Join(b.TempDir(), "repo")
	writeFile(b, filepath.Join(repo, "x"), "x\n")
	setUp := exec.Command("sh", "-c", `git init -q -b main && git add x && git -c user.name=b -c user.email=b@example.org commit -q -m start &&
		"$1" init --trust --no-canary --objective "Make the parser faster" --scope . --benchmark "echo '{\"primary\": 1}'"`, "sh", si)
	setUp.Dir, setUp.Env = repo, screenEnv(repo)
	if out, err := setUp.CombinedOutput(); err != nil {
		b.Fatalf("set up: %v\n%s", err, out)
	}
	paths, err := track.Resolve(track.ResolveInput{ProjectRoot: repo, WorkDir: repo})
	if err != nil {
		b.Fatal(err)
	}
	play := staged.Won().Open(2, 371.5).Plans()
	for i := range agents {
		play.Agent("executor", "executor_"+letterOf(i))
	}
	var journal strings.Builder
	shift := time.Since(play.At)
	for _, e := range play.Events {
		e.TS = e.TS.Add(shift)
		line, err := json.Marshal(e)
		if err != nil {
			b.Fatal(err)
		}
		journal.Write(append(line, '\n'))
	}
	writeFile(b, paths.JournalPath(), journal.String())
	if err := os.MkdirAll(paths.LogDir(2), 0o755); err != nil {
		b.Fatal(err)
	}
	return paths, repo
}

// loud lets the agents talk until stop is called; said is how many lines each has
// said.
func loud(b *testing.B, paths track.Paths, agents int) (said func() int, stop func()) {
	b.Helper()
	files := make([]*os.File, agents)
	for i := range files {
		f, err := os.OpenFile(paths.ActivityPath(2, "executor_"+letterOf(i), 1), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			b.Fatal(err)
		}
		files[i] = f
	}
	var lines atomic.Int64
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(talkBeat)
		defer tick.Stop()
		begin, from := time.Now(), 0
		for {
			select {
			case <-quit:
				return
			case now := <-tick.C:
				due := int(now.Sub(begin).Seconds() * talk)
				for _, f := range files {
					_, _ = f.WriteString(talkLines(from, due, now)) // a full disk shows as silence
				}
				from = due
				lines.Store(int64(due))
			}
		}
	}()
	return func() int { return int(lines.Load()) }, func() {
		close(quit)
		<-gone
		for _, f := range files {
			_ = f.Close()
		}
	}
}

// talkLines are the activities from one number to another: mostly text, some tool
// calls and what they print.
func talkLines(from, to int, now time.Time) string {
	var out strings.Builder
	for n := from; n < to; n++ {
		a := track.Activity{At: now, Kind: "text", Text: fmt.Sprintf("line %d: the scanner reads its input in blocks and looks each byte up in a table\n", n)}
		switch n % 20 {
		case 7:
			a = track.Activity{At: now, Kind: "tool_start", Tool: "shell", Text: "go test -run '^$' -bench Parse ./parser"}
		case 8, 9:
			a = track.Activity{At: now, Kind: "tool_output", Text: fmt.Sprintf("BenchmarkParse-2   %d   402113 ns/op\n", n)}
		case 10:
			a = track.Activity{At: now, Kind: "tool_end", Tool: "shell", Text: "ok   parser 2.1s"}
		}
		line, err := json.Marshal(a)
		if err != nil {
			return ""
		}
		out.Write(append(line, '\n'))
	}
	return out.String()
}

// processorTime is the user and system time of a process so far.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), ") ") // the name of a program can hold blanks
	fields := strings.Fields(rest)
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime, fields 14 and 15 of proc(5)
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 on every Linux
}

// peakMemory is the most that a process was resident with, in MB.
func peakMemory(b *testing.B, pid int) float64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
