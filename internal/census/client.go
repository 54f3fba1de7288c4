package census

import (
	"io"
	"net/http"

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

// acceptWhole asks for whole objects.
const acceptWhole = "application/json"

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
type errorLimiter struct{ transport http.RoundTripper }

func (l errorLimiter) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.transport.RoundTrip(req)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		resp.Body = limitedBody{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
	}
	return resp, err
}

// WrappedRoundTripper lets client-go reach the transport below.
func (l errorLimiter) WrappedRoundTripper() http.RoundTripper { return l.transport }

type limitedBody struct {
	io.Reader
	io.Closer
}
