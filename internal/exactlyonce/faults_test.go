package exactlyonce

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// The faults of these tests beside those of oncetest.
var (
	stripAnnotations = oncetest.Mutate(func(o *unstructured.Unstructured) { o.SetAnnotations(nil) }, nil)
	stripLabels      = oncetest.Mutate(func(o *unstructured.Unstructured) { o.SetLabels(nil) }, nil)
)

// text is a load balancer's response.
func text(code int) oncetest.Fault {
	return oncetest.Respond(code, "text/plain", "upstream connect error or disconnect/reset before headers")
}

// page is a proxy's response.
func page(code int) oncetest.Fault {
	return oncetest.Respond(code, "text/html", fmt.Sprintf(
		"<html><head><title>%d %[2]s</title></head><body><h1>%[2]s</h1></body></html>\n", code, http.StatusText(code)))
}

// rename stores the object under another name.
func rename(name string) oncetest.Fault {
	return oncetest.Mutate(func(o *unstructured.Unstructured) { o.SetName(name) }, nil)
}

// methodNotAllowed refuses the verb.
func methodNotAllowed(r *oncetest.Request) (*http.Response, error) {
	return oncetest.Refuse(apierrors.NewMethodNotSupported(r.Resource.GroupResource(), r.Verb))(r)
}
