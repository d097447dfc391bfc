package cmd_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// leakedKey is what the leaky agents know.
const leakedKey = "sk-leaked-never-in-a-file"

// runLeaky is an agent that repeats its key wherever it can, in the words of the
// program that its first argument names. As a researcher it gives a brief with the
// key in it; in all other roles it fails.
func runLeaky() int {
	key := ""
	for _, name := range []string{"MY_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"} {
		if value := os.Getenv(name); value != "" {
			key = value
		}
	}
	fmt.Fprintln(os.Stderr, "my key is", key)
	b := brief()
	b.RepoAnalysisSummary = "a number in a file, and the key " + key
	doc, err := json.Marshal(b)
	if err != nil || key == "" {
		return 9
	}
	if os.Args[1] == "gemini" {
		return leakByACP(key, string(doc))
	}
	prompt, err := io.ReadAll(os.Stdin)
	researches := err == nil && strings.Contains(string(prompt), "the researcher")
	fmt.Println("not JSON:", key)
	text := key
	if researches {
		text = string(doc)
	}
	switch os.Args[1] {
	case "claude":
		fmt.Printf(`{"type":"system","subtype":"init","session_id":"%[1]s","model":"m"}
{"type":"assistant","message":{"content":[{"type":"text","text":%[2]q},{"type":"tool_use","id":"%[1]s","name":"%[1]s","input":{"command":"echo %[1]s"}}]}}
{"type":"result","subtype":"success","is_error":%[3]v,"result":%[2]q,"session_id":"s"}
`, key, text, !researches)
	case "codex":
		fmt.Printf(`{"type":"thread.started","thread_id":"%[1]s"}
{"type":"item.completed","item":{"id":"i","type":"agent_message","text":%[2]q}}
`, key, text)
		if researches {
			fmt.Println(`{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`)
		} else {
			fmt.Printf(`{"type":"turn.failed","error":{"message":"no such key: %s"}}`+"\n", key)
		}
	case "pi":
		stop := "error"
		if researches {
			stop = "stop"
		}
		fmt.Printf(`{"type":"session","id":"%[1]s"}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":%[2]q}],"stopReason":%[3]q,"errorMessage":"no such key: %[1]s"}}
{"type":"agent_end"}
`, key, text, stop)
	default:
		fmt.Println(text)
		if !researches || os.WriteFile(os.Getenv("SI_ANSWER_FILE"), doc, 0o600) != nil {
			return 1
		}
	}
	return 0
}

// leakByACP answers each request, and gives its words in two parts, cut in the key.
func leakByACP(key, doc string) int {
	lines := bufio.NewReader(os.Stdin)
	say := func(text string) {
		fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`+"\n", text)
	}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.ID == nil {
			continue
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":1,"agentCapabilities":{}}`
		case "session/new":
			result = `{"sessionId":"s"}`
		case "session/prompt":
			if !strings.Contains(line, "the researcher") {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no such key: %s"}}`+"\n", m.ID, key)
				continue
			}
			at := strings.Index(doc, key) + 7
			say(doc[:at])
			say(doc[at:])
			result = `{"stopReason":"end_turn"}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// TestNoKeyIsWrittenDown lets programs that know a key say it in every way that they
// have: in their answer, their chatter, their errors, their names. Afterwards no file
// of the machine holds it: no document, no journal, no log, no diary.
func TestNoKeyIsWrittenDown(t *testing.T) {
	for agent, variable := range map[string]string{
		"command:leaky plain": "MY_API_KEY", "claude": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY", "pi": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY",
	} {
		name, _, _ := strings.Cut(agent, ":")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for path, text := range map[string]string{
				"repo/v": "1\n", "home/.config/si/config.yaml": "agent_env: [MY_API_KEY]\n", "bin/" + name: "#!/bin/sh\nexec leaky " + name + "\n",
			} {
				writeFile(t, filepath.Join(dir, path), text)
			}
			repo := filepath.Join(dir, "repo")
			gitIn(t, repo, "init", "-q", "-b", "main")
			gitIn(t, repo, "add", "-A")
			gitIn(t, repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
			si := func(args ...string) (string, error) {
				cmd := exec.CommandContext(t.Context(), program(t, "si"), args...)
				cmd.Dir = repo
				cmd.Env = []string{
					"PATH=" + filepath.Join(dir, "bin") + ":" + filepath.Dir(program(t, "leaky")) + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"),
					"XDG_STATE_HOME=" + filepath.Join(dir, "state"), "GIT_CONFIG_NOSYSTEM=1", "SI_SANDBOX=off", "GORACE=atexit_sleep_ms=0", variable + "=" + leakedKey,
				}
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			out, err := si("init", "--trust", "--no-canary", "--objective", "Raise it", "--scope", "v", "--benchmark", `echo '{"primary": 1}'`, "--max-iterations", "1", "--agents", "1", "--agent", agent)
			if err != nil {
				t.Fatalf("init: %v\n%s", err, out)
			}
			out, _ = si("run", "--no-tui") // that it ends well is not asked for
			hidden, seen := 0, 0
			err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				seen++
				data, err := os.ReadFile(path)
				if strings.Contains(string(data), leakedKey) {
					t.Errorf("%s holds the key", path)
				}
				hidden += strings.Count(string(data), "[key]")
				return err
			})
			if err != nil || seen < 20 || hidden < 4 || strings.Contains(out, leakedKey) {
				t.Errorf("%d files looked at, %d times hidden, %v\n%s", seen, hidden, err, out)
			}
			briefs, err := filepath.Glob(filepath.Join(repo, ".omc/self-improve/topics/default/state/research_briefs/*.json"))
			if err != nil || len(briefs) != 1 {
				t.Errorf("the brief is not there: %v, %v\n%s", briefs, err, out)
			}
		})
	}
}
