package duplicates

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

// podOfMillion is the i-th Pod. Its metadata is as large as that of a Job's Pod. It is three minutes younger than the
// Pod before it.
func podOfMillion(i int) metav1.ObjectMeta {
	controller := true
	return metav1.ObjectMeta{
		Namespace: "batch", Name: "run-" + suffixOf(i), GenerateName: "run-",
		UID:               types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", i)),
		CreationTimestamp: metav1.Unix(since+int64(i)*180, 0),
		Labels:            map[string]string{"app": "run", "batch.kubernetes.io/job-name": "run"},
		OwnerReferences:   []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Run", Name: "run", UID: "u", Controller: &controller}},
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "controller", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{}}}`),
		}},
	}
}

// peak samples the heap until it is stopped. stop returns the peak of live memory.
func peak() (stop func() float64) {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var most atomic.Uint64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most.Store(max(most.Load(), now.HeapAlloc))
			select {
			case <-done:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return func() float64 {
		close(done)
		<-ended
		return float64(int64(most.Load())-int64(before.HeapAlloc)) / (1 << 20)
	}
}

// BenchmarkMillion compares a search in a million recent objects without candidates with a census of
// them. The server runs in the same process and adds the same cost to both.
func BenchmarkMillion(b *testing.B) {
	server := httptest.NewServer(censustest.Pages{Objects: 1_000_000, Object: podOfMillion})
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	scanner := func() *census.Scanner {
		return &census.Scanner{Config: config, Version: "v1.34.4", RetryTimeout: time.Minute}
	}
	b.Run("census", func(b *testing.B) {
		for b.Loop() {
			stop := peak()
			_, summary, err := scanner().Count(b.Context(), []census.Resource{pods}, "batch")
			if err != nil || summary.Objects != 1_000_000 {
				b.Fatal(err, summary)
			}
			b.ReportMetric(stop(), "peak-MiB")
		}
	})
	b.Run("duplicates", func(b *testing.B) {
		for b.Loop() {
			stop := peak()
			f := &Finder{
				Scanner: scanner(), Resources: []census.Resource{pods}, Namespace: "batch",
				Within: 2 * time.Minute, Since: time.Unix(since, 0), Now: time.Now(),
			}
			result, err := f.Find(b.Context())
			if err != nil || result.Recent != 1_000_000 || result.Candidates != 0 {
				b.Fatal(err, result)
			}
			b.ReportMetric(stop(), "peak-MiB")
		}
	})
}
