package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"si/track"
)

// What si may cost with 16 agents, of which one may print 200 MB.
const (
	mostCore       = 0.32 // of one core
	mostResident   = 60.0 // MB
	mostSupervisor = 16.0 // MB
	talkers        = 16
	floodMB        = 200
)

// BenchmarkAgents is what si itself costs, headless, while 16 planners talk at 200
// lines a second each: its user and system time over a window of 5 s, that of its
// supervisors apart, the most that it was resident with, and the largest own memory of a
// supervisor, whose program's pages are those of si. In the floods one of the 16 prints 200 MB at once. It fails where a limit is
// passed, or a line of a talker, a plan or an event of the journal is lost.
func BenchmarkAgents(b *testing.B) {
	si := buildForAgents(b)
	for _, c := range []struct {
		name, agent string
		flood       bool
	}{
		{"command", "command:talker plain 9s", false},
		{"stream", "claude", false},
		{"command_flood", fmt.Sprintf("command:talker plain 4s planner_a %d", floodMB), true},
		{"stream_flood", "claude", true},
	} {
		b.Run(c.name, func(b *testing.B) {
			var sum agentsCost
			for range b.N {
				m := newTalkTrack(b, si, c.agent, c.flood)
				cost := m.measure()
				m.check(cost)
				sum = sum.plus(cost)
			}
			n := float64(b.N)
			b.ReportMetric(0, "ns/op") // it is the length of the talk
			if !c.flood {
				b.ReportMetric(100*sum.core/n, "%core")
				b.ReportMetric(100*sum.supervisorCore/n, "%core-supervisors")
			}
			b.ReportMetric(sum.resident/n, "MB-peak")
			b.ReportMetric(sum.supervisor/n, "MB-supervisor")
			b.ReportMetric(sum.lines/n, "lines")
		})
	}
}

// agentsCost is what one run cost. core is a part of one core, in the window.
type agentsCost struct{ core, supervisorCore, resident, supervisor, lines float64 }

func (c agentsCost) plus(d agentsCost) agentsCost {
	return agentsCost{c.core + d.core, c.supervisorCore + d.supervisorCore, c.resident + d.resident, c.supervisor + d.supervisor, c.lines + d.lines}
}

// buildForAgents builds si as it is shipped, beside the programs that play.
func buildForAgents(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	si := filepath.Join(dir, "si")
	build := exec.CommandContext(b.Context(), "go", "build", "-o", si, "./si")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	talker, err := exec.LookPath("talker") // testscript.Main put it into PATH
	if err != nil {
		b.Fatal(err)
	}
	if talker, err = filepath.EvalSymlinks(talker); err != nil {
		b.Fatal(err)
	}
	if err := os.Symlink(talker, filepath.Join(dir, "talker")); err != nil {
		b.Fatal(err)
	}
	return si
}

// talkTrack is one run of si with talkers.
type talkTrack struct {
	b     *testing.B
	dir   string
	si    string
	flood bool
	paths track.Paths
}

func newTalkTrack(b *testing.B, si, agent string, flood bool) *talkTrack {
	b.Helper()
	m := &talkTrack{b: b, dir: b.TempDir(), si: si, flood: flood}
	claude := "#!/bin/sh\nexec talker stream 9s\n"
	if flood {
		claude = fmt.Sprintf("#!/bin/sh\nexec talker stream 4s planner_a %d\n", floodMB)
	}
	for name, text := range map[string]string{"bin/claude": claude, "repo/v": "1\n", "home/x": ""} {
		path := filepath.Join(m.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	setUp := m.command("sh", "-c", `git init -q -b main && git add v && git -c user.name=b -c user.email=b@example.org commit -q -m start &&
		exec si init --trust --no-canary --objective "Go faster" --scope . --benchmark "echo '{\"primary\": 1}'" --max-iterations 1 --agents "$1" --agent "$2"`,
		"sh", strconv.Itoa(talkers), agent)
	if out, err := setUp.CombinedOutput(); err != nil {
		b.Fatalf("set up: %v\n%s", err, out)
	}
	repo := filepath.Join(m.dir, "repo")
	var err error
	if m.paths, err = track.Resolve(track.ResolveInput{ProjectRoot: repo, WorkDir: repo}); err != nil {
		b.Fatal(err)
	}
	return m
}

func (m *talkTrack) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(m.b.Context(), name, args...)
	cmd.Dir = filepath.Join(m.dir, "repo")
	cmd.Env = []string{
		"PATH=" + filepath.Join(m.dir, "bin") + ":" + filepath.Dir(m.si) + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(m.dir, "home"),
		"SI_SANDBOX=off", "GIT_CONFIG_NOSYSTEM=1",
	}
	return cmd
}

// measure runs a round. The window begins when all talk.
func (m *talkTrack) measure() (c agentsCost) {
	m.b.Helper()
	cmd := m.command(m.si, "run", "--no-tui")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		m.b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	pid := cmd.Process.Pid
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var begin, end sample
	for {
		select {
		case err := <-ended:
			if err != nil {
				m.b.Fatalf("si run: %v\n%s", err, said.String())
			}
			if span := end.at.Sub(begin.at); !m.flood && span < 4*time.Second {
				m.b.Fatalf("all talked at once for %s only\n%s", span, said.String())
			} else if !m.flood {
				c.core = (end.si - begin.si).Seconds() / span.Seconds()
				c.supervisorCore = (end.supervisors - begin.supervisors).Seconds() / span.Seconds()
			}
			c.lines = float64(m.lines())
			return c
		case <-tick.C:
			s := take(pid)
			c.resident, c.supervisor = max(c.resident, s.resident), max(c.supervisor, s.supervisor)
			switch {
			case s.count < talkers || end.at.Sub(begin.at) > 5*time.Second:
			case begin.at.IsZero():
				begin, end = s, s
			default:
				end = s
			}
		}
	}
}

// sample is what /proc tells of si and its supervisors at one moment.
type sample struct {
	at                   time.Time
	si, supervisors      time.Duration
	resident, supervisor float64 // MB: the peak; the largest one's own, the program's pages are shared
	count                int     // of supervisors
}

func take(pid int) sample {
	s := sample{at: time.Now(), si: cpuOf(pid), resident: statusOf(pid, "VmHWM:")}
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range children {
		data, _ := os.ReadFile(path) // a thread may have ended
		for _, word := range strings.Fields(string(data)) {
			child, _ := strconv.Atoi(word)
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
			if !bytes.Contains(line, []byte("supervis")) { // between its fork and its exec a child shows its parent's memory
				continue
			}
			s.count++
			s.supervisors += cpuOf(child)
			s.supervisor = max(s.supervisor, statusOf(child, "RssAnon:"))
		}
	}
	return s
}

// cpuOf is the user and system time of a process, 0 when it has ended.
func cpuOf(pid int) time.Duration {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(data), ") ") // the name of a program can hold blanks
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64) // fields 14 and 15 of proc(5)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100 on every Linux
}

// statusOf is a field of a process's status that is a size, in MB.
func statusOf(pid int, field string) float64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(data), field)
	var kib float64
	_, _ = fmt.Sscan(rest, &kib)
	return kib / 1024
}

// check wants everything on disk, and the limits kept.
func (m *talkTrack) check(c agentsCost) {
	m.b.Helper()
	want := talkers * 9 * talkRate
	if m.flood {
		want = (talkers - 1) * 4 * talkRate
	}
	if int(c.lines) != want {
		m.b.Errorf("%.0f lines are on disk, %d were said", c.lines, want)
	}
	if c.core > mostCore || c.resident > mostResident || c.supervisor > mostSupervisor {
		m.b.Errorf("%.1f %% of a core, %.1f MB, a supervisor %.1f MB; the limits are %.0f %%, %.0f MB, %.0f MB",
			100*c.core, c.resident, c.supervisor, 100*mostCore, mostResident, mostSupervisor)
	}
	plans, _ := filepath.Glob(filepath.Join(m.paths.RoundPlansDir(1), "*.json"))
	ended := m.ended()
	if len(plans) != talkers || ended != talkers {
		m.b.Errorf("%d plans, and %d planners in the journal, of %d", len(plans), ended, talkers)
	}
}

// lines counts the numbered lines in the logs of the talkers, each once and in order.
func (m *talkTrack) lines() (n int) {
	m.b.Helper()
	logs, _ := filepath.Glob(filepath.Join(m.paths.LogDir(1), "planner_?.log"))
	for _, path := range logs {
		f, err := os.Open(path)
		if err != nil {
			m.b.Fatal(err)
		}
		next := 0
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if bytes.Contains(lines.Bytes(), []byte(spoken(next))) {
				next++
			}
		}
		_ = f.Close()
		n += next
	}
	return n
}

// ended counts the planners that the journal says have ended well.
func (m *talkTrack) ended() (n int) {
	m.b.Helper()
	data, err := os.ReadFile(m.paths.JournalPath())
	if err != nil {
		m.b.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var e track.Event
		if json.Unmarshal(line, &e) == nil && e.Ev == track.EvAgentEnded && strings.HasPrefix(e.Actor, "planner_") {
			n++
		}
	}
	return n
}
