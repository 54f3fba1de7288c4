package oncetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// quiet returns a context under which client-go does not log broken connections.
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

// Each fault of a create has the documented error for the client, and stores the object or not.
func TestFaults(t *testing.T) {
	for name, test := range map[string]struct {
		fault  oncetest.Fault
		is     func(error) bool
		stored int
	}{
		"LoseRequest":      {oncetest.DropRequest, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }, 0},
		"LoseAnswer":       {oncetest.DropResponse, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }, 1},
		"CutAnswer":        {oncetest.CutResponse, func(err error) bool { return strings.Contains(err.Error(), io.ErrUnexpectedEOF.Error()) }, 1},
		"SendTwice":        {oncetest.SendTwice, apierrors.IsAlreadyExists, 1},
		"AfterStore":       {oncetest.AfterStore(oncetest.QuotaExceeded), apierrors.IsForbidden, 1},
		"QuotaExceeded":    {oncetest.QuotaExceeded, apierrors.IsForbidden, 0},
		"Forbidden":        {oncetest.Forbidden, apierrors.IsForbidden, 0},
		"WebhookDenied":    {oncetest.WebhookDenied, apierrors.IsForbidden, 0},
		"WebhookNotCalled": {oncetest.WebhookTimeout, apierrors.IsInternalError, 0},
		"Conflict":         {oncetest.Conflict, apierrors.IsAlreadyExists, 0},
		"Unauthorized":     {oncetest.Unauthorized, apierrors.IsUnauthorized, 0},
		"TooManyRequests":  {oncetest.TooManyRequests(0), apierrors.IsTooManyRequests, 0},
		"EtcdTimeout":      {oncetest.EtcdTimeout, hasCode(http.StatusInternalServerError), 0},
		"GatewayTimeout":   {oncetest.GatewayTimeout, apierrors.IsTimeout, 0},
		"Respond":          {oncetest.Respond(http.StatusBadGateway, "text/plain", "no"), isText, 0},
		"Refuse":           {oncetest.Refuse(apierrors.NewBadRequest("no")), apierrors.IsBadRequest, 0},
		"a page":           {oncetest.AfterStore(oncetest.Respond(http.StatusOK, "text/html", "<html>")), func(err error) bool { return err != nil }, 1},
		"bare": {func(*oncetest.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusServiceUnavailable}, nil
		}, apierrors.IsServiceUnavailable, 0},
		"none": {nil, func(err error) bool { return err == nil }, 1},
	} {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		server.Next("create", "*", test.fault)
		if _, err := client.Create(quiet(t), named("a"), metav1.CreateOptions{}); !test.is(err) {
			t.Errorf("%s: %v, want the response of this fault", name, err)
		}
		if n := len(server.Objects()); n != test.stored {
			t.Errorf("%s: %d objects", name, n)
		}
		if records := server.Requests(); len(records) != 1 || records[0].Faulted != (test.fault != nil) || records[0].Response == "" {
			t.Errorf("%s: %v, want 1 request with a response, faulted: %t", name, records, test.fault != nil)
		}
	}
}

// A rule applies to its verb and resource only, and the first rule decides.
func TestRules(t *testing.T) {
	server := oncetest.NewServer()
	clients := kubernetes.NewForConfigOrDie(server.Config())
	server.Next("create", "configmaps", nil, oncetest.QuotaExceeded)
	server.Always("create", "jobs.batch", oncetest.WebhookDenied)
	server.Always("create", "*", oncetest.Unauthorized)
	server.Always("update", "jobs/status", oncetest.Conflict)
	steps := ""
	step := func(err error) { steps += fmt.Sprint(apierrors.ReasonForError(err), " ") }
	_, err := clients.BatchV1().Jobs("ns").Create(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	step(err)
	for _, name := range []string{"a", "b", "c"} {
		_, err := clients.CoreV1().ConfigMaps("ns").Create(t.Context(), named(name), metav1.CreateOptions{})
		step(err)
	}
	server.Clear()
	server.Always("update", "jobs/status", oncetest.Conflict)
	job, err := clients.BatchV1().Jobs("ns").Create(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	step(err)
	_, err = clients.BatchV1().Jobs("ns").Update(t.Context(), job, metav1.UpdateOptions{})
	step(err)
	_, err = clients.BatchV1().Jobs("ns").UpdateStatus(t.Context(), job, metav1.UpdateOptions{})
	step(err)
	if want := "Forbidden Unknown Forbidden Unauthorized Unknown Unknown Conflict "; steps != strings.ReplaceAll(want, "Unknown", string(metav1.StatusReasonUnknown)) && steps != strings.ReplaceAll(want, "Unknown", "") {
		t.Errorf("%s, want %s", steps, want)
	}
}

// The faults work on any transport, also for a client that sends and accepts protobuf.
func TestWrap(t *testing.T) {
	server := oncetest.NewServer()
	var accepted string
	network := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepted = r.Header.Get("Accept")
		server.ServeHTTP(w, r)
	}))
	defer network.Close()
	var faults oncetest.Faults
	config := rest.CopyConfig(server.Config())
	config.Host, config.Transport = network.URL+"/", nil
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	config.Wrap(faults.Wrap)
	// Mutate sends the changed object in JSON, the only format that this server reads.
	faults.Always("create", "configmaps", oncetest.Mutate(func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"x": "y"}) }, nil))
	client := configMapsOf(config)
	if object := create(t, client, named("a")); object.Labels["x"] != "y" {
		t.Errorf("labels %v, want x: y", object.Labels)
	}
	if r := faults.Requests(); len(r) != 1 || r[0].Name != "a" || r[0].Sent.GetKind() != "ConfigMap" || len(r[0].Sent.GetLabels()) != 0 {
		t.Errorf("%+v, want 1 request with the ConfigMap a without labels", r)
	}
	if r := server.Requests(); len(r) != 1 || r[0].Faulted {
		t.Errorf("%+v, want 1 request without a fault", r)
	}
	faults.Next("get", "configmaps", oncetest.StaleRead(time.Hour)) // reads objects in JSON
	if _, err := client.Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) || strings.Contains(accepted, "protobuf") {
		t.Errorf("%v after a request for %s, want not found after a request for JSON", err, accepted)
	}
}

// The seed and the object decide which requests have a fault.
func TestRandom(t *testing.T) {
	faulted := func(seed uint64, rate float64, backwards bool) string {
		server := oncetest.NewServer()
		server.Random("create", "configmaps", seed, rate, oncetest.QuotaExceeded, oncetest.GatewayTimeout)
		client := configMapsOf(server.Config())
		order, reasons := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, map[int]string{}
		for i := range order {
			n := order[i]
			if backwards {
				n = order[len(order)-1-i]
			}
			_, err := client.Create(t.Context(), named(fmt.Sprint("c", n)), metav1.CreateOptions{})
			reasons[n] = fmt.Sprint(apierrors.ReasonForError(err))
		}
		return fmt.Sprint(reasons)
	}
	switch some := faulted(1, 0.5, false); {
	case some != faulted(1, 0.5, true), some == faulted(2, 0.5, false):
		t.Errorf("%s\n%s\n%s", some, faulted(1, 0.5, true), faulted(2, 0.5, false))
	case strings.Contains(faulted(1, 0, false), "Forbidden"), strings.Contains(faulted(1, 1, false), "Unknown"):
		t.Errorf("%s\n%s", faulted(1, 0, false), faulted(1, 1, false))
	case !strings.Contains(some, "Forbidden"), !strings.Contains(some, "Timeout"), !strings.Contains(some, ": "):
		t.Error(some)
	}
}

// Func sees all requests, the other rules those about objects.
func TestDiscoveryHasNoFaults(t *testing.T) {
	server := oncetest.NewServer()
	asked := 0
	server.Func(func(r *oncetest.Request) oncetest.Fault {
		if r.Verb == "" {
			asked++
		}
		return nil
	})
	server.Always("*", "*", oncetest.Unauthorized)
	clients := kubernetes.NewForConfigOrDie(server.Config())
	if _, err := clients.Discovery().ServerVersion(); err != nil || asked != 1 {
		t.Errorf("asked %d times, want 1: %v", asked, err)
	}
	_, err := clients.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || asked != 2 || len(server.Requests()) != 0 {
		t.Errorf("asked %d times, recorded %v, want 2 and none: %v", asked, server.Requests(), err)
	}
	if _, err := clients.CoreV1().Secrets("ns").List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
}
