package agents

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"si/internal/clean"
)

// serverLimit is how long a server on this machine may take to answer.
const serverLimit = 500 * time.Millisecond

func (l looker) openai() Candidate {
	c := Candidate{Name: "openai", Path: "https://api.openai.com/v1", State: Ready, Hint: "by OPENAI_API_KEY"}
	base := l.value("OPENAI_BASE_URL")
	if base != "" {
		c.Path = shownURL(base)
	}
	switch {
	case l.value("OPENAI_API_KEY") != "":
	case base != "":
		c.Hint = "by OPENAI_BASE_URL, without a key"
	default:
		c.State, c.Hint = LoggedOut, "set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own"
	}
	return c
}

func (l looker) anthropic() Candidate {
	c := Candidate{Name: "anthropic", Path: "https://api.anthropic.com", State: Ready, Hint: "by ANTHROPIC_API_KEY"}
	if base := l.value("ANTHROPIC_BASE_URL"); base != "" {
		c.Path = shownURL(base)
	}
	if l.value("ANTHROPIC_API_KEY") == "" {
		c.State, c.Hint = LoggedOut, "set ANTHROPIC_API_KEY"
	}
	return c
}

// ollama asks the model server that many have on their machine, when it listens.
func (l looker) ollama(ctx context.Context) Candidate {
	base := OllamaURL(l.value("OLLAMA_HOST"))
	c := Candidate{Name: "ollama", State: Missing, Hint: "nothing answers at " + shownURL(base)}
	if base == "" {
		c.Hint = "OLLAMA_HOST does not name a server of this machine"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, serverLimit)
	defer cancel()
	version, err := ollamaVersion(ctx, base)
	if err != nil {
		return c
	}
	return Candidate{
		Name: "ollama", Path: base + "/v1", Version: version, State: Ready,
		Hint: "a model server of this machine; name it as ollama:MODEL, with a model of ollama list",
	}
}

// OllamaURL is the address of an Ollama server on this machine, from OLLAMA_HOST; ""
// when that names another machine.
func OllamaURL(host string) string {
	if host == "" {
		return "http://127.0.0.1:11434"
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	name, port := u.Hostname(), u.Port()
	if ip := net.ParseIP(name); ip != nil && ip.IsUnspecified() { // what a server listens on
		name = "127.0.0.1"
	} else if name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return ""
	}
	if port == "" {
		port = "11434"
	}
	return "http://" + net.JoinHostPort(name, port)
}

func ollamaVersion(ctx context.Context, base string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/version", nil)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	res, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var said struct {
		Version string `json:"version"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 4<<10)).Decode(&said); err != nil {
		return "", err
	}
	return clean.Line(said.Version, 40), nil
}

// shownURL is an address without what may be secret in it.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "an address that cannot be read"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return clean.Line(u.String(), 200)
}
