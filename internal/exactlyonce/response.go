package exactlyonce

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// response is the response to one request, as the protocol takes it, and as the
// caller of Create gets it.
type response struct {
	protocol.Observation
	// object is the one that the server stored (POST) or has (GET), if known.
	object *unstructured.Unstructured
}

// because is a response without an object.
func because(f protocol.Finding, err error) response {
	return response{Observation: protocol.Observation{Finding: f, Err: err}}
}
