package interview

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"si/internal/clean"
)

const (
	tailEvery = 250 * time.Millisecond
	tailBytes = 8 << 10
	tailLines = 40
)

// look reads, a little later, the end of what the benchmark prints.
func (p *trialPage) look(ctx context.Context, m *Model) tea.Cmd {
	dir := m.world.LogDir
	return tea.Tick(tailEvery, func(time.Time) tea.Msg {
		if ctx.Err() != nil {
			return nil
		}
		lines, log := tail(dir)
		return tailMsg{p, lines, log}
	})
}

// tail is the end of the newest log of a folder, made harmless.
func tail(dir string) (lines []string, name string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, ""
	}
	var newest time.Time
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && info.ModTime().After(newest) {
			newest, name = info.ModTime(), e.Name()
		}
	}
	if name == "" {
		return nil, ""
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return nil, name
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, tailBytes))
	if err != nil {
		return nil, name
	}
	for line := range strings.Lines(clean.Text(data)) {
		if line = strings.TrimRight(line, "\n"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-tailLines):], name
}
