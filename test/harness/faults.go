package harness

import (
	"net/http"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// First applies the fault to the first n POSTs of a run.
func First(n int, fault faultproxy.Fault) func() func(*http.Request) faultproxy.Fault {
	return func() func(*http.Request) faultproxy.Fault {
		choose := make(chan faultproxy.Fault, n)
		for range n {
			choose <- fault
		}
		return func(r *http.Request) faultproxy.Fault {
			if r.Method != http.MethodPost {
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
