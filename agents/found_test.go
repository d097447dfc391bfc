package agents

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"si/internal/proc"
)

// machine is a home and a folder of programs.
type machine struct {
	home, bin string
	vars      map[string]string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{home: t.TempDir(), bin: t.TempDir()}
	m.vars = map[string]string{"HOME": m.home, "PATH": m.bin + ":/usr/bin:/bin", "OLLAMA_HOST": "127.0.0.1:1"}
	return m
}

func (m *machine) install(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) touch(t *testing.T, path string) {
	t.Helper()
	path = filepath.Join(m.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("secret"), 0o000); err != nil { // nobody may read it
		t.Fatal(err)
	}
}

func (m *machine) found(ctx context.Context, t *testing.T) map[string]Candidate {
	t.Helper()
	out := map[string]Candidate{}
	for _, c := range Found(ctx, proc.New(proc.Options{Mark: "found-test"}), func(name string) (string, bool) { v, ok := m.vars[name]; return v, ok }) {
		out[c.Name] = c
	}
	return out
}

func TestFoundOnAnEmptyMachine(t *testing.T) {
	m := newMachine(t)
	m.vars["PATH"] = m.bin
	got := m.found(t.Context(), t)
	if len(got) != 11 {
		t.Errorf("%d candidates: %v", len(got), got)
	}
	for name, c := range got {
		want := Missing
		if name == "openai" || name == "anthropic" {
			want = LoggedOut
		}
		if c.State != want || c.Hint == "" || c.Version != "" {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestFoundPrograms(t *testing.T) {
	m := newMachine(t)
	m.install(t, "claude", `echo "2.1.332 (Claude Code)"`)
	m.install(t, "codex", `echo "WARNING: odd" >&2; echo "codex-cli 0.171.0"; test -z "$OPENAI_API_KEY" || echo leaked >&2 && exit 0`)
	m.install(t, "gemini", `test -z "$GEMINI_API_KEY$GIT_DIR" && echo 0.61.0`)
	m.install(t, "opencode", `printf '\033[31m1.18.33\033[0m'`)
	m.install(t, "qwen", `echo "cannot find node" >&2; exit 127`)
	m.install(t, "copilot", `echo "copilot version: v1.34.0"`)
	m.install(t, "goose", `echo "goose version:v3.21.1"`)
	m.install(t, "pi", `echo 1.6.0`)
	m.touch(t, ".claude/.credentials.json")
	m.touch(t, ".codex/config.toml")
	m.touch(t, ".local/share/opencode/auth.json")
	m.vars["GEMINI_API_KEY"], m.vars["GIT_DIR"] = "k", "/x"
	m.vars["PI_CODING_AGENT_DIR"] = filepath.Join(m.home, "elsewhere")
	m.touch(t, ".pi/agent/auth.json") // not where pi was told to look
	delete(m.vars, "GEMINI_API_KEY")
	got := m.found(t.Context(), t)
	for _, want := range []Candidate{
		{"claude", filepath.Join(m.bin, "claude"), "2.1.332", Ready, "by ~/.claude/.credentials.json"},
		{"codex", filepath.Join(m.bin, "codex"), "0.171.0", Ready, "no login was seen; ~/.codex/config.toml may name a provider"},
		{"gemini", filepath.Join(m.bin, "gemini"), "0.61.0", LoggedOut, "run gemini once and log in, or set GEMINI_API_KEY"},
		{"opencode", filepath.Join(m.bin, "opencode"), "1.18.33", Ready, "by ~/.local/share/opencode/auth.json"},
		{"qwen", filepath.Join(m.bin, "qwen"), "", LoggedOut, "it does not run: --version ended with code 127: cannot find node"},
		{"pi", filepath.Join(m.bin, "pi"), "1.6.0", LoggedOut, "run pi once and log in with /login"},
	} {
		if got[want.Name] != want {
			t.Errorf("%+v, want %+v", got[want.Name], want)
		}
	}
	for _, name := range []string{"copilot", "goose"} {
		if c := got[name]; c.State != Missing || !strings.Contains(c.Hint, "another program of this name") {
			t.Errorf("%+v", c)
		}
	}
}

func TestFoundGivesNoKeyToAProgram(t *testing.T) {
	m := newMachine(t)
	m.vars["ANTHROPIC_API_KEY"], m.vars["GEMINI_API_KEY"] = "sk-1", "sk-2"
	m.install(t, "gemini", `test -z "$GEMINI_API_KEY$ANTHROPIC_API_KEY" && echo 0.61.0`)
	if c := m.found(t.Context(), t)["gemini"]; c.Version != "0.61.0" || c.State != Ready || c.Hint != "by GEMINI_API_KEY" {
		t.Errorf("%+v", c)
	}
}

func TestFoundEndsWithItsContext(t *testing.T) {
	m := newMachine(t)
	m.install(t, "pi", `exec sleep 100`)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if c := m.found(ctx, t)["pi"]; c.State == Ready || c.Version != "" {
		t.Errorf("%+v", c)
	}
}

func TestFoundServers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"version":"0.9.1"}`)) }))
	defer server.Close()
	m := newMachine(t)
	m.vars["OLLAMA_HOST"] = strings.TrimPrefix(server.URL, "http://")
	m.vars["OPENAI_BASE_URL"] = "http://user:secret@box:8000/v1?key=x"
	m.vars["ANTHROPIC_API_KEY"] = "k"
	got := m.found(t.Context(), t)
	if c := got["ollama"]; c.State != Ready || c.Version != "0.9.1" || c.Path != server.URL+"/v1" {
		t.Errorf("%+v", c)
	}
	if c := got["openai"]; c.State != Ready || c.Path != "http://box:8000/v1" {
		t.Errorf("%+v", c)
	}
	if c := got["anthropic"]; c.State != Ready || c.Path != "https://api.anthropic.com" {
		t.Errorf("%+v", c)
	}
}

func TestOllamaIsAskedOnThisMachineOnly(t *testing.T) {
	for in, want := range map[string]string{
		"": "http://127.0.0.1:11434", "0.0.0.0": "http://127.0.0.1:11434", "0.0.0.0:8080": "http://127.0.0.1:8080", "localhost:99": "http://localhost:99",
		"http://[::1]:5": "http://[::1]:5", "evil.example:11434": "", "10.0.0.3": "", "http://": "", "\x00": "",
	} {
		if got := OllamaURL(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
