package cmd

import (
	"context"
	"io"
	"net/http"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// interruptible ends requests when the user interrupts: kubectl's own code
// makes many without a context (discovery, schemas). Those of a create in
// flight end by themselves.
func (c *connection) interruptible(rt http.RoundTripper) http.RoundTripper {
	return &interruptibleTransport{rt, c}
}

type interruptibleTransport struct {
	http.RoundTripper
	connection *connection
}

func (t *interruptibleTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.connection.ctx == nil || once.Outlives(req.Context()) {
		return t.RoundTripper.RoundTrip(req)
	}
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(t.connection.ctx, cancel)
	release := func() { stop(); cancel() }
	resp, err := t.RoundTripper.RoundTrip(req.WithContext(ctx))
	if err != nil {
		release()
		return nil, err
	}
	resp.Body = &releasingBody{resp.Body, release}
	return resp, nil
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t *interruptibleTransport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }

type releasingBody struct {
	io.ReadCloser
	release func()
}

func (b *releasingBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
