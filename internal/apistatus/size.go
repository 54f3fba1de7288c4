package apistatus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// MaxResponse limits the decompressed size of a response that is read as a whole. kube-apiserver's largest response is
// the OpenAPI document of a cluster with many types. It has less than half of this size.
const MaxResponse = 64 << 20

// listTimeout is the time limit of a list that Pages reads.
const listTimeout = 5 * time.Minute

var (
	// ErrTooLarge is the error for a response that is larger than its limit.
	ErrTooLarge = errors.New("the response is too large")
	// ErrEndless means that the server sends continue tokens without an end.
	ErrEndless = errors.New("the list has no end")
)

type streamedKey struct{}

// Streamed exempts a transport from LimitResponses. Use it if the response is never read as a whole.
func Streamed(next http.RoundTripper) http.RoundTripper { return streamed{next} }

type streamed struct{ next http.RoundTripper }

func (t streamed) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.next.RoundTrip(req.WithContext(context.WithValue(req.Context(), streamedKey{}, true)))
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t streamed) WrappedRoundTripper() http.RoundTripper { return t.next }

// LimitResponses ends a response of more than MaxResponse bytes with ErrTooLarge. A response of some kilobytes
// can have gigabytes when decompressed. Watches, logs with timestamps, and requests of Streamed have no limit.
func LimitResponses(next http.RoundTripper) http.RoundTripper { return limited{next} }

type limited struct{ next http.RoundTripper }

func (t limited) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	query := req.URL.Query()
	if err == nil && query.Get("watch") != "true" && query.Get("timestamps") != "true" &&
		req.Context().Value(streamedKey{}) == nil && resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = NewLimitedReader(resp.Body, MaxResponse)
	}
	return resp, err
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t limited) WrappedRoundTripper() http.RoundTripper { return t.next }

// ReadWhole reads each response completely before it returns the response. So the caller's work between two reads
// doesn't use up the client's time limit, and the caller gets no part of a response that breaks off.
func ReadWhole(next http.RoundTripper) http.RoundTripper { return readWhole{next} }

type readWhole struct{ next http.RoundTripper }

func (t readWhole) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(NewLimitedReader(resp.Body, MaxResponse))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// LimitedReader reads up to the given number of bytes.
type LimitedReader struct {
	io.ReadCloser
	most, left int64
}

// NewLimitedReader returns a reader of body that returns ErrTooLarge after most bytes.
func NewLimitedReader(body io.ReadCloser, most int64) *LimitedReader {
	return &LimitedReader{body, most, most}
}

// Bytes returns the number of bytes that were read.
func (r *LimitedReader) Bytes() int64 { return r.most - r.left }

func (r *LimitedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p[:min(int64(len(p)), r.left+1)])
	if r.left -= int64(n); r.left < 0 {
		return n, fmt.Errorf("%w: more than %d MiB", ErrTooLarge, r.most>>20)
	}
	return n, err
}

// Tokens are the continue tokens of one list.
type Tokens struct{ seen map[string]bool }

// Next returns an error if an earlier page had the same token.
func (t *Tokens) Next(token string) error {
	if t.seen[token] {
		return fmt.Errorf("%w: a continue token repeats", ErrEndless)
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[token] = true
	return nil
}

// Pages reads a list page by page. get reads the whole page of a token, with at most limit objects, and returns the
// token of the next page. Pages reads a page that is too large again with fewer objects. Pages returns ErrEndless if
// the list has several pages, and doesn't end within some minutes.
func Pages(
	ctx context.Context, limit int64, get func(ctx context.Context, limit int64, token string) (string, error),
) error {
	ctx, cancel := context.WithTimeoutCause(ctx, listTimeout, fmt.Errorf("%w: not within %s", ErrEndless, listTimeout))
	defer cancel()
	var tokens Tokens
	for token := ""; ; {
		next, err := get(ctx, limit, token)
		switch cause := context.Cause(ctx); {
		case errors.Is(err, ErrTooLarge) && limit > 1:
			limit /= 2
			continue
		case err != nil && token != "" && errors.Is(cause, ErrEndless):
			return cause
		case err != nil || next == "":
			return err
		}
		if err := tokens.Next(next); err != nil {
			return err
		}
		token = next
	}
}
