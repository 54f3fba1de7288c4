package harness

import (
	"net/http"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// Creates reports whether r creates an object. Reviews of permissions are POSTs, too, and don't count.
func Creates(r *http.Request) bool {
	return r.Method == http.MethodPost && !strings.Contains(r.URL.Path, "/authorization.k8s.io/")
}

// First applies the fault to the first n POSTs of a run.
func First(n int, fault faultproxy.Fault) func() func(*http.Request) faultproxy.Fault {
	return func() func(*http.Request) faultproxy.Fault {
		choose := make(chan faultproxy.Fault, n)
		for range n {
			choose <- fault
		}
		return func(r *http.Request) faultproxy.Fault {
			if !Creates(r) {
				return nil
			}
			select {
			case fault := <-choose:
				return fault
			default:
				return nil
			}
		}
	}
}
