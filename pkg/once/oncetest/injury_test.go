package oncetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// quiet returns a context under which client-go does not log what breaks off.
func quiet(t *testing.T) context.Context {
	return klog.NewContext(t.Context(), logr.Discard())
}

func isText(err error) bool { return apierrors.IsUnexpectedServerError(err) }

func hasCode(code int32) func(error) bool {
	return func(err error) bool {
		status, ok := err.(apierrors.APIStatus) //nolint:errorlint // as client-go returns it
		return ok && status.Status().Code == code
	}
}

// What a create under a name meets: what the client gets, and what is stored.
func TestInjuries(t *testing.T) {
	for name, test := range map[string]struct {
		injury oncetest.Injury
		is     func(error) bool
		stored int
	}{
		"LoseRequest":      {oncetest.LoseRequest, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }, 0},
		"LoseAnswer":       {oncetest.LoseAnswer, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }, 1},
		"CutAnswer":        {oncetest.CutAnswer, func(err error) bool { return strings.Contains(err.Error(), io.ErrUnexpectedEOF.Error()) }, 1},
		"SendTwice":        {oncetest.SendTwice, apierrors.IsAlreadyExists, 1},
		"AfterStore":       {oncetest.AfterStore(oncetest.QuotaExceeded), apierrors.IsForbidden, 1},
		"QuotaExceeded":    {oncetest.QuotaExceeded, apierrors.IsForbidden, 0},
		"Forbidden":        {oncetest.Forbidden, apierrors.IsForbidden, 0},
		"WebhookDenied":    {oncetest.WebhookDenied, apierrors.IsForbidden, 0},
		"WebhookNotCalled": {oncetest.WebhookNotCalled, apierrors.IsInternalError, 0},
		"MethodNotAllowed": {oncetest.MethodNotAllowed, apierrors.IsMethodNotSupported, 0},
		"Unauthorized":     {oncetest.Unauthorized, apierrors.IsUnauthorized, 0},
		"TooManyRequests":  {oncetest.TooManyRequests(0), apierrors.IsTooManyRequests, 0},
		"EtcdTimeout":      {oncetest.EtcdTimeout, hasCode(http.StatusInternalServerError), 0},
		"GatewayTimeout":   {oncetest.GatewayTimeout, apierrors.IsTimeout, 0},
		"Text":             {oncetest.Text(http.StatusServiceUnavailable), isText, 0},
		"HTML":             {oncetest.HTML(http.StatusBadGateway), isText, 0},
		"Refuse":           {oncetest.Refuse(apierrors.NewBadRequest("no")), apierrors.IsBadRequest, 0},
		"HTML of a 200":    {oncetest.AfterStore(oncetest.HTML(http.StatusOK)), func(err error) bool { return err != nil }, 1},
		"StripAnnotations": {oncetest.StripAnnotations, func(err error) bool { return err == nil }, 1},
		"none":             {nil, func(err error) bool { return err == nil }, 1},
	} {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		server.Next(test.injury)
		if _, err := client.Create(quiet(t), named("a"), metav1.CreateOptions{}); !test.is(err) {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(server.Objects()); n != test.stored {
			t.Errorf("%s: %d objects", name, n)
		}
		if records := server.Requests(); len(records) != 1 || records[0].Injured != (test.injury != nil) || records[0].Answer == "" {
			t.Errorf("%s: %v", name, records)
		}
	}
}

// Webhooks change what is stored, and the client sees it.
func TestMutate(t *testing.T) {
	server := oncetest.NewServer()
	client := configMapsOf(server.Config())
	sent := named("a")
	sent.Annotations, sent.Labels = map[string]string{"a": "b"}, map[string]string{"c": "d"}
	server.Next(
		oncetest.StripAnnotations, oncetest.Rename("x"), oncetest.StripLabels,
		oncetest.Mutate(func(o *unstructured.Unstructured) { o.SetName("y") }, oncetest.LoseAnswer),
	)
	for n, want := range []string{"a map[] map[c:d]", "x map[a:b] map[c:d]"} {
		if made := create(t, client, sent); fmt.Sprint(made.Name, " ", made.Annotations, " ", made.Labels) != want {
			t.Errorf("%d: %+v", n, made)
		}
	}
	sent.Name = "b"
	if made := create(t, client, sent); len(made.Labels) != 0 {
		t.Errorf("%+v", made)
	}
	if _, err := client.Create(t.Context(), named("c"), metav1.CreateOptions{}); err == nil || server.Objects()[3].GetName() != "y" {
		t.Errorf("%v, %v", err, server.Objects()[3])
	}
	if r := server.Requests()[3]; r.Sent.GetName() != "c" || r.Name != "c" {
		t.Errorf("the record has %s instead of what was sent", r.Name)
	}
}

func TestLandLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		server.Next(oncetest.LandLate(time.Minute, oncetest.LoseRequest), oncetest.LandLate(time.Hour, oncetest.GatewayTimeout))
		for _, name := range []string{"a", "b"} {
			if _, err := client.Create(t.Context(), named(name), metav1.CreateOptions{}); err == nil {
				t.Error("an answer came")
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

// A request that is delayed is carried out in time, or after the client has
// given up.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		server.Next(oncetest.Delay(time.Second), oncetest.Delay(time.Minute))
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

// Reads can be refused, and be behind.
func TestReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		create(t, client, named("a"))
		time.Sleep(time.Minute)
		create(t, client, named("b"))
		if err := client.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		server.NextReads(oncetest.Forbidden, oncetest.Stale(time.Second), oncetest.Stale(time.Second), oncetest.Stale(time.Hour))
		if _, err := client.Get(t.Context(), "b", metav1.GetOptions{}); !apierrors.IsForbidden(err) ||
			err.Error() != `configmaps "b" is forbidden: User "oncetest" cannot get resource "configmaps" in API group "" in the namespace "ns"` {
			t.Error(err)
		}
		if _, err := client.Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		for n, want := range []string{"[a]", "[]", "[b]"} {
			list, err := client.List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, o := range list.Items {
				got = append(got, o.Name)
			}
			if fmt.Sprint(got) != want {
				t.Errorf("%d: %s, want %s", n, got, want)
			}
		}
	})
}

// What is injured follows from the seed and the object, not from the order.
func TestSeeded(t *testing.T) {
	injured := func(seed uint64, rate float64, backwards bool) string {
		server := oncetest.NewServer()
		server.Injure(oncetest.Seeded(seed, rate, oncetest.QuotaExceeded, oncetest.GatewayTimeout))
		client := configMapsOf(server.Config())
		order, what := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, map[int]string{}
		for i := range order {
			n := order[i]
			if backwards {
				n = order[len(order)-1-i]
			}
			_, err := client.Create(t.Context(), named(fmt.Sprint("c", n)), metav1.CreateOptions{})
			what[n] = fmt.Sprint(apierrors.ReasonForError(err))
		}
		return fmt.Sprint(what)
	}
	switch some := injured(1, 0.5, false); {
	case some != injured(1, 0.5, true), some == injured(2, 0.5, false):
		t.Errorf("%s\n%s\n%s", some, injured(1, 0.5, true), injured(2, 0.5, false))
	case strings.Contains(injured(1, 0, false), "Forbidden"), strings.Contains(injured(1, 1, false), "Unknown"):
		t.Errorf("%s\n%s", injured(1, 0, false), injured(1, 1, false))
	case !strings.Contains(some, "Forbidden"), !strings.Contains(some, "Timeout"), !strings.Contains(some, ": "):
		t.Error(some)
	}
}

// The everyday injuries of Seeded leave each named object at most once, and
// sooner or later all of them.
func TestEverydayInjuries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		server.Injure(oncetest.Seeded(3, 0.9))
		client := configMapsOf(server.Config())
		answers := map[string]bool{}
		for n := range 100 {
			object := named(fmt.Sprint("c", n))
			for {
				_, err := client.Create(quiet(t), object, metav1.CreateOptions{})
				answers[fmt.Sprint(apierrors.ReasonForError(err))] = true
				if err == nil || apierrors.IsAlreadyExists(err) {
					break
				}
			}
		}
		if n := len(server.Objects()); n != 100 || len(answers) < 5 {
			t.Errorf("%d objects, %v", n, answers)
		}
	})
}

// Discovery is not injured unless a test says so.
func TestDiscoveryIsLeftAlone(t *testing.T) {
	choose := oncetest.Seeded(1, 1)
	if choose(&oncetest.Request{}) != nil || choose(&oncetest.Request{Verb: "list"}) == nil {
		t.Error("it is the other way round")
	}
}
