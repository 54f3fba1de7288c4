package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"golang.org/x/net/http2"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// Pauses between attempts grow from the first to the longest.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 8 * time.Second
)

// ServerWait has the time for which the first requests of a command wait for an unreachable server, and the function
// that prints a line about the wait. The zero value doesn't wait.
type ServerWait struct {
	For   time.Duration
	Print func(line string)
}

// lostWithin limits the time of a failed request that Await first repeats without a warning.
const lostWithin = time.Second

// Await calls ask until there is a response. Await retries while the server is unreachable, and until the server is
// ready. A server that isn't ready doesn't have all its types, or the permissions of its users. When the time is
// over, Await calls ask once more. Other errors are final. A single lost response needs no warning.
func (c *Cluster) Await(ctx context.Context, ask func() error) error {
	began := time.Now()
	err := ask()
	if mayRecover(err) && time.Since(began) < lostWithin {
		if again := ask(); !apistatus.AboutPermissions(again) { // a starting server refuses everything
			err = again
		}
	}
	var retrier *apistatus.Retrier // from the first failure on
	for ready, timeUp := false, false; ; err = ask() {
		waits := retrier != nil
		unreachable := mayRecover(err) || waits && !ready && apistatus.AboutPermissions(err)
		switch {
		case err == nil && waits:
			c.serverWait.Report(nil, time.Since(began))
			return nil
		case ctx.Err() != nil, c.serverWait.For <= 0, !unreachable:
			return err
		case timeUp:
			return fmt.Errorf("the server was unreachable for %s: %w", c.serverWait.For, err)
		case !waits:
			c.serverWait.Report(err, 0)
			retrier = apistatus.NewRetrier(firstPause, longestPause, c.serverWait.For)
		}
		if ready, timeUp, err = c.untilReady(ctx, retrier, err); err != nil {
			return err
		}
	}
}

// AwaitAny calls ask until the server responds, even with an error, or the time of wait is over. A later request
// reports the error.
func AwaitAny(ctx context.Context, config *rest.Config, wait ServerWait, ask func() error) error {
	if isDefaultServer(config.Host) {
		return nil
	}
	c := &Cluster{Config: rest.CopyConfig(config), serverWait: wait}
	return c.Await(ctx, func() error {
		if err := ask(); mayRecover(err) {
			return err
		}
		return nil
	})
}

// untilReady waits after cause until the server reports that it is ready, refuses to report that,
// or the time is up.
func (c *Cluster) untilReady(
	ctx context.Context, retrier *apistatus.Retrier, cause error,
) (ready, timeUp bool, err error) {
	for {
		switch err := retrier.Wait(ctx, cause); {
		case errors.Is(err, apistatus.ErrTimeUp):
			return false, true, nil
		case err != nil:
			return false, false, fmt.Errorf("%w: %w", err, cause)
		}
		if err := c.readyz(ctx); !mayRecover(err) {
			return err == nil, false, nil
		}
	}
}

// readyz returns the reason why the server isn't ready, or nil.
func (c *Cluster) readyz(ctx context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return err // ask has the same configuration, and reports the error
	}
	return client.RESTClient().Get().MaxRetries(0).AbsPath("/readyz").Do(ctx).Error()
}

// Report prints that the server is unreachable because of cause. If cause is nil, Report prints that it is reachable
// again.
func (p ServerWait) Report(cause error, after time.Duration) {
	if cause == nil {
		p.Print(fmt.Sprintf("The server is reachable again after %.0f s", after.Seconds()))
		return
	}
	if request := (*url.Error)(nil); errors.As(cause, &request) {
		cause = request.Err // the URL of the first failed request isn't part of the cause
	}
	if p.For >= apistatus.NoEnd {
		p.Print(terminal.Warningf("the server is unreachable, so requests are retried until it responds: %v", cause))
		return
	}
	p.Print(terminal.Warningf("the server is unreachable, so requests are retried for up to %s: %v", p.For, cause))
}

// mayRecover reports whether err is from a server that might soon be reachable. Such a server can't be dialed,
// closes the connection, doesn't respond in time, is busy, or has an internal error. A host name that doesn't
// exist and a wrong certificate are not such errors.
func mayRecover(err error) bool {
	var unknown *net.DNSError
	var op *net.OpError
	var timeout net.Error
	switch {
	case err == nil, errors.As(err, &unknown) && unknown.IsNotFound:
		return false
	case errors.As(err, &op):
		return op.Op != "remote error" // an alert of TLS
	}
	var stream http2.StreamError
	return apistatus.Temporary(err) || errors.As(err, &timeout) && timeout.Timeout() ||
		utilnet.IsProbableEOF(err) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &stream) || utilnet.IsHTTP2ConnectionLost(err)
}

// isDefaultServer reports whether host is the default, because the kubeconfig names no server.
func isDefaultServer(host string) bool { return host == clientcmd.ClusterDefaults.Server }
