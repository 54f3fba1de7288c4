package census

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	metainternalversionscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// accept requests only metadata, in protobuf if the server supports it. Some aggregated servers can't send metadata
// alone, and would respond with 406. So accept also permits whole objects, and the census reads only their metadata.
// client-go's metadata client sends the same header.
const accept = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json"

// acceptWhole requests whole objects.
const acceptWhole = "application/json"

// maxErrorBody is the number of bytes that are read from the response to a failed request.
const maxErrorBody = 1 << 20

// newClient returns a client for all groups. The scan limits the requests in flight, and the server
// has its own flow control. So a configuration without QPS has no rate limit.
//
// The client speaks HTTP/1.1. For each HTTP/2 stream, Go's client buffers up to 4 MiB that have not
// been decoded yet, so memory would grow with the pages.
func newClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = metainternalversionscheme.Codecs.WithoutConversion()
	config.NextProtos = []string{"http/1.1"}
	if config.QPS == 0 {
		config.QPS = -1
	}
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return errorReader{rt} })
	config.Wrap(apistatus.Streamed)
	return rest.UnversionedRESTClientFor(config)
}

// errorReader limits the size of error responses, because rest.Request reads them into memory. errorReader also rejects
// a 404 that no API server sent.
type errorReader struct{ transport http.RoundTripper }

func (e errorReader) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := e.transport.RoundTrip(req)
	if err != nil || resp.StatusCode < http.StatusMultipleChoices {
		return resp, err
	}
	resp.Body = limitedBody{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
	if resp.StatusCode == http.StatusNotFound {
		if err := verifyNotFound(resp); err != nil {
			return nil, err
		}
	}
	return resp, nil
}

// WrappedRoundTripper gives client-go access to the wrapped transport.
func (e errorReader) WrappedRoundTripper() http.RoundTripper { return e.transport }

type limitedBody struct {
	io.Reader
	io.Closer
}

// errForeign is the error for a 404 that a component in front of the API server sent.
var errForeign = errors.New("404 Not Found from something that is not an API server")

// verifyNotFound returns an error if a 404 is not about the resource, for example if a load balancer without a backend
// sent it. API servers send a Status. For an API group or version that it doesn't serve, kube-apiserver sends plain
// text with the Audit-Id header.
func verifyNotFound(resp *http.Response) error {
	if resp.Header.Get("Audit-Id") != "" {
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var status metav1.TypeMeta
	isStatus := json.Unmarshal(body, &status) == nil && status.Kind == "Status"
	if err == nil && !isStatus && !bytes.HasPrefix(body, []byte("k8s\x00")) {
		err = errForeign
	}
	return err
}
