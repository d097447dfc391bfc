package httpmodel_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/agents"
	"si/internal/modelserver"
)

func TestTheKeyIsSaidNowhere(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		echo := modelserver.Fault{Status: 401, Said: "Incorrect API key provided: " + key}
		p := newPlayer(t, wire, inTurn(modelserver.Reply{Text: "your key is " + key, Calls: []modelserver.Call{{Name: "read", Args: `{"path":"a"}`}}}, fault(echo)))
		write(t, p.task.Dir, "a", "found "+key)
		_, err := p.play(t.Context())
		f := failure(t, err)
		contains(t, "failure", f.Error(), "Incorrect API key provided: [key]")
		all := f.Error() + p.log(t) + fmt.Sprintf("%+v", f.Err)
		for _, e := range p.events {
			all += e.Text + e.Tool
		}
		all += p.server.Requests()[1].Results()[0].Text
		if strings.Contains(all, key) {
			t.Errorf("the key is in %s", all)
		}
		h := p.server.Requests()[0].Header
		if h.Get("Authorization")+h.Get("X-Api-Key") != map[string]string{"openai": "Bearer " + key, "anthropic": key}[wire] {
			t.Errorf("header %v", h)
		}
	})
}

func TestNothingIsSentToWhereAServerSendsUs(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		other := newPlayer(t, wire, inTurn(said("I have your key.")))
		target := other.o.BaseURL + other.wire.Path()
		p := newPlayer(t, wire, inTurn(fault(modelserver.Fault{Status: http.StatusTemporaryRedirect, Redirect: target})))
		_, err := p.play(t.Context())
		f := failure(t, err)
		if f.Kind != agents.FailModel || !strings.Contains(f.Error(), "which is another one") || len(other.server.Requests()) > 0 {
			t.Errorf("%v; the other server got %d requests", f, len(other.server.Requests()))
		}
	})
}

func TestARedirectOnTheSameServerIsFollowed(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		var p *player
		p = newPlayer(t, wire, func(r modelserver.Request) modelserver.Reply {
			if r.N == 1 {
				return fault(modelserver.Fault{Status: http.StatusPermanentRedirect, Redirect: p.o.BaseURL + p.wire.Path()})
			}
			return said("Done.")
		})
		if answer, err := p.play(t.Context()); err != nil || answer.Text != "Done." {
			t.Errorf("answer %q, error %v", answer.Text, err)
		}
	})
}

func TestTheProxyIsThatOfTheTask(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // of this process: not to be used
		for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
			p := newPlayer(t, wire, inTurn(said("By the proxy.")))
			p.task.Env = append(p.task.Env, name+"="+p.server.URL())
			p.o.BaseURL = "http://model.invalid/v1"
			answer, err := p.play(t.Context())
			if err != nil || answer.Text != "By the proxy." {
				t.Errorf("%s: answer %q, error %v", name, answer.Text, err)
			}
			p = newPlayer(t, wire, inTurn(said("Directly.")))
			p.task.Env = append(p.task.Env, name+"=http://127.0.0.1:1")
			if answer, err := p.play(t.Context()); err != nil || answer.Text != "Directly." {
				t.Errorf("%s: the machine itself: answer %q, error %v", name, answer.Text, err)
			}
		}
	})
}

func TestEscapeCodesAreTakenOut(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		p := newPlayer(t, wire, inTurn(modelserver.Reply{Text: "red \x1b[31mtext\x1b[0m\a", Parts: 9}))
		if _, err := p.play(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := p.kinds(agents.EventText); len(got) != 1 || got[0].Text != "red text" || strings.Contains(p.log(t), "\x1b") {
			t.Errorf("events %+v", got)
		}
	})
}

// An agent of an earlier task may have left a link where the next log is to be.
func TestALogReplacesALink(t *testing.T) {
	p := newPlayer(t, "openai", inTurn(said("Done.")))
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(p.task.Log), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, p.task.Log); err != nil {
		t.Fatal(err)
	}
	if _, err := p.play(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "mine" {
		t.Errorf("the file behind the link holds %q, %v", got, err)
	}
}
