package connection

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// boundedTransport ends requests after a time, and when the user interrupts:
// kubectl's own code makes many without a context (discovery, schemas). Those
// of a create in flight outlive an interrupt, and end by themselves.
type boundedTransport struct {
	http.RoundTripper
	connection *Connection
	timeout    time.Duration
}

func (t *boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, release := context.WithTimeout(req.Context(), t.timeout)
	if t.connection.ctx != nil && !once.Outlives(ctx) {
		cancel := release
		stop := context.AfterFunc(t.connection.ctx, cancel)
		release = func() { stop(); cancel() }
	}
	resp, err := t.RoundTripper.RoundTrip(req.WithContext(ctx))
	if err != nil {
		release()
		return nil, err
	}
	resp.Body = &releasingBody{resp.Body, release}
	return resp, nil
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t *boundedTransport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }

type releasingBody struct {
	io.ReadCloser
	release func()
}

func (b *releasingBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
