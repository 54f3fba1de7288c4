package census

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// inFlight counts the concurrent requests of a server, and their maximum.
type inFlight struct {
	mu        sync.Mutex
	now, most int
	changed   chan struct{}
}

func (f *inFlight) enter() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now++
	f.most = max(f.most, f.now)
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *inFlight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now--
}

// waitFor waits until n requests are or were in flight. It gives up after a minute.
func (f *inFlight) waitFor(n int) {
	late := time.After(time.Minute)
	for {
		f.mu.Lock()
		reached, changed := f.most >= n, f.changed
		f.mu.Unlock()
		if reached {
			return
		}
		select {
		case <-changed:
		case <-late:
			return
		}
	}
}

// Only a few pages of big lists are in flight, because each takes the seats of many requests. The user can set another
// number.
func TestFewBigPagesAtOnce(t *testing.T) {
	for concurrency, want := range map[int]int{0: bigAtOnce, 1: 1, 3: 3} {
		f := inFlight{changed: make(chan struct{})}
		a := &fakeapi.Server{}
		a.Set(inOrder(3 * firstPage))
		a.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("continue") == "" {
				return false
			}
			f.enter()
			defer f.leave()
			f.waitFor(want)
			time.Sleep(20 * time.Millisecond) // time for more requests to arrive
			a.Serve(w, r)
			return true
		}
		s := &Scanner{Config: a.Start(t), Concurrency: concurrency, Version: "1.34"}
		types := []Resource{configMaps, configMaps, configMaps, configMaps, configMaps, configMaps}
		count(t, s, "", types...)
		if f.most != want {
			t.Errorf("concurrency %d: %d big pages at once, want %d", concurrency, f.most, want)
		}
	}
}

// A polite scan sends one request at a time, and then pauses for nine times the duration of the request. Scans that
// share their limits also send one request at a time together.
func TestPolite(t *testing.T) {
	const takes = 10 * time.Millisecond
	var began []time.Time
	a := &fakeapi.Server{}
	a.Set(inOrder(50))
	a.Fault = func(int, http.ResponseWriter, *http.Request) bool {
		began = append(began, time.Now()) // the race detector reports concurrent requests
		time.Sleep(takes)
		return false
	}
	s := &Scanner{Config: a.Start(t), Polite: true, ChunkSize: 20}
	s.ShareLimits()
	copied := *s
	var both sync.WaitGroup
	both.Go(func() {
		if _, _, err := copied.Sizes(t.Context(), []Resource{configMaps}, ""); err != nil {
			t.Error(err)
		}
	})
	count(t, s, "", configMaps, configMaps)
	both.Wait()
	if len(began) != 7 {
		t.Fatalf("%d requests", len(began))
	}
	for i, at := range began[1:] {
		if pause := at.Sub(began[i]); pause < (1+politePauses)*takes {
			t.Errorf("request %d began %s after the one before", i+1, pause)
		}
	}
}

// A polite scan lists its last types long after the first. An object is recent relative to the list of its type.
func TestRecentBeforeItsList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, now := &fakeapi.Server{}, time.Now()
		types := []Resource{configMaps, Pods}
		for _, r := range types {
			for suffix, age := range map[string]time.Duration{"bcdfg": 5 * time.Minute, "bcdfh": -2 * time.Minute} {
				a.Clock = now.Add(-age).Unix()
				a.Change("/api/v1/"+r.Resource, "ADDED", metav1.ObjectMeta{Namespace: "n", Name: "run-" + suffix, GenerateName: "run-"})
			}
		}
		a.Fault = func(int, http.ResponseWriter, *http.Request) bool {
			time.Sleep(time.Minute)
			return false
		}
		s := &Scanner{Config: a.StartPipe(t), Polite: true, Since: []time.Time{now.Add(-10 * time.Minute)}}
		pools, _ := count(t, s, "", types...)
		var recent []int64
		for _, pool := range pools {
			recent = append(recent, pool.Recent[0])
		}
		// The lists are read a minute and eleven minutes after the beginning, in any order.
		if slices.Sort(recent); !slices.Equal(recent, []int64{1, 2}) {
			t.Errorf("%d objects of the last ten minutes, want 1 of the later list and 2 of the earlier one", recent)
		}
	})
}

// The scan reports a long pause after a slow request.
func TestReportsALongPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported []time.Duration
		l := &limiter{
			polite: true, slots: make(chan struct{}, 1),
			resting: func(pause time.Duration) { reported = append(reported, pause) },
		}
		for _, takes := range []time.Duration{time.Second, 40 * time.Second, time.Second} {
			slot, err := l.acquire(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(takes)
			slot.release()
		}
		if !slices.Equal(reported, []time.Duration{6 * time.Minute}) {
			t.Errorf("reported %v", reported)
		}
	})
}

// Scans that share their limits report an outage and its end once, whichever scan notices it.
func TestOutageIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported []string
		s := &Scanner{Config: &rest.Config{}, Unreachable: func(cause error, after time.Duration) {
			reported = append(reported, fmt.Sprint(cause, " ", after))
		}}
		s.ShareLimits()
		for _, err := range []error{io.EOF, io.EOF, io.EOF, nil} {
			server, _ := newServer(s)
			server.observe(t.Context(), time.Now(), err)
			time.Sleep(3 * time.Second)
		}
		if want := []string{"EOF 3s", "<nil> 9s"}; !slices.Equal(want, reported) {
			t.Errorf("reported %q, want %q", reported, want)
		}
	})
}

// The scan reports an outage that has lasted for a while, and also its end. The scan doesn't report a single broken
// connection or an error response.
func TestReportsAnUnreachableServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported []string
		o := &outage{report: func(cause error, after time.Duration) {
			reported = append(reported, fmt.Sprint(cause, " ", after))
		}}
		busy := apierrors.NewTooManyRequests("later", 1)
		for _, request := range []struct {
			after time.Duration
			err   error
		}{
			{0, io.EOF},
			{time.Second, nil},
			{time.Hour, io.EOF},
			{time.Second, io.ErrUnexpectedEOF},
			{2 * time.Second, io.EOF},
			{time.Second, io.ErrUnexpectedEOF},
			{36 * time.Second, busy},
			{time.Second, nil},
			{time.Second, io.EOF},
			{2 * time.Second, busy},
		} {
			time.Sleep(request.after)
			o.observe(request.err)
		}
		if want := []string{"EOF 3s", "<nil> 40s"}; !slices.Equal(want, reported) {
			t.Errorf("reported %q, want %q", reported, want)
		}
	})
}
