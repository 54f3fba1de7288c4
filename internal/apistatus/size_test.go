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

// A page that is too large is read again with fewer objects, and a list without an end is an error.
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

// A client's time limit ends a response that breaks off or hangs, but not the work of a caller that reads slowly.
func TestReadWhole(t *testing.T) {
	const size = 1 << 20 // more than the client has read when it returns a response
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/whole" {
			w.Header().Set("Content-Length", "2")
			_, _ = io.WriteString(w, "a")
			return
		}
		_, _ = w.Write(make([]byte, size))
	}))
	defer server.Close()
	client := &http.Client{Timeout: time.Second, Transport: ReadWhole(http.DefaultTransport)}
	if resp, err := client.Get(server.URL + "/broken"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, %v, want an error before the first byte", resp, err)
	}
	resp, err := client.Get(server.URL + "/whole")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	time.Sleep(client.Timeout)
	if body, err := io.ReadAll(resp.Body); err != nil || len(body) != size {
		t.Errorf("%d bytes, want %d: %v", len(body), size, err)
	}
}
