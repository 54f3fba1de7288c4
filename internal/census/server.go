package census

import (
	"cmp"
	"context"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

const (
	// DefaultRetryTimeout is the default of Scanner.RetryTimeout.
	DefaultRetryTimeout = 2 * time.Minute
	// The scan reports an outage that lasts longer than reportedAfter. Shorter outages are common.
	reportedAfter = 2 * time.Second
)

// server records whether the API server responds, and decides when the scan can send a request.
type server struct {
	limiter      *limiter
	client       rest.Interface
	retryTimeout time.Duration
	requests     atomic.Int64

	mu          sync.Mutex
	silentSince time.Time  // start of the first request without a response after the last response
	gone        *abandoned // set when the scan gives up the server
}

// outage reports when the server has not responded for a while, and when it responds again.
type outage struct {
	report func(cause error, after time.Duration) // can be nil

	mu       sync.Mutex
	since    time.Time // end of the first request without a response since the last response
	reported bool
}

// newServer returns a server with the limits of the scanner.
func newServer(s *Scanner) (*server, error) {
	client, err := newClient(s.Config)
	if err != nil {
		return nil, err
	}
	limiter := s.limiter
	if limiter == nil {
		limiter = newLimiter(s)
	}
	return &server{
		limiter: limiter, client: client, retryTimeout: cmp.Or(s.RetryTimeout, DefaultRetryTimeout),
	}, nil
}

// pageRequest has the parameters of the request for one page.
type pageRequest struct {
	limit int64
	token string // continue token
	at    string // the resourceVersion to read, without a token
	name  string // name of the only object to list; empty for all
	raw   bool   // whole objects instead of metadata

	selector string // label selector; empty for all
}

// open requests a page of the list at path.
func (s *server) open(ctx context.Context, path []string, q pageRequest) (io.ReadCloser, error) {
	if err := s.givenUp(); err != nil {
		return nil, err
	}
	s.requests.Add(1)
	request := s.client.Get().MaxRetries(0).AbsPath(path...).SetHeader("Accept", accept).
		Param("limit", strconv.FormatInt(q.limit, 10))
	if q.raw {
		request.SetHeader("Accept", acceptWhole)
	}
	if q.name != "" {
		request.Param("fieldSelector", fields.OneTermEqualSelector(metav1.ObjectNameField, q.name).String())
	}
	if q.selector != "" {
		request.Param("labelSelector", q.selector)
	}
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

// abandoned is the error of a request that was not sent, because the server is considered unreachable. Otherwise, each
// of hundreds of types would wait for the server.
type abandoned struct{ cause error }

func (a *abandoned) Error() string {
	return "not requested, because the server is unreachable: " + a.cause.Error()
}
func (a *abandoned) Unwrap() error { return a.cause }

// observe records the result of a request that began at the given time. If no request has had a response for
// retryTimeout, and a check of the version fails too, the server is considered unreachable.
func (s *server) observe(ctx context.Context, began time.Time, err error) {
	if ctx.Err() == nil {
		s.limiter.outage.observe(err)
	}
	if !s.silent(ctx, began, err) {
		return
	}
	responds := apistatus.Responds(ctx, s.client)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case responds: // the server responds, but lists take long
		s.silentSince = time.Time{}
	case ctx.Err() == nil:
		s.gone = &abandoned{err}
	}
}

// silent reports whether there has been no response for retryTimeout. err is the newest result.
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

// observe reports the beginning of an outage that lasts for a while, and its end. err is the result of a request.
func (o *outage) observe(err error) {
	if o.report == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	responded := err == nil || apistatus.Code(err) != 0
	switch silence := time.Since(o.since); {
	case responded && o.reported:
		o.report(nil, silence)
		fallthrough
	case responded:
		o.since, o.reported = time.Time{}, false
	case o.since.IsZero():
		o.since = time.Now()
	case !o.reported && silence > reportedAfter:
		o.report(err, silence)
		o.reported = true
	}
}

// givenUp returns the error of all further requests if the scan has given up the server, or nil.
func (s *server) givenUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		return nil
	}
	return s.gone
}

// acceptEvents requests the metadata of changed objects, as accept does for lists.
const acceptEvents = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
	"application/json"

// Watcher opens watches of metadata.
type Watcher struct{ client rest.Interface }

// NewWatcher returns a Watcher. The Timeout of config doesn't limit watches.
func NewWatcher(config *rest.Config) (*Watcher, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0
	client, err := newClient(config)
	return &Watcher{client}, err
}

// Open opens a watch with bookmarks at a resourceVersion, in one namespace, or in all if namespace is empty. The
// server ends the watch after the given time. The caller reads the response with decode.Watch, and closes it. ctx
// is the only deadline.
func (w *Watcher) Open(
	ctx context.Context, r Resource, namespace, since string, lasts time.Duration,
) (io.ReadCloser, error) {
	return w.client.Get().MaxRetries(0).AbsPath(r.Path(namespace)...).SetHeader("Accept", acceptEvents).
		Param("watch", "true").
		Param("allowWatchBookmarks", "true").
		Param("resourceVersion", since).
		Param("timeoutSeconds", strconv.FormatInt(int64(lasts.Seconds()), 10)).
		Stream(ctx)
}
