package httpmodel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"si/internal/clean"
)

const (
	maxErrorBody = 64 << 10  // bytes of an error that are read
	maxHeaders   = 256 << 10 // bytes of a reply's headers
)

// client talks to one server for one task: its proxies are those of the task's
// environment, and its connections end with it.
type client struct {
	http  *http.Client
	wire  Wire
	url   string
	key   string
	clock Clock
	idle  time.Duration
}

func newClient(wire Wire, o Options, env []string, key string, idle time.Duration) (*client, error) {
	base, err := url.Parse(o.BaseURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read base_url: %w", err)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("base_url %q is no address of a server, such as https://host/v1", base.Redacted())
	case base.User != nil:
		return nil, errors.New("base_url has a password in it; name the variable that holds the key in key_env instead")
	}
	transport := o.Transport
	if transport == nil {
		transport = &http.Transport{
			Proxy: proxyOf(env), DisableCompression: true, ForceAttemptHTTP2: true,
			MaxResponseHeaderBytes: maxHeaders, TLSHandshakeTimeout: 30 * time.Second, ExpectContinueTimeout: time.Second,
		}
	}
	return &client{
		http: &http.Client{Transport: transport, CheckRedirect: stayWithTheServer},
		wire: wire, url: strings.TrimRight(o.BaseURL, "/") + wire.Path(), key: key, clock: o.Clock, idle: idle,
	}, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// stayWithTheServer follows a redirect on the same server only: the next one
// would get the key and the prompt.
func stayWithTheServer(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case next.URL.Scheme != first.Scheme || next.URL.Host != first.Host:
		return &redirectError{"to " + next.URL.Host + ", which is another one: give that address as base_url if it can be trusted"}
	case next.Method != via[0].Method:
		return &redirectError{"to " + next.URL.Path + " with another method: correct base_url"}
	case len(via) > 5:
		return &redirectError{"in circles: correct base_url"}
	}
	return nil
}

// redirectError says that the server sent us where we do not go.
type redirectError struct{ where string }

func (e *redirectError) Error() string { return "the server sends us " + clean.Line(e.where, 300) }

// proxyOf honours the variables of the given environment, not of this process.
// The machine itself is never reached through a proxy.
func proxyOf(env []string) func(*http.Request) (*url.URL, error) {
	value := func(names ...string) string {
		for _, n := range names {
			if v, _ := lookup(env, n); v != "" {
				return v
			}
		}
		return ""
	}
	config := httpproxy.Config{
		HTTPProxy:  value("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"),
		HTTPSProxy: value("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
		NoProxy:    value("no_proxy", "NO_PROXY"),
	}
	find := config.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return find(r.URL) }
}

// ask sends one request and reads the whole reply. It tries nothing again.
func (c *client) ask(ctx context.Context, r Request, hear Hear) (Reply, error) {
	body, err := c.wire.Encode(r)
	if err != nil {
		return Reply{}, fmt.Errorf("write the request: %w", err)
	}
	ctx, watch := watchIdle(ctx, c.clock, c.idle)
	defer watch.end()
	reply, err := c.send(ctx, body, watch, hear)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return Reply{}, cause // what broke the connection, not how it broke
	}
	return reply, err
}

func (c *client) send(ctx context.Context, body []byte, watch *idleWatch, hear Hear) (Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return Reply{}, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", "si")
	c.wire.Authorize(req.Header, c.key)
	resp, err := c.http.Do(req)
	if err != nil {
		return Reply{}, &networkError{c.plain(err)}
	}
	defer resp.Body.Close()
	watch.heard()
	in := heardReader{resp.Body, watch}
	if resp.StatusCode != http.StatusOK {
		return Reply{}, c.refusal(resp, in)
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind != "text/event-stream" {
		return Reply{}, noStream(kind, in)
	}
	reply, err := c.wire.Decode(NewStream(in), hear)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = ErrCut
	}
	return reply, c.broken(err)
}

// broken tells a connection that broke off from what the server said.
func (c *client) broken(err error) error {
	var malformed *MalformedError
	var refused *Refusal
	if err == nil || errors.Is(err, ErrCut) || errors.As(err, &malformed) || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCut, err)
}

func (c *client) refusal(resp *http.Response, in io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(in, maxErrorBody))
	if err != nil && len(body) == 0 {
		body = []byte(err.Error())
	}
	r := ReadRefusal(resp.StatusCode, body)
	r.After = retryAfter(resp.Header, c.clock.Now())
	return r
}

// noStream reads a reply that is no stream though one was asked for. Some servers
// give their errors in this way, with the status 200.
func noStream(kind string, in io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(in, maxErrorBody))
	if r := ReadRefusal(0, body); err == nil && (r.Code != "" || strings.Contains(string(body), `"error"`)) {
		return r
	}
	return &MalformedError{fmt.Sprintf("%s in place of a stream of events; is base_url right?", kind)}
}

// networkError says that the server cannot be reached.
type networkError struct{ err error }

func (e *networkError) Error() string {
	return "the model's server cannot be reached: " + e.err.Error()
}
func (e *networkError) Unwrap() error { return e.err }

// plain drops the method and the address that net/http puts before its errors,
// for the address may hold what is private.
func (c *client) plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
