package live

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// bubble returns a test that runs f in synthetic time. So the engine's intervals take no real time.
func bubble(f func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
}

// takes checks that the time since began differs from want by a few seconds at most.
func takes(t *testing.T, began time.Time, want time.Duration) {
	t.Helper()
	if took := time.Since(began); took < want || took > want+5*time.Second {
		t.Errorf("it took %v, want %v to %v", took, want, want+5*time.Second)
	}
}

type meta = metav1.ObjectMeta

// newFakeServer returns a server whose faults follow from the seed.
func newFakeServer(t *testing.T, seed uint64) *fakeapi.Server {
	s := &fakeapi.Server{JSON: true, Version: 100, Clock: 1_700_000_000, Random: rand.New(rand.NewPCG(seed, 1))}
	s.StartPipe(t).Timeout = 10 * time.Second
	return s
}

var added atomic.Int64 // so that no two names are the same

// add adds so many objects with new names to a list. Their prefix is their generateName, too.
func add(server *fakeapi.Server, path, prefix string, n int) (objects []meta) {
	for range n {
		o := meta{Name: names.EffectivePrefix(prefix) + censustest.SuffixOf(int(added.Add(1))), GenerateName: prefix}
		if path != "/api/v1/nodes" {
			o.Namespace = "prod"
		}
		server.Change(path, "ADDED", o)
		objects = append(objects, o)
	}
	return objects
}

// newRuns returns a server with six Pods of the prefix run-.
func newRuns(t *testing.T) *fakeapi.Server {
	server := newFakeServer(t, 1)
	addRuns(server, 6)
	return server
}

// addRuns adds Pods of the prefix run-.
func addRuns(server *fakeapi.Server, n int) []meta { return add(server, "/api/v1/pods", "run-", n) }

type fault = func(n int, w http.ResponseWriter, r *http.Request) bool

// refuse makes the server respond with the code that a function returns for the path of a list, unless it is 0.
func refuse(code func(path string, watch bool) int) fault {
	return func(_ int, w http.ResponseWriter, r *http.Request) bool {
		path, _ := fakeapi.ListOf(r)
		if path == "/version" {
			return false
		}
		refused := code(path, fakeapi.IsWatch(r))
		if refused != 0 {
			fakeapi.Fail(w, refused, "refused")
		}
		return refused != 0
	}
}

// refusal returns a status code, with which the server responds to these requests while the code is not 0.
func refusal(server *fakeapi.Server, concerns func(path string, watch bool) bool) *atomic.Int32 {
	var code atomic.Int32
	server.Fault = refuse(func(path string, watch bool) int {
		if concerns == nil || concerns(path, watch) {
			return int(code.Load())
		}
		return 0
	})
	return &code
}

func ofAWatch(_ string, watch bool) bool { return watch }

func ofAList(_ string, watch bool) bool { return !watch }

// ofWatches is a fault that only the first watches meet, most of them at most.
func ofWatches(most int, respond http.HandlerFunc) fault {
	var so atomic.Int64
	return func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if !fakeapi.IsWatch(r) || so.Add(1) > int64(most) {
			return false
		}
		respond(w, r)
		return true
	}
}

// all is a limit for ofWatches that no test reaches.
const all = 1 << 30

func hung(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func mute(w http.ResponseWriter, r *http.Request) {
	fakeapi.Open(w)
	<-r.Context().Done()
}

// requests returns the number of requests for watches, or for the first pages of lists.
func requests(server *fakeapi.Server, watches bool) (n int) {
	server.Lock()
	defer server.Unlock()
	for _, uri := range server.Requests {
		isList := !strings.Contains(uri, "limit=1&") && !strings.HasSuffix(uri, "limit=1") && !strings.Contains(uri, "continue=") && uri != "/version"
		if isWatch := strings.Contains(uri, "watch=true"); isWatch == watches && (isWatch || isList) {
			n++
		}
	}
	return n
}
