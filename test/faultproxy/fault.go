package faultproxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"golang.org/x/net/http2"
)

// A Fault replaces the way from the client to the server: next forwards the
// request and passes the response back.
type Fault func(next http.Handler) http.Handler

// DropRequest gives up before the server sees the request: over HTTP/1.1 it
// closes the connection, over HTTP/2 it resets the stream.
func DropRequest(http.Handler) http.Handler {
	return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

// DropResponse gives up in the same way after the server has carried out the
// request.
func DropResponse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		carryOut(next, r)
		panic(http.ErrAbortHandler)
	})
}

// ResetRequest sends the server half of the request, and resets the
// connections on both sides.
func ResetRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		half := r.Clone(r.Context())
		body := Body(r)
		half.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), broken{}))
		next.ServeHTTP(httptest.NewRecorder(), half)
		reset(r)
	})
}

// ResetResponse carries out the request, passes half of the response on, and
// resets the connection to the client.
func ResetResponse(next http.Handler) http.Handler { return half(next, reset) }

// BreakResponse does the same and then gives up as DropResponse does.
func BreakResponse(next http.Handler) http.Handler {
	return half(next, func(*http.Request) { panic(http.ErrAbortHandler) })
}

// half passes half of the response on before it ends the request.
func half(next http.Handler, end func(*http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := carryOut(next, r)
		passOn(w, response, response.Body.Bytes()[:response.Body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		end(r)
	})
}

// LandLate keeps the request until the client has given up, and another time
// after that, and only then sends it to the server. A client that does not
// give up gets a response after patience.
func LandLate(patience, after time.Duration) Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
				time.Sleep(after)
			case <-time.After(patience):
			}
			response := carryOut(next, r)
			passOn(w, response, response.Body.Bytes())
		})
	}
}

// RepeatFirst sends the request to the server twice, as a proxy does that
// retries on its own, and passes the first response on.
func RepeatFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := carryOut(next, r)
		carryOut(next, r)
		passOn(w, response, response.Body.Bytes())
	})
}

// RepeatSecond does the same and passes the second response on.
func RepeatSecond(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		carryOut(next, r)
		response := carryOut(next, r)
		passOn(w, response, response.Body.Bytes())
	})
}

// RefuseSecond sends the request to the server twice, as far as its client can
// tell: the first copy is carried out, and the second one refused because of
// that, with the status. If the first copy stored nothing, its response is passed
// on.
func RefuseSecond(code int, status string) Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if first := carryOut(next, r); first.Code != http.StatusCreated {
				passOn(w, first, first.Body.Bytes())
				return
			}
			respond(code, isJSON, status).ServeHTTP(w, r)
		})
	}
}

// RefuseSecondEarly is the same of a first copy that is still on its way when
// the second one is refused, and is carried out that long after.
func RefuseSecondEarly(code int, status string, after time.Duration) Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sendLate(next, r, after)
			respond(code, isJSON, status).ServeHTTP(w, r)
		})
	}
}

// Garble carries out the request and passes on an response that is cut in half,
// as if that were all of it.
func Garble(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := carryOut(next, r)
		response.Header().Del("Content-Length")
		passOn(w, response, response.Body.Bytes()[:response.Body.Len()/2])
	})
}

// Respond keeps the request from the server and responses itself.
func Respond(code int, header http.Header, body string) Fault {
	return func(http.Handler) http.Handler { return respond(code, header, body) }
}

// RespondAfter is Respond once the server has carried out the request.
func RespondAfter(code int, header http.Header, body string) Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			carryOut(next, r)
			respond(code, header, body).ServeHTTP(w, r)
		})
	}
}

// GoAway passes the response on and asks the client to use another connection
// from then on: a GOAWAY frame, as kube-apiserver sends them with
// --goaway-chance, or over HTTP/1.1 the header that means the same.
func GoAway(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := carryOut(next, r)
		response.Header().Set("Connection", "close")
		passOn(w, response, response.Body.Bytes())
	})
}

// GoAwayUnseen ends an HTTP/2 connection with a GOAWAY frame that says that
// its requests were not seen, so that clients send them again by themselves.
// That is true of this one; when others are under way and do not end soon, the
// frame says that requests may have been seen.
func GoAwayUnseen(http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for range 100 {
			if connectionOf(r).underWay.Load() == 1 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if connectionOf(r).underWay.Load() > 1 {
			goAway(r, maxStream, http2.ErrCodeInternal)
		}
		goAway(r, 0, http2.ErrCodeNo)
	})
}

// GoAwaySeen carries out the request and ends the HTTP/2 connection with a
// GOAWAY frame that says that requests may have been seen.
func GoAwaySeen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		carryOut(next, r)
		goAway(r, maxStream, http2.ErrCodeInternal)
	})
}

// RefuseStream says that an HTTP/2 request was not processed (REFUSED_STREAM), so
// that clients send it again by themselves. RefuseStreamAfter says so after the
// server has carried it out. The requests of the connection must come one after the
// other, because net/http does not tell the number of a stream.
func RefuseStream(http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { refuseStream(r) })
}

// RefuseStreamAfter is RefuseStream once the server has carried out the request.
func RefuseStreamAfter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		carryOut(next, r)
		refuseStream(r)
	})
}

// Interim sends responses before the response: 100 Continue and 103 Early Hints.
func Interim(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusContinue)
		w.WriteHeader(http.StatusEarlyHints)
		response := carryOut(next, r)
		passOn(w, response, response.Body.Bytes())
	})
}

// carryOut has the server carry out the request, whether or not the client is
// still there.
func carryOut(next http.Handler, r *http.Request) *httptest.ResponseRecorder {
	response := httptest.NewRecorder()
	next.ServeHTTP(response, withBody(r.WithContext(context.WithoutCancel(r.Context())), Body(r)))
	return response
}

// passOn responses with the code and the header of the server, and with body.
func passOn(w http.ResponseWriter, from *httptest.ResponseRecorder, body []byte) {
	respond(from.Code, from.Header(), string(body)).ServeHTTP(w, nil)
}

func respond(code int, header http.Header, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	})
}
