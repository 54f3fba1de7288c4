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
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/messages"
)

// Pauses between attempts grow from the first to the longest.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 8 * time.Second
)

// Patience is how long a server that is away is waited for by what has to be asked
// before anything can be counted, and what writes a line about that. Its zero value has
// none.
type Patience struct {
	For time.Duration
	Say func(line string)
}

// Forever is a patience that doesn't end.
const Forever = 100 * 365 * 24 * time.Hour

// Await asks the server something until there is an answer. One that is away is waited
// for; so is one that has just come back, until it says that it is ready: before that it
// knows neither all its types nor the rights of its users. When the time is up it is asked
// once more, ready or not: what it lacks may not matter. Other errors are final.
func (c *Cluster) Await(ctx context.Context, ask func() error) error {
	var retrier *apistatus.Retrier // from the first failure on
	var ready, timeUp bool
	for began := time.Now(); ; {
		err := ask()
		waits := retrier != nil
		away := isAway(err) || waits && !ready && apistatus.AboutRights(err)
		switch {
		case err == nil && waits:
			c.patience.Tell(nil, time.Since(began))
			return nil
		case ctx.Err() != nil, c.patience.For <= 0, !away:
			return err
		case timeUp:
			return fmt.Errorf(messages.GaveUp, c.patience.For, err)
		case !waits:
			c.patience.Tell(err, 0)
			retrier = apistatus.NewRetrier(firstPause, longestPause, c.patience.For)
		}
		if ready, timeUp, err = c.untilReady(ctx, retrier, err); err != nil {
			return err
		}
	}
}

// untilReady waits after cause until the server says that it is ready, or will not say
// whether it is, or the time is up.
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
		if err := c.readyz(ctx); !isAway(err) {
			return err == nil, false, nil
		}
	}
}

// readyz returns why the server does not say that it is ready, or nil.
func (c *Cluster) readyz(ctx context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return err // who asks has the same configuration, and says it
	}
	return client.RESTClient().Get().MaxRetries(0).AbsPath("/readyz").Do(ctx).Error()
}

// Tell prints that the server is unreachable, and why, or without a cause that it is
// reachable again after a time.
func (p Patience) Tell(cause error, after time.Duration) {
	if cause == nil {
		p.Say(fmt.Sprintf(messages.Reachable, after.Seconds()))
		return
	}
	if request := (*url.Error)(nil); errors.As(cause, &request) {
		cause = request.Err // the first request to fail says nothing about the cause
	}
	if p.For >= Forever {
		p.Say(terminal.Sprintf(messages.UnreachableForever, cause))
		return
	}
	p.Say(terminal.Sprintf(messages.Unreachable, p.For, cause))
}

// isAway reports whether err is of a server that may be there soon: the network did
// not lead to it, the connection broke off, no answer came in time, or it is busy or in
// trouble. A name that nobody knows, or a certificate that does not fit, will not do
// soon.
func isAway(err error) bool {
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
	return apistatus.Passing(err) || errors.As(err, &timeout) && timeout.Timeout() ||
		utilnet.IsProbableEOF(err) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &stream) || utilnet.IsHTTP2ConnectionLost(err)
}

// nowhere reports whether a server is one that nobody has named.
func nowhere(host string) bool { return host == clientcmd.ClusterDefaults.Server }
