package apistatus

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// Pages reads a page that is too large again with fewer objects. A list without an end is an error.
func TestPages(t *testing.T) {
	for name, test := range map[string]struct {
		get  func(limit int64, token string) (string, error)
		want error
		last int64 // limit of the last page
	}{
		"two pages":  {func(_ int64, token string) (string, error) { return map[string]string{"": "2"}[token], nil }, nil, 500},
		"too large":  {func(limit int64, _ string) (string, error) { return "", map[bool]error{true: ErrTooLarge}[limit > 100] }, nil, 62},
		"one object": {func(int64, string) (string, error) { return "", ErrTooLarge }, ErrTooLarge, 1},
		"in a circle": {func(_ int64, token string) (string, error) {
			return map[string]string{"": "1", "1": "2", "2": "1"}[token], nil
		}, ErrEndless, 500},
		"new tokens": {func(_ int64, token string) (string, error) {
			time.Sleep(time.Second)
			n, _ := strconv.Atoi(token)
			return strconv.Itoa(n + 1), nil
		}, ErrEndless, 500},
		"the first page is late": {func(int64, string) (string, error) {
			time.Sleep(listTimeout)
			return "", context.DeadlineExceeded
		}, context.DeadlineExceeded, 500},
	} {
		synctest.Test(t, func(t *testing.T) {
			var last int64
			err := Pages(t.Context(), 500, func(ctx context.Context, limit int64, token string) (string, error) {
				if ctx.Err() != nil {
					return "", ctx.Err()
				}
				last = limit
				return test.get(limit, token)
			})
			if !errors.Is(err, test.want) || last != test.last || Final(err) != (test.want != nil && name != "the first page is late") {
				t.Errorf("%s: %v, limit %d", name, err, last)
			}
		})
	}
}

// If a caller reads slowly, the end of a request's context, such as a client's time limit, doesn't interrupt it.
func TestReadWhole(t *testing.T) {
	const size = 1 << 20 // more than a connection has read when it returns a response
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/whole" {
			w.Header().Set("Content-Length", "2")
		}
		_, _ = w.Write(make([]byte, 1))
		if r.URL.Path == "/whole" {
			_, _ = w.Write(make([]byte, size-1))
		}
	}))
	defer server.Close()
	get := func(path string) ([]byte, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := ReadWhole(http.DefaultTransport).RoundTrip(request)
		if err != nil {
			return nil, err
		}
		cancel()
		defer func() { _ = response.Body.Close() }()
		return io.ReadAll(response.Body)
	}
	if body, err := get("/whole"); err != nil || len(body) != size {
		t.Errorf("%d bytes, %v, want %d", len(body), err, size)
	}
	if body, err := get("/broken"); !errors.Is(err, io.ErrUnexpectedEOF) || body != nil {
		t.Errorf("a response that breaks off: %d bytes, %v, want no response and %v", len(body), err, io.ErrUnexpectedEOF)
	}
}
