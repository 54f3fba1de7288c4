//go:build go1.25

package once_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// If the context ends in the pause before a retry, nothing more is sent, and the call returns at once.
func TestInterruptedInPause(t *testing.T) {
	for name, test := range map[string]struct {
		verb  string
		fault oncetest.Fault
		want  error
		verbs string
	}{
		"not stored":  {"create", oncetest.WebhookTimeout, once.ErrUnknown, "create"},
		"no object":   {"create", oncetest.Conflict, once.ErrUnknown, "create get"},
		"lost":        {"create", oncetest.DropRequest, once.ErrUnknown, "create get"},
		"retry after": {"create", oncetest.TooManyRequests(1), once.ErrUnknown, "create"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, creator := newServerAndCreator()
				server.Always(test.verb, "*", test.fault)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // the first pause is 50 ms or more
				defer cancel()
				start, object := time.Now(), configMap()
				result, err := creator.Create(ctx, object, idOf(t))
				wantError(t, object, result, err, test.want, "")
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 20*time.Millisecond {
					t.Errorf("%v after %s", err, time.Since(start))
				}
				time.Sleep(time.Minute)
				if verbs := verbsOf(server); verbs != test.verbs {
					t.Errorf("requests: %s", verbs)
				}
			})
		})
	}
}

// If the context ends while a request is sent, no other request follows it. The
// error has the cause of the cancellation.
func TestInterruptedInRequest(t *testing.T) {
	why := errors.New("the manager stops")
	for name, fault := range map[string]oncetest.Fault{
		"conflict": oncetest.Conflict,
		"lost":     oncetest.DropResponse,
		"stored":   oncetest.Delay(time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, creator := newServerAndCreator()
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				server.Always("create", "*", func(r *oncetest.Request) (*http.Response, error) {
					cancel(why)
					return fault(r)
				})
				object := configMap()
				result, err := creator.Create(ctx, object, idOf(t))
				wantError(t, object, result, err, once.ErrUnknown, why.Error())
				time.Sleep(time.Minute)
				if !errors.Is(err, context.Canceled) || verbsOf(server) != "create" {
					t.Errorf("%v, requests: %s", err, verbsOf(server))
				}
			})
		})
	}
}

// Requests without a clear response are repeated for 5 seconds. Then the outcome is unknown. A request also has a time
// limit, because client-go waits for a Retry-After during a request.
func TestEndOfRetries(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(*oncetest.Server)
		longest time.Duration
	}{
		"each POST is lost": {func(s *oncetest.Server) { s.Always("create", "*", oncetest.DropRequest) }, 5 * time.Second},
		"each GET is about another object": {func(s *oncetest.Server) {
			s.Always("create", "*", oncetest.Conflict)
			s.Always("get", "*", otherObject(http.StatusOK))
		}, 5 * time.Second},
		"Retry-After": {func(s *oncetest.Server) { s.Always("create", "*", oncetest.TooManyRequests(30)) }, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, creator := newServerAndCreator()
				test.prepare(server)
				start, object := time.Now(), configMap()
				result, err := creator.Create(t.Context(), object, idOf(t))
				wantError(t, object, result, err, once.ErrUnknown, "")
				if took := time.Since(start); took < test.longest/5 || took > test.longest {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}
