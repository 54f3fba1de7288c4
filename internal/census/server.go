package census

import (
	"context"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// server is what a scan knows of the server: how many requests may be in flight,
// and whether it answers.
type server struct {
	client       rest.Interface
	retryTimeout time.Duration
	buffers      chan []byte // one for each request that may be in flight
	requests     atomic.Int64

	mu          sync.Mutex
	silentSince time.Time  // the first request without an answer, after the last with one
	gone        *abandoned // once the server is given up
}

func newServer(config *rest.Config, concurrency int, retryTimeout time.Duration) (*server, error) {
	client, err := newClient(config)
	if err != nil {
		return nil, err
	}
	s := &server{client: client, retryTimeout: retryTimeout, buffers: make(chan []byte, concurrency)}
	for range concurrency {
		s.buffers <- make([]byte, decode.BufferSize)
	}
	return s, nil
}

// turn waits until another request may be made, and returns the buffer for its
// answer, to be given back by done.
func (s *server) turn(ctx context.Context) (buffer []byte, err error) {
	select {
	case buffer = <-s.buffers:
		return buffer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *server) done(buffer []byte) { s.buffers <- buffer }

// pageRequest is what one page is asked for with.
type pageRequest struct {
	limit int64
	token string // continue
	at    string // the resourceVersion to read at, without a token
}

// open makes one request for a page of the list at path.
func (s *server) open(ctx context.Context, path []string, q pageRequest) (io.ReadCloser, error) {
	if err := s.givenUp(); err != nil {
		return nil, err
	}
	s.requests.Add(1)
	request := s.client.Get().MaxRetries(0).AbsPath(path...).SetHeader("Accept", accept).
		Param("limit", strconv.FormatInt(q.limit, 10))
	if q.token != "" {
		request.Param("continue", q.token)
	} else if q.at != "" {
		request.Param("resourceVersion", q.at).Param("resourceVersionMatch", "Exact")
	}
	began := time.Now()
	body, err := request.Stream(ctx)
	s.observe(ctx, began, err)
	return body, err
}

// abandoned is the error of a request that is not made, because the server is
// given up: hundreds of types are not each to wait for a server that is gone.
type abandoned struct{ cause error }

func (a *abandoned) Error() string { return "not asked any more: " + a.cause.Error() }
func (a *abandoned) Unwrap() error { return a.cause }

// observe notes what became of a request that began then. If there has been no
// answer to any for as long as one page is pursued, no more are made.
func (s *server) observe(ctx context.Context, began time.Time, err error) {
	if !s.silent(ctx, began, err) {
		return
	}
	answers := apistatus.Answers(ctx, s.client)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case answers: // it is the lists that take long
		s.silentSince = time.Time{}
	case ctx.Err() == nil:
		s.gone = &abandoned{err}
	}
}

// silent reports whether err is one of a time without any answer that lasts as
// long as one page is pursued.
func (s *server) silent(ctx context.Context, began time.Time, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil || apistatus.Code(err) != 0:
		s.silentSince = time.Time{}
		return false
	case ctx.Err() != nil:
		return false
	case s.silentSince.IsZero():
		s.silentSince = began
	}
	return time.Since(s.silentSince) > s.retryTimeout
}

// givenUp is the error of all requests that are not made any more, or nil.
func (s *server) givenUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		return nil
	}
	return s.gone
}
