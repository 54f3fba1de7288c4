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

// A Fault wraps the handler next, which forwards the request and passes the response back.
type Fault func(next http.Handler) http.Handler

// DropRequest aborts before the server receives the request. DropRequest closes an HTTP/1.1 connection, or resets an
// HTTP/2 stream.
func DropRequest(http.Handler) http.Handler {
	return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

// DropResponse aborts like DropRequest after the server has carried out the request.
func DropResponse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		carryOut(next, r)
		panic(http.ErrAbortHandler)
	})
}

// ResetRequest sends half of the request to the server, and resets the connections on both sides.
func ResetRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		half := r.Clone(r.Context())
		body := Body(r)
		half.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), broken{}))
		next.ServeHTTP(httptest.NewRecorder(), half)
		reset(r)
	})
}

// ResetResponse carries out the request, passes half of the response on, and resets the connection to the client.
func ResetResponse(next http.Handler) http.Handler { return half(next, reset) }

// BreakResponse carries out the request, passes half of the response on, and aborts like DropResponse.
func BreakResponse(next http.Handler) http.Handler {
	return half(next, func(*http.Request) { panic(http.ErrAbortHandler) })
}

// half passes half of the response on, and then ends the request.
func half(next http.Handler, end func(*http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := carryOut(next, r)
		passOn(w, response, response.Body.Bytes()[:response.Body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		end(r)
	})
}

// LandLate holds the request until the client gives up. After another delay it sends the request to the server. A
// client that does not give up gets a response after patience.
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

// RepeatFirst sends the request to the server twice, like a proxy that retries, and passes the first response on.
func RepeatFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := carryOut(next, r)
		carryOut(next, r)
		passOn(w, response, response.Body.Bytes())
	})
}

// RepeatSecond sends the request to the server twice, and passes the second response on.
func RepeatSecond(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		carryOut(next, r)
		response := carryOut(next, r)
		passOn(w, response, response.Body.Bytes())
	})
}

// RefuseSecond simulates two copies of the request. The server carries out the first one. The client gets the status
// that refuses the second one. If the first copy stored nothing, the client gets its response.
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

// RefuseSecondEarly refuses the second copy while the first one is in flight. The server carries out the first copy
// later.
func RefuseSecondEarly(code int, status string, after time.Duration) Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sendLate(next, r, after)
			respond(code, isJSON, status).ServeHTTP(w, r)
		})
	}
}

// Garble carries out the request and passes on half of the response as if it were complete.
func Garble(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := carryOut(next, r)
		response.Header().Del("Content-Length")
		passOn(w, response, response.Body.Bytes()[:response.Body.Len()/2])
	})
}

// Respond responds itself and doesn't send the request to the server.
func Respond(code int, header http.Header, body string) Fault {
	return func(http.Handler) http.Handler { return respond(code, header, body) }
}

// RespondAfter responds itself after the server has carried out the request.
func RespondAfter(code int, header http.Header, body string) Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			carryOut(next, r)
			respond(code, header, body).ServeHTTP(w, r)
		})
	}
}

// GoAway passes the response on and asks the client to use another connection for later requests. GoAway sends a
// GOAWAY frame, like kube-apiserver with --goaway-chance, or the equivalent header of HTTP/1.1.
func GoAway(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := carryOut(next, r)
		response.Header().Set("Connection", "close")
		passOn(w, response, response.Body.Bytes())
	})
}

// GoAwayUnseen ends an HTTP/2 connection with a GOAWAY frame that declares its requests unprocessed. HTTP libraries
// then retry by themselves. The claim is true for this request. If other requests stay in flight, the frame declares
// that requests might have been processed.
func GoAwayUnseen(http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for range 300 {
			if connectionOf(r).inProgress.Load() == 1 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if connectionOf(r).inProgress.Load() > 1 {
			goAway(r, maxStream, http2.ErrCodeInternal)
		}
		goAway(r, 0, http2.ErrCodeNo)
	})
}

// GoAwaySeen carries out the request, and ends the HTTP/2 connection with a GOAWAY frame that declares that requests
// might have been processed.
func GoAwaySeen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		carryOut(next, r)
		goAway(r, maxStream, http2.ErrCodeInternal)
	})
}

// RefuseStream declares an HTTP/2 request unprocessed (REFUSED_STREAM). HTTP libraries then retry by themselves.
// Requests of the connection must be sequential, because net/http does not expose the number of a stream.
func RefuseStream(http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { refuseStream(r) })
}

// RefuseStreamAfter does the same as RefuseStream, but after the server has carried out the request.
func RefuseStreamAfter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		carryOut(next, r)
		refuseStream(r)
	})
}

// Interim sends the interim responses 100 Continue and 103 Early Hints before the response.
func Interim(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusContinue)
		w.WriteHeader(http.StatusEarlyHints)
		response := carryOut(next, r)
		passOn(w, response, response.Body.Bytes())
	})
}

// carryOut sends the request to the server, even if the client has disconnected.
func carryOut(next http.Handler, r *http.Request) *httptest.ResponseRecorder {
	response := httptest.NewRecorder()
	next.ServeHTTP(response, withBody(r.WithContext(context.WithoutCancel(r.Context())), Body(r)))
	return response
}

// passOn responds with the code and the header of the server, and with body.
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

// Observe returns a fault that also passes the status of the server's response to the function with. fault can be nil.
func Observe(fault Fault, with func(code int)) Fault {
	return func(next http.Handler) http.Handler {
		observed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&statusWriter{w, with}, r)
		})
		if fault == nil {
			return observed
		}
		return fault(observed)
	}
}

type statusWriter struct {
	http.ResponseWriter
	with func(code int)
}

func (s *statusWriter) WriteHeader(code int) {
	s.with(code)
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
