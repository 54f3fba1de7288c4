package faultproxy

import (
	"net/http"
	"sync/atomic"
)

// LoseEverySecond returns a chooser of faults that loses the response to the first, third,
// fifth … POST. The server carries the POST out, and the client gets the 504 of a load
// balancer.
func LoseEverySecond() func(*http.Request) Fault {
	var posts atomic.Int64
	lose := AnswerAfter(http.StatusGatewayTimeout, isText, "upstream request timeout\n")
	return func(r *http.Request) Fault {
		if r.Method == http.MethodPost && posts.Add(1)%2 == 1 {
			return lose
		}
		return nil
	}
}
