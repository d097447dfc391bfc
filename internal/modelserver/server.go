// Package modelserver is a model server for tests that plays a script: no model,
// no key, no network but the loopback. It speaks the formats of chat/completions,
// messages, responses and generateContent, streaming and not, and makes the
// mistakes that real servers make, on demand. It is as strict as it needs to be to
// find a client's mistakes in a conversation, and no stricter.
package modelserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Script plays the model: it answers one request. It is called from several
// goroutines at once.
type Script func(Request) Reply

// Server is a running server.
type Server struct {
	script Script
	http   *http.Server
	listen net.Listener
	ended  chan struct{}

	mu       sync.Mutex
	requests []Request
	serveErr error
}

// Start starts a server on a free port of the loopback.
func Start(script Script) (*Server, error) {
	listen, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the model server: %w", err)
	}
	s := &Server{script: script, listen: listen, ended: make(chan struct{})}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 30 * time.Second}
	go func() {
		defer close(s.ended)
		if err := s.http.Serve(listen); !errors.Is(err, http.ErrServerClosed) {
			s.mu.Lock()
			s.serveErr = err
			s.mu.Unlock()
		}
	}()
	return s, nil
}

// URL is the address of the server, without a path.
func (s *Server) URL() string { return "http://" + s.listen.Addr().String() }

// Close ends the server and the requests that it is answering, and waits for the
// goroutine that listens.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.ended
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.serveErr)
}

// Requests are all requests for a reply so far, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// record gives the request its number.
func (s *Server) record(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.requests) + 1
	s.requests = append(s.requests, *r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	format, known := formatOf(r)
	if !known {
		s.serveOther(w, r)
		return
	}
	req, err := read(format, r)
	if err != nil {
		writeError(w, format, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	s.record(&req)
	s.answer(r.Context(), w, req, s.script(req))
}

// serveOther answers what clients ask beside replies.
func (s *Server) serveOther(w http.ResponseWriter, r *http.Request) {
	switch path := trimmed(r.URL.Path); {
	case path == "/models" && r.Method == http.MethodGet:
		writeJSON(w, http.StatusOK, object{"object": "list", "data": []any{object{"id": "scripted", "object": "model", "owned_by": "si"}}})
	case path == "/messages/count_tokens":
		writeJSON(w, http.StatusOK, object{"input_tokens": 100})
	case hasVerb(path, "countTokens"):
		writeJSON(w, http.StatusOK, object{"totalTokens": 100})
	default:
		writeJSON(w, http.StatusNotFound, object{"error": object{"type": "not_found_error", "message": "there is nothing at " + r.URL.Path}})
	}
}
