package faultproxy

import (
	"net/http"
	"strings"
	"sync/atomic"
)

// LoseEverySecond returns a chooser of faults that loses the response to the first, third, fifth … POST in a
// namespace. The server carries the POST out, and the client gets the 504 of a load balancer.
func LoseEverySecond() func(*http.Request) Fault {
	var posts atomic.Int64
	lose := RespondAfter(http.StatusGatewayTimeout, isText, "upstream request timeout\n")
	return func(r *http.Request) Fault {
		creates := r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/namespaces/") // no review
		if creates && posts.Add(1)%2 == 1 {
			return lose
		}
		return nil
	}
}
