//go:build go1.25

package oncetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// A late request is stored when it is due, or when Land is called.
func TestStoreLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		server.Next("create", "*", oncetest.StoreLate(time.Minute, oncetest.DropRequest), oncetest.StoreLate(time.Hour, oncetest.GatewayTimeout))
		for _, name := range []string{"a", "b"} {
			if _, err := client.Create(t.Context(), named(name), metav1.CreateOptions{}); err == nil {
				t.Error("a response came")
			}
		}
		if _, err := client.Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if _, err := client.Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		server.Land()
		if n := len(server.Objects()); n != 2 {
			t.Errorf("%d objects", n)
		}
	})
}

// A delayed request is stored even if the client has given up.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		server.Next("create", "*", oncetest.Delay(time.Second), oncetest.Delay(time.Minute))
		start := time.Now()
		if create(t, client, named("a")); time.Since(start) != time.Second {
			t.Errorf("after %s", time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := client.Create(ctx, named("b"), metav1.CreateOptions{}); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 11*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		for n, wait := range []time.Duration{49 * time.Second, time.Second} {
			time.Sleep(wait)
			_, err := client.Get(t.Context(), "b", metav1.GetOptions{})
			if apierrors.IsNotFound(err) != (n == 0) {
				t.Error(err)
			}
		}
	})
}

func namesIn(list *corev1.ConfigMapList) string {
	names := []string{}
	for _, o := range list.Items {
		names = append(names, o.Name)
	}
	return fmt.Sprint(names)
}

// A stale read hides the objects that were created a short time ago.
func TestStaleRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		create(t, client, named("a"))
		time.Sleep(time.Minute)
		create(t, client, named("b"))
		server.Next("get", "*", oncetest.Forbidden)
		server.Always("*", "*", oncetest.StaleRead(10*time.Second))
		if _, err := client.Get(t.Context(), "b", metav1.GetOptions{}); !apierrors.IsForbidden(err) ||
			err.Error() != `configmaps "b" is forbidden: User "oncetest" cannot get resource "configmaps" in API group "" in the namespace "ns"` {
			t.Error(err)
		}
		if _, err := client.Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if _, err := client.Get(t.Context(), "b", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		for _, want := range []string{"[a]", "[a b]"} {
			list, err := client.List(t.Context(), metav1.ListOptions{})
			if err != nil || namesIn(list) != want {
				t.Errorf("%v, %v, want %s", namesIn(list), err, want)
			}
			time.Sleep(10 * time.Second)
		}
		if _, err := client.Get(t.Context(), "b", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// A violation prints all requests about its objects, and no others.
func TestViolation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		create(t, client, generated("b"))
		server.Next("create", "*", oncetest.DropResponse)
		_, _ = client.Create(context.Background(), generated("a"), metav1.CreateOptions{})
		time.Sleep(1500 * time.Millisecond)
		second := create(t, client, generated("a"))
		server.Next("get", "*", oncetest.Forbidden)
		_, _ = client.Get(t.Context(), second.Name, metav1.GetOptions{})
		_, _ = client.List(t.Context(), metav1.ListOptions{})
		violations := server.Check(purposeOf, map[string]oncetest.Outcome{"a": oncetest.Created, "b": oncetest.Created})
		if len(violations) != 1 {
			t.Fatal(violations)
		}
		first, name := violations[0].Objects[0].GetName(), second.Name
		want := fmt.Sprintf(`a: more than one object (expected: created)
	object: ns/%s, uid 00000000-0000-4000-8000-000000000002
	object: ns/%s, uid 00000000-0000-4000-8000-000000000003
	00:00:00.000 create configmaps ns/p-*: read tcp: connection reset by peer (fault; the server's responses: 201)
	00:00:01.500 create configmaps ns/p-*: 201
	00:00:01.500 get configmaps ns/%s: 403 configmaps %[3]q is forbidden: User "oncetest" cannot get resource "configmaps" in API group "" in the namespace "ns" (fault; the server's responses: none)`, first, name, name)
		if got := violations[0].String(); got != want {
			t.Errorf("%s\n\nwant\n%s", got, want)
		}
	})
}

// A connection that is lost during a watch doesn't wait for the end of the watch.
func TestLostWatch(t *testing.T) {
	for name, fault := range map[string]oncetest.Fault{"DropResponse": oncetest.DropResponse, "CutResponse": oncetest.CutResponse} {
		synctest.Test(t, func(t *testing.T) {
			server := oncetest.NewServer()
			server.Next("watch", "configmaps", fault)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			start := time.Now()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://oncetest.invalid/api/v1/configmaps?watch=true", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := server.RoundTrip(req)
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			if err == nil || time.Since(start) > 0 {
				t.Errorf("%s: %v after %s", name, err, time.Since(start))
			}
		})
	}
}
