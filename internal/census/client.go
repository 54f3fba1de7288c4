package census

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	metainternalversionscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/client-go/rest"
)

// accept asks for metadata and nothing else, in protobuf if the server has it.
// Only an aggregated server that cannot make metadata of its objects, and would
// answer 406, gives them whole; of these, too, only the metadata is looked at.
// client-go's metadata client asks for the same.
const accept = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json"

// maxErrorBody is how much of the answer to a failed request is read.
const maxErrorBody = 1 << 20

// newClient makes a client for all groups. The number of requests in flight is
// bounded by the scan, and the server has flow control of its own: a
// configuration that says nothing about their rate does not bound it.
//
// It speaks HTTP/1.1: of every HTTP/2 stream, Go's client keeps up to 4 MiB
// that have not been decoded yet, and so the memory would grow with the pages.
func newClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = metainternalversionscheme.Codecs.WithoutConversion()
	config.NextProtos = []string{"http/1.1"}
	if config.QPS == 0 {
		config.QPS = -1
	}
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return errorLimiter{rt} })
	return rest.UnversionedRESTClientFor(config)
}

// errorLimiter bounds the answers that rest.Request reads into memory.
type errorLimiter struct{ http.RoundTripper }

func (l errorLimiter) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(req)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		resp.Body = limitedBody{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
	}
	return resp, err
}

// WrappedRoundTripper lets client-go reach the transport below.
func (l errorLimiter) WrappedRoundTripper() http.RoundTripper { return l.RoundTripper }

type limitedBody struct {
	io.Reader
	io.Closer
}

// pageRequest is what one page is asked for with.
type pageRequest struct {
	limit int64
	token string // continue
	at    string // the resourceVersion to read at, without a token
}

// get makes one request for one page. It waits for its turn. What it returns
// along with an error has been read before it.
func (l *list) get(ctx context.Context, q pageRequest, visit func(*object) error) (page, error) {
	var buffer []byte
	select {
	case buffer = <-l.buffers:
		defer func() { l.buffers <- buffer }()
	case <-ctx.Done():
		return page{}, ctx.Err()
	}
	if err := l.givenUp(); err != nil {
		return page{}, err
	}
	l.countRequest()
	request := l.client.Get().MaxRetries(0).AbsPath(l.path()...).SetHeader("Accept", accept).
		Param("limit", strconv.FormatInt(q.limit, 10))
	if q.token != "" {
		request.Param("continue", q.token)
	} else if q.at != "" {
		request.Param("resourceVersion", q.at).Param("resourceVersionMatch", "Exact")
	}
	began := time.Now()
	body, err := request.Stream(ctx)
	l.heard(ctx, began, err)
	if err != nil {
		return page{}, err
	}
	defer func() { _ = body.Close() }()
	d := decoder{labels: l.labelKeys(), visit: visit}
	p, err := d.decode(body, buffer)
	if err == nil {
		l.pace.succeed(q.limit, time.Since(began))
	}
	l.reportPage(l.resource, p.objects)
	return p, err
}

// path is the URL's path of the list.
func (l *list) path() []string {
	path := []string{"apis", l.resource.Group, l.resource.Version}
	if l.resource.Group == "" {
		path = []string{"api", l.resource.Version}
	}
	if l.namespace != "" {
		path = append(path, "namespaces", l.namespace)
	}
	return append(path, l.resource.Resource)
}
