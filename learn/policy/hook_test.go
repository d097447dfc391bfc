package policy

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

func TestHook(t *testing.T) {
	p := table(t, "AUTO", "GATED docs/**", "KERNEL secret/**")
	for name, c := range map[string]struct{ question, want, reason string }{
		"a free path":               {`{"tool_name":"Write","tool_input":{"file_path":"TOP/src/a.go","content":"secret/x"}}`, HookSilent, ""},
		"a gated path":              {`{"tool_name":"Edit","tool_input":{"file_path":"TOP/docs/a.md"}}`, HookAsk, "GATED by docs/**"},
		"a kernel path":             {`{"tool_name":"Write","tool_input":{"file_path":"TOP/secret/a"}}`, HookDeny, "KERNEL by secret/**"},
		"relative to the folder":    {`{"cwd":"TOP/secret","tool_name":"Write","tool_input":{"file_path":"a"}}`, HookDeny, "KERNEL"},
		"the worst of several":      {`{"tool_name":"MultiEdit","tool_input":{"edits":[{"file_path":"TOP/docs/a"},{"file_path":"TOP/secret/b"},{"file_path":"TOP/c"}]}}`, HookDeny, "secret/b"},
		"a notebook":                {`{"tool_name":"NotebookEdit","tool_input":{"notebook_path":"TOP/secret/b.ipynb"}}`, HookDeny, "KERNEL"},
		"another server's tool":     {`{"tool_name":"mcp__fs__write","tool_input":{"path":"TOP/secret/b"}}`, HookDeny, "KERNEL"},
		"reading":                   {`{"tool_name":"Read","tool_input":{"file_path":"TOP/secret/a"}}`, HookSilent, ""},
		"a command":                 {`{"cwd":"TOP","tool_name":"Bash","tool_input":{"command":"echo x > secret/a"}}`, HookDeny, "KERNEL"},
		"a command in quotes":       {`{"cwd":"TOP","tool_name":"Bash","tool_input":{"command":"sh -c 'cp x \".si/policies/autonomy.yaml\"'"}}`, HookDeny, "KERNEL"},
		"a command about the rest":  {`{"cwd":"TOP","tool_name":"Bash","tool_input":{"command":"go test ./... > /tmp/x.log"}}`, HookSilent, ""},
		"a run of the benchmark":    {`{"cwd":"TOP","tool_name":"Bash","tool_input":{"command":"sh bench/run.sh"}}`, HookSilent, ""},
		"an edit of the benchmark":  {`{"cwd":"TOP","tool_name":"Edit","tool_input":{"file_path":"bench/run.sh"}}`, HookDeny, "sealed"},
		"outside":                   {`{"tool_name":"Write","tool_input":{"file_path":"/etc/passwd"}}`, HookDeny, "outside"},
		"nothing":                   {``, HookDeny, "not understood"},
		"no JSON":                   {`hello`, HookDeny, "not understood"},
		"no tool":                   {`{"tool_input":{}}`, HookDeny, "names no tool"},
		"a write without a path":    {`{"tool_name":"Write","tool_input":{"content":"x"}}`, HookDeny, "names no path"},
		"an input that is no value": {`{"tool_name":"Write"}`, HookDeny, "tool_input"},
		"a list for an object":      {`[]`, HookDeny, "not understood"},
	} {
		t.Run(name, func(t *testing.T) {
			a := p.Hook(strings.NewReader(strings.ReplaceAll(c.question, "TOP", p.top)))
			if a.Decision != c.want || !strings.Contains(a.Reason, c.reason) {
				t.Errorf("%+v", a)
			}
			if a.Broken != strings.Contains(a.Reason, "the answer is no") {
				t.Errorf("%+v", a)
			}
			if (a.JSON() == "") != (a.Decision == HookSilent) || a.Decision != "" && !strings.Contains(a.JSON(), `"permissionDecision":"`+a.Decision+`"`) {
				t.Errorf("%s", a.JSON())
			}
		})
	}
	if a := p.Hook(iotest.ErrReader(errors.New("gone"))); a.Decision != HookDeny || !a.Broken {
		t.Errorf("%+v", a)
	}
}

func FuzzHook(f *testing.F) {
	f.Add(`{"tool_name":"Bash","cwd":"/a","tool_input":{"command":["a/b",{"x":1}]}}`)
	f.Add(`{"tool_name":"Write","tool_input":{"file_path":"\u0000../x"}}`)
	p := &Policy{Default: Gated, top: "/nowhere"}
	f.Fuzz(func(t *testing.T, question string) {
		a := p.Hook(strings.NewReader(question))
		if a.Decision != HookSilent && a.Decision != HookAsk && a.Decision != HookDeny {
			t.Errorf("%+v", a)
		}
	})
}
