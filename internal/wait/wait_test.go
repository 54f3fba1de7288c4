package wait

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// finish returns a change that adds a condition to a Job.
func finish(condition string) func(map[string]any) {
	return func(job map[string]any) {
		job["status"] = map[string]any{"conditions": []any{
			map[string]any{"type": condition, "status": "True", "reason": "Why", "message": "because"},
		}}
	}
}

func suspend(is bool) func(map[string]any) {
	return func(job map[string]any) { job["spec"] = map[string]any{"suspend": is} }
}

func unlabel(job map[string]any) { delete(job["metadata"].(map[string]any), "labels") }

// serving runs a test with a new server in synthetic time.
func serving(t *testing.T, test func(t *testing.T, s *server)) {
	synctest.Test(t, func(t *testing.T) { test(t, newServer()) })
}

// expect runs a wait and happens concurrently, and compares the events of the wait.
func expect(t *testing.T, s *server, config Config, objects []Object, happens func(), want ...string) {
	t.Helper()
	config.Client = s.client(t)
	if happens != nil {
		go happens()
	}
	var got []string
	for event := range Run(t.Context(), config, objects) {
		got = append(got, word(event))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("events %q, want %q; the requests are %q", got, want, s.verbs())
	}
}

// word returns an event in words.
func word(event Event) string {
	switch e := event.(type) {
	case Ended:
		text := fmt.Sprintf("%s %s", e.Object.Name, e.Result)
		if e.Status.Reason != "" {
			text += fmt.Sprintf(" %s: %s", e.Status.Reason, e.Status.Message)
		}
		if e.Status.Suspended {
			text += " suspended"
		}
		if e.Result == OutOfTime && e.Progress.Reason != "" {
			text += ", " + e.Progress.Reason
		}
		return text
	case Change:
		return strings.TrimSpace(fmt.Sprintf("%s suspended is %v %s", e.Object.Name, e.Suspended, e.Progress.Reason))
	case Retry:
		return "retry " + e.Object.Name
	}
	return fmt.Sprintf("%T", event)
}

// after returns a function that calls do after a delay.
func after(d time.Duration, do func()) func() {
	return func() {
		time.Sleep(d)
		do()
	}
}

var minute = Config{Timeout: time.Minute, RetryTimeout: 20 * time.Second}

// If the wait begins with the response to the POST, one watch is enough for all objects of a namespace.
func TestFinish(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a, b := s.create("a"), s.create("b")
		expect(t, s, minute, []Object{a, b}, after(time.Second, func() {
			s.update("b", finish("Failed"))
			s.update("a", finish("Complete"))
		}), "a succeeded Why: because", "b failed Why: because")
		if !slices.Equal(s.verbs(), []string{"watch"}) {
			t.Errorf("the requests are %q", s.verbs())
		}
	})
}

// The wait ends with the last object if it has no time limit. Otherwise it ends at the limit, or at once.
func TestTimeout(t *testing.T) {
	for timeout, want := range map[time.Duration]string{
		-1: "a succeeded Why: because", 0: "a out of time", time.Second: "a out of time", time.Hour: "a succeeded Why: because",
	} {
		serving(t, func(t *testing.T, s *server) {
			a := s.create("a")
			done := make(chan struct{})
			began := time.Now()
			expect(t, s, Config{Timeout: timeout}, []Object{a}, func() {
				defer close(done)
				time.Sleep(30 * time.Minute)
				s.update("a", finish("Complete"))
			}, want)
			if took := time.Since(began); timeout >= 0 && took > timeout && want == "a out of time" {
				t.Errorf("it took %s", took)
			}
			<-done
		})
	}
}

// With the timeout 0, the wait finds the objects that have already finished.
func TestCheckOnce(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a, b, c := s.create("a", "x"), s.create("b", "x"), s.create("c", "x")
		s.update("a", finish("Complete"))
		s.update("c", suspend(true))
		s.update("b", unlabel)
		s.update("b", finish("Failed"))
		a.Selector, b.Selector, c.Selector = "run=x", "run=x", "run=x"
		expect(t, s, Config{}, []Object{a, b, c}, nil,
			"a succeeded Why: because", "b failed Why: because", "c suspended is true", "c out of time suspended")
	})
}

// An interrupt ends the wait at once, even while a request hangs.
func TestInterrupt(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a, b := s.create("a"), s.create("b")
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, interrupt)
		release := make(chan struct{})
		s.fault = func(string) error { <-release; return nil }
		began := time.Now()
		var got []string
		for event := range Run(ctx, Config{Client: s.client(t), Timeout: time.Hour}, []Object{b, a}) {
			got = append(got, word(event))
		}
		if !slices.Equal(got, []string{"a interrupted", "b interrupted"}) || time.Since(began) != time.Second {
			t.Errorf("%q after %s", got, time.Since(began))
		}
		close(release)
	})
}

// The wait ends when its caller takes no more events.
func TestStop(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a, b := s.create("a"), s.create("b")
		time.AfterFunc(time.Second, func() { s.update("a", finish("Complete")) })
		config := minute
		config.Client = s.client(t)
		for event := range Run(t.Context(), config, []Object{a, b}) {
			if word(event) != "a succeeded Why: because" {
				t.Error(word(event))
			}
			break
		}
	})
}

// A deleted object has not succeeded, unless it finished before its deletion, for example because of a short TTL.
func TestDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(*server)
		want    string
	}{
		"while it ran":   {func(s *server) { s.remove("a") }, "a deleted"},
		"as it finished": {func(s *server) { job := s.job("a"); finish("Complete")(job.Object); s.deleted(job); s.remove("a") }, "a succeeded Why: because"},
		"and replaced":   {func(s *server) { s.replace("a") }, "a replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, s *server) {
				a := s.create("a")
				expect(t, s, minute, []Object{a}, after(time.Second, func() { test.happens(s) }), test.want)
			})
		})
	}
}

// A Job with the condition FailureTarget has failed, even if the wait ends before the Job's last Pod ends.
func TestVerdict(t *testing.T) {
	always := func(*unstructured.Unstructured) (bool, error) { return false, nil }
	for name, test := range map[string]struct {
		config  Config
		happens func(*server)
		want    string
	}{
		"out of time":        {minute, func(*server) {}, "a failed Why: because"},
		"deleted":            {minute, func(s *server) { s.remove("a") }, "a failed Why: because"},
		"another condition":  {Config{Timeout: time.Minute, For: []Condition{always}}, func(*server) {}, "a out of time, FailureTarget (Why)"},
		"unreachable server": {minute, func(s *server) { s.fail(forbidden); s.breakWatches(io.EOF) }, "a failed Why: because"},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, s *server) {
				a, want := s.create("a"), []string{"a suspended is false FailureTarget (Why)", test.want}
				if name == "unreachable server" {
					want = append(want, "retry a")
				}
				expect(t, s, test.config, []Object{a}, after(time.Second, func() {
					s.update("a", finish("FailureTarget"))
					time.Sleep(time.Second)
					test.happens(s)
				}), want...)
			})
		})
	}
}

// While an object that is being deleted can still finish, the wait continues.
func TestBeingDeleted(t *testing.T) {
	for status, want := range map[string]string{
		`{}`: "a deleted", `{"active": 1}`: "a out of time, being deleted", `{"terminating": 1}`: "a out of time, being deleted",
		`{"uncountedTerminatedPods": {"succeeded": ["x"]}}`: "a out of time, being deleted",
	} {
		serving(t, func(t *testing.T, s *server) {
			a, b, began := s.create("a"), s.create("b"), time.Now()
			expect(t, s, minute, []Object{a, b}, after(time.Second, func() {
				s.update("a", func(job map[string]any) {
					var value map[string]any
					if err := json.Unmarshal([]byte(status), &value); err != nil {
						t.Error(err)
					}
					job["status"] = value
					metadata := job["metadata"].(map[string]any)
					metadata["deletionTimestamp"], metadata["finalizers"] = "2026-01-02T03:04:05Z", []any{"example.com/hold"}
				})
				time.Sleep(stoppedFor + time.Second)
				s.update("b", finish("Complete"))
			}), "a suspended is false being deleted", "b succeeded Why: because", want)
			if took := time.Since(began); want == "a deleted" && took > 2*stoppedFor {
				t.Errorf("with the status %s it took %s, want at most %s", status, took, 2*stoppedFor)
			}
		})
	}
}

// In an outage, the wait reports each kind of error once.
func TestNewestError(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a := s.create("a")
		s.fail(errors.New("connection refused"))
		expect(t, s, minute, []Object{a}, after(5*time.Second, func() {
			s.fail(apierrors.NewUnauthorized("the token is expired"))
		}), "a abandoned", "retry a", "retry a")
	})
}

// The objects end while no watch is open. The server still has the events, or else a list shows the end.
func TestDeletedUnseen(t *testing.T) {
	for _, events := range []bool{true, false} {
		serving(t, func(t *testing.T, s *server) {
			a, b, c := s.create("a"), s.create("b"), s.create("c")
			expect(t, s, minute, []Object{a, b, c}, after(time.Second, func() {
				if !events {
					s.expire()
				}
				s.breakWatches(io.ErrUnexpectedEOF)
				s.remove("a")
				s.replace("b")
				s.update("c", finish("Complete"))
			}), "a deleted", "b replaced", "c succeeded Why: because")
		})
	}
}

// The wait must first list one object, because its state is unknown. It also finds the end of another object that was
// deleted before this list.
func TestDeletedBeforeTheList(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a, b := s.create("a"), s.create("b")
		b.Version = ""
		s.update("a", finish("Complete"))
		s.remove("a")
		expect(t, s, minute, []Object{a, b}, after(time.Second, func() {
			s.update("b", finish("Complete"))
		}), "a succeeded Why: because", "b succeeded Why: because")
	})
}

// The wait loses no event if a watch breaks, ends or expires, or if the server is temporarily unreachable. It reports
// an unreachable server once.
func TestTrouble(t *testing.T) {
	fails := func(err error) func(s *server) {
		return func(s *server) {
			s.fail(err)
			s.breakWatches(io.ErrUnexpectedEOF)
			time.Sleep(10 * time.Second)
			s.fail(nil)
		}
	}
	for name, test := range map[string]struct {
		happens func(*server)
		want    []string
	}{
		"broken":                              {func(s *server) { s.breakWatches(io.ErrUnexpectedEOF) }, nil},
		"ended":                               {func(s *server) { s.breakWatches(io.EOF) }, nil},
		"expired":                             {func(s *server) { s.expire(); s.breakWatches(io.EOF) }, nil},
		"away":                                {fails(errors.New("connection refused")), []string{"retry a"}},
		"errors":                              {fails(overloaded), []string{"retry a"}},
		"permissions of a server that starts": {fails(forbidden), []string{"retry a"}},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, s *server) {
				a := s.create("a")
				a.Version = ""
				expect(t, s, minute, []Object{a}, after(time.Second, func() {
					test.happens(s)
					s.update("a", finish("Complete"))
				}), append(test.want, "a succeeded Why: because")...)
				if n := len(s.verbs()); n > 25 {
					t.Errorf("%d requests: %q", n, s.verbs())
				}
			})
		})
	}
}

// fail makes all requests fail from now on.
func (s *server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = func(string) error { return err }
}

// expire makes the next watch fail.
func (s *server) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := false
	s.fault = func(verb string) error {
		if done || verb != "watch" {
			return nil
		}
		done = true
		return expired
	}
}

// If a server stays unreachable, the wait ends after RetryTimeout, and not earlier.
func TestUnreachable(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a, b := s.create("a"), s.create("b")
		s.fail(errors.New("connection refused"))
		began := time.Now()
		expect(t, s, minute, []Object{a, b}, nil, "a abandoned", "b abandoned", "retry a")
		if took := time.Since(began); took < 20*time.Second || took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// If watches deliver no events, the wait uses lists. It sends neither watches nor lists in a tight loop.
func TestMute(t *testing.T) {
	for name, fault := range map[string]func(string) error{
		"mute": nil,
		"broken": func(what string) error {
			if what == "watch" {
				return overloaded
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, s *server) {
				a := s.create("a")
				s.fault, s.mute = fault, true
				expect(t, s, Config{Timeout: time.Hour, RetryTimeout: time.Second}, []Object{a}, after(10*time.Minute, func() {
					s.update("a", finish("Complete"))
				}), "a succeeded Why: because")
				if n := len(s.verbs()); n > 2*10*60/3 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// Without permission to list or watch, the wait gets up to 20 objects. With permission to watch only, it gets them
// after a watch breaks.
func TestPolling(t *testing.T) {
	onlyGet := func(what string) error {
		if what != "get" {
			return forbidden
		}
		return nil
	}
	serving(t, func(t *testing.T, s *server) {
		a, b, c := s.create("a"), s.create("b"), s.create("c")
		s.fault = onlyGet
		expect(t, s, minute, []Object{a, b, c}, after(9*time.Second, func() {
			s.update("a", finish("Complete"))
			s.remove("b")
			s.remove("c")
			s.create("c")
		}), "a succeeded Why: because", "b deleted", "c replaced")
		if n := s.asked("get"); n > 3*6 || s.asked("list")+s.asked("watch") > 1 {
			t.Errorf("the requests are %q", s.verbs())
		}
	})
	serving(t, func(t *testing.T, s *server) { // a load balancer that has no server for a while
		a := s.create("a")
		s.fault = onlyGet
		expect(t, s, minute, []Object{a}, after(3*time.Second, func() {
			s.fail(apierrors.NewGenericServerResponse(404, "get", jobs.Resource.GroupResource(), "", "default backend - 404", 0, true))
			time.Sleep(5 * time.Second)
			s.fail(nil)
			s.update("a", finish("Complete"))
		}), "retry a", "a succeeded Why: because")
	})
	serving(t, func(t *testing.T, s *server) {
		var objects []Object
		for n := range MaxPolled + 1 {
			objects = append(objects, s.create(fmt.Sprint("many-", n)))
		}
		s.fault = onlyGet
		ended := 0
		config := minute
		config.Client = s.client(t)
		for event := range Run(t.Context(), config, objects) {
			if e, is := event.(Ended); is && e.Result == Abandoned {
				ended++
			}
		}
		if ended != len(objects) || s.asked("get") > 0 {
			t.Errorf("%d abandoned, %d GETs", ended, s.asked("get"))
		}
	})
	serving(t, func(t *testing.T, s *server) {
		a := s.create("a")
		expect(t, s, minute, []Object{a}, after(time.Second, func() {
			s.update("a", suspend(true)) // the watch has an event
			time.Sleep(time.Second)
			s.mu.Lock()
			s.fault = func(what string) error { return map[string]error{"watch": expired, "list": forbidden}[what] }
			s.mu.Unlock()
			s.breakWatches(io.ErrUnexpectedEOF)
			time.Sleep(minute.RetryTimeout)
			s.update("a", finish("Complete"))
		}), "a suspended is true", "retry a", "a succeeded Why: because")
	})
}

// If an object loses its run label, the wait watches it by name, even without permission to get.
func TestUnlabelled(t *testing.T) {
	for _, fault := range []func(string) error{nil, noGet} {
		serving(t, func(t *testing.T, s *server) {
			a, b := s.create("a", "x"), s.create("b", "x")
			a.Selector, b.Selector, s.fault = "run=x", "run=x", fault
			expect(t, s, minute, []Object{a, b}, after(time.Second, func() {
				s.update("a", unlabel)
				time.Sleep(time.Second)
				s.update("b", finish("Complete")) // the end of the shared watch
				time.Sleep(time.Second)
				s.update("a", finish("Failed"))
			}), "a failed Why: because", "b succeeded Why: because")
		})
	}
}

// noGet is a fault for a user without permission to get objects.
func noGet(verb string) error {
	if verb == "get" {
		return forbidden
	}
	return nil
}

// The wait for a suspended object continues. It reports when the object is suspended and when it runs again.
func TestSuspended(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a, b := s.create("a"), s.create("b")
		expect(t, s, minute, []Object{a, b}, after(time.Second, func() {
			s.update("a", suspend(true))
			s.update("b", suspend(true))
			s.update("a", suspend(false))
			s.update("a", finish("Complete"))
		}), "a suspended is true", "a suspended is false", "a succeeded Why: because", "b suspended is true", "b out of time suspended")
	})
}

// An object must meet the conditions in their order. If the object fails, the wait ends.
func TestConditions(t *testing.T) {
	has := func(field string) Condition {
		return func(object *unstructured.Unstructured) (bool, error) {
			if object.GetAnnotations()["broken"] != "" {
				return false, errors.New("broken")
			}
			return object.GetAnnotations()[field] != "", nil
		}
	}
	annotate := func(fields ...string) func(map[string]any) {
		return func(job map[string]any) {
			annotations := map[string]any{}
			for _, field := range fields {
				annotations[field] = "x"
			}
			job["metadata"].(map[string]any)["annotations"] = annotations
		}
	}
	serving(t, func(t *testing.T, s *server) {
		a, b, c, d := s.create("a"), s.create("b"), s.create("c"), s.create("d")
		config := minute
		config.For = []Condition{has("first"), has("second")}
		expect(t, s, config, []Object{a, b, c, d}, after(time.Second, func() {
			s.update("a", annotate("first"))
			s.update("a", annotate("second"))
			s.update("b", finish("Failed"))
			s.update("c", annotate("broken"))
			s.update("d", annotate("second"))
			s.update("d", finish("Complete"))
		}), "a succeeded", "b failed Why: because", "c abandoned", "d failed Why: because")
	})
}

// A watch begins at the oldest version of its objects if the versions have an order.
func TestOldest(t *testing.T) {
	for want, versions := range map[string][]string{
		"9": {"10", "9", "100"}, "": {"9", ""}, "7": {"7"}, "none": {"b", "a"},
	} {
		var objects []*followed
		for _, v := range versions {
			objects = append(objects, &followed{Object: Object{Version: v}})
		}
		if want == "none" {
			want = ""
		}
		if got := oldest(objects); got != want {
			t.Errorf("%q: %q, want %q", versions, got, want)
		}
	}
}

// A server that has just started refuses watches for some seconds. The wait still finds the end of an object that was
// deleted in this time.
func TestResumedAfterARestart(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a, b := s.create("a"), s.create("b")
		expect(t, s, minute, []Object{a, b}, after(time.Second, func() {
			s.mu.Lock()
			s.fault = func(what string) error { return map[string]error{"watch": overloaded}[what] }
			s.mu.Unlock()
			s.breakWatches(io.ErrUnexpectedEOF)
			s.update("a", finish("Complete"))
			s.remove("a")
			time.Sleep(5 * time.Second)
			s.fail(nil)
			time.Sleep(10 * time.Second)
			s.update("b", finish("Complete"))
		}), "a succeeded Why: because", "b succeeded Why: because")
	})
}

// After a resumed watch fails, the wait doesn't resume it again. A list is then enough, even without permission to get.
func TestResumedInVain(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a, b := s.create("a"), s.create("b")
		s.fault = noGet
		expect(t, s, Config{Timeout: time.Hour, RetryTimeout: time.Second}, []Object{a, b}, after(time.Second, func() {
			s.mu.Lock()
			s.mute = true
			s.mu.Unlock()
			s.breakWatches(io.ErrUnexpectedEOF)
			s.remove("a")
			s.replace("b")
		}), "a deleted", "b replaced")
	})
}

// If a list lacks an object, the wait gets the object, because no event will report it. It repeats a GET that fails. If
// the GET keeps failing, the wait ends, even if the lists before it succeed.
func TestMissingAndFailures(t *testing.T) {
	for want, most := range map[string]int{"a deleted": 3, "a abandoned": 1 << 30} {
		serving(t, func(t *testing.T, s *server) {
			a := s.create("a")
			a.Version = ""
			s.remove("a")
			s.fault = func(what string) error {
				if what == "get" && len(s.verbs()) < most {
					return overloaded
				}
				return nil
			}
			expect(t, s, Config{Timeout: time.Hour, RetryTimeout: time.Minute}, []Object{a}, nil, want, "retry a")
		})
	}
}

// If an object's state is unknown, the object might already have finished. Here the first page of a list shows the ends
// of all objects in a group, so the wait reads no other page. Another group still runs.
func TestEndsOnTheFirstPage(t *testing.T) {
	serving(t, func(t *testing.T, s *server) {
		a, b := s.create("a"), s.create("b", "x")
		s.update("a", finish("Complete"))
		a.Version, b.Selector = "", "run=x"
		s.Next("list", "jobs", firstPage)
		s.Always("list", "jobs", refusal(overloaded))
		expect(t, s, minute, []Object{a, b}, after(time.Second, func() {
			s.update("b", finish("Complete"))
		}), "a succeeded Why: because", "b succeeded Why: because")
		if s.asked("list") != 1 {
			t.Errorf("the requests are %q", s.verbs())
		}
	})
}

// firstPage responds to a list as if another page followed.
func firstPage(r *oncetest.Request) (*http.Response, error) {
	resp, err := r.Send()
	if err != nil {
		return nil, err
	}
	var list unstructured.UnstructuredList
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return nil, err
	}
	list.SetContinue("next")
	body, err := list.MarshalJSON()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}
