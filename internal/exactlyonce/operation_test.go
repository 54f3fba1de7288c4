package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

const ourID, ourRun = "v1-ours", "v1-run"

// script is a server that gives one response after the other. It repeats the last one.
type script struct {
	posts, gets []response
	sent        []string  // names of the POSTs
	read        int       // number of the GETs
	until       time.Time // deadline of the last
}

func (s *script) post(_, _ context.Context, name string) response {
	s.sent = append(s.sent, name)
	return take(&s.posts)
}

// get finds nothing if the script has no response.
func (s *script) get(ctx context.Context, _ string) response {
	s.read++
	s.until, _ = ctx.Deadline()
	if len(s.gets) == 0 {
		return because(protocol.Absent, errors.New("not found"))
	}
	return take(&s.gets)
}

// now is not told.
func (s *script) now(context.Context) protocol.Observation {
	return protocol.Observation{Finding: protocol.ServerTime, Time: time.Time{}}
}

func take(responses *[]response) response {
	first := (*responses)[0]
	if len(*responses) > 1 {
		*responses = (*responses)[1:]
	}
	return first
}

// create creates an object with a generated name and an id on the server.
func create(ctx context.Context, to server, options ...Option) (Result, error) {
	s := defaults()
	if err := s.apply(options); err != nil {
		return Result{}, err
	}
	return newOperation(wanted{generateName: "p-", id: ID{Derivation: Derivation{Creation: ourID}, names: ourID}}, to, s).run(ctx)
}

// ending is how a create ended, in one word.
type ending string

const (
	isCreated      ending = "created"
	isFound        ending = "found"
	isFailed       ending = "failed"
	isUnknown      ending = "unknown"
	isNotAttempted ending = "not attempted"
)

func endingOf(r Result, err error) ending {
	switch {
	case err == nil && r.Outcome == Found:
		return isFound
	case err == nil:
		return isCreated
	case errors.Is(err, ErrUnknown):
		return isUnknown
	case errors.Is(err, ErrInterrupted):
		return isNotAttempted
	}
	return isFailed
}

func taken() response {
	return because(protocol.Conflict, apierrors.NewAlreadyExists(configMaps, "x"))
}

func anothers() response {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAnnotations(map[string]string{Annotation: "v1-another"})
	return response{protocol.Observation{Finding: protocol.Foreign}, object}
}

func TestEveryNameTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &script{posts: []response{taken()}, gets: []response{anothers()}}
		_, err := create(t.Context(), server, WithAttempts(3), WithRetryTimeout(time.Minute))
		if !errors.Is(err, ErrExhausted) || !apierrors.IsAlreadyExists(err) || !strings.HasSuffix(err.Error(), "gave up after 3 names") {
			t.Error(err)
		}
		for i, name := range server.sent {
			if want := names.Candidate("p-", ourID, uint32(i)); name != want {
				t.Errorf("attempt %d sent %q, want %q", i, name, want)
			}
		}
		if len(server.sent) != 3 {
			t.Errorf("%d POSTs, want 3", len(server.sent))
		}
	})
}

// If a quota refuses an object after several names, the error has their number, because the server charges the
// quota for each.
func TestQuotaAfterSeveralNames(t *testing.T) {
	quota := because(protocol.Rejected, errors.New("exceeded quota"))
	const charged = " (the server charges quota for every name tried, here 2, and corrects that only later)"
	for name, test := range map[string]struct {
		posts []response
		want  string
	}{
		"one name":        {[]response{quota}, "exceeded quota"},
		"two names":       {[]response{taken(), quota}, "exceeded quota" + charged},
		"another refusal": {[]response{taken(), because(protocol.Rejected, errors.New("invalid"))}, "invalid"},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &script{posts: test.posts, gets: []response{anothers()}}
			_, err := create(t.Context(), server, WithAttempts(2))
			if !errors.Is(err, ErrRefused) || causeOf(err) != test.want || len(server.sent) != len(test.posts) {
				t.Errorf("%s: %v after %q", name, err, server.sent)
			}
		})
	}
}

// At the end of its time, a create has failed if it is without a doubt, and is unknown otherwise.
func TestRetryTimeout(t *testing.T) {
	throttled := response{Observation: protocol.Observation{Finding: protocol.NotStored, Err: apierrors.NewTooManyRequests("slow down", 7), RetryAfter: 7 * time.Second}}
	for _, test := range []struct {
		name        string
		server      *script
		kind        error
		wantMessage string
	}{
		{"throttled", &script{posts: []response{throttled}}, ErrExhausted, "slow down; not settled in 1m0s"},
		{"lost, never read", &script{posts: []response{because(protocol.Lost, io.EOF)}, gets: []response{because(protocol.Unread, errors.New("reset"))}}, ErrUnknown, "EOF; not settled in 1m0s"},
		{"lost, then refused", &script{posts: []response{because(protocol.Lost, io.EOF), because(protocol.Denied, errors.New("quota"))}, gets: []response{because(protocol.Absent, errors.New("not found"))}}, ErrUnknown, "EOF; quota; not settled in 1m0s"},
		{"denied, never read", &script{posts: []response{because(protocol.Denied, errors.New("quota"))}, gets: []response{because(protocol.Unread, io.EOF)}}, ErrUnknown, "quota; not settled in 1m0s"},
		{"a conflict never read", &script{posts: []response{taken()}, gets: []response{because(protocol.Unread, io.EOF)}}, ErrUnknown, "not settled in 1m0s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r, err := create(t.Context(), test.server, WithAttempts(3), WithRetryTimeout(time.Minute))
				if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.wantMessage) {
					t.Errorf("%v, want %v", err, test.kind)
				}
				if !r.TimeOver {
					t.Errorf("%+v", r)
				}
				if took := time.Since(start); took > time.Minute {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// A Retry-After that is longer than the rest of the object's time ends the create without a pause.
func TestRetryAfterThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		server := &script{posts: []response{{Observation: protocol.Observation{Finding: protocol.NotStored, Err: errors.New("throttled"), RetryAfter: 5 * time.Minute}}}}
		r, err := create(t.Context(), server, WithRetryTimeout(2*time.Minute))
		if !errors.Is(err, ErrExhausted) || r.TimeOver || len(server.sent) != 1 || time.Since(start) > 0 ||
			!strings.HasSuffix(err.Error(), "; the server asks to wait 5m0s, longer than the time for one object (2m0s)") {
			t.Errorf("%+v, %v, after %s", r, err, time.Since(start))
		}
	})
}

// Retry-After is waited out.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		done := response{Observation: protocol.Observation{Finding: protocol.Stored}, object: &unstructured.Unstructured{Object: map[string]any{}}}
		server := &script{posts: []response{{Observation: protocol.Observation{Finding: protocol.NotStored, Err: io.EOF, RetryAfter: 7 * time.Second}}, done}}
		var events []Event
		r, err := create(t.Context(), server, WithAttempts(1), WithRetryTimeout(time.Minute), WithEvents(func(e Event) { events = append(events, e) }))
		if err != nil || r.Outcome != Created || !slices.Equal(r.Stripped, []string{Annotation}) || time.Since(start) != 7*time.Second {
			t.Errorf("%+v after %s", r, time.Since(start))
		}
		if len(events) != 1 || events[0] != (Event{Name: r.Name, Reason: io.EOF, Action: Resend, Wait: 7 * time.Second}) {
			t.Errorf("%+v", events)
		}
	})
}

// After an interrupt no POST is sent. An object in doubt is read back for a moment.
func TestInterrupt(t *testing.T) {
	for _, test := range []struct {
		name        string
		post        response
		gets        []response
		kind        error
		wantMessage string
	}{
		{"throttled", because(protocol.NotStored, io.EOF), nil, ErrInterrupted, "interrupted"},
		{"throttled, not read in time", because(protocol.NotStored, io.EOF), []response{because(protocol.Unread, errors.New("reset"))}, ErrUnknown, "EOF; interrupted"},
		{"denied", because(protocol.Denied, errors.New("quota")), nil, ErrUnknown, "quota; interrupted"},
		{"rejected", because(protocol.Rejected, errors.New("no")), nil, ErrRefused, "no"},
		{"lost, not there", because(protocol.Lost, io.EOF), []response{because(protocol.Absent, errors.New("not found"))}, ErrUnknown, "EOF; interrupted"},
		{"lost, not read in time", because(protocol.Lost, io.EOF), []response{because(protocol.Unread, errors.New("reset"))}, ErrUnknown, "EOF; interrupted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				server := &interrupting{script: script{posts: []response{test.post}, gets: test.gets}, interrupt: interrupt}
				start := time.Now()
				_, err := create(ctx, server, WithAttempts(3), WithRetryTimeout(time.Hour))
				if errors.Is(test.kind, ErrInterrupted) && !errors.Is(err, context.Canceled) {
					t.Errorf("%v is not the context's error", err)
				}
				if !errors.Is(err, test.kind) || causeOf(err) != test.wantMessage || len(server.sent) != 1 {
					t.Errorf("%v, %d POSTs", err, len(server.sent))
				}
				if took := time.Since(start); took > 11*time.Second { // the settling time and one pause
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// interrupting is a server during whose response the user interrupts.
type interrupting struct {
	script
	interrupt func()
}

func (s *interrupting) post(until, ctx context.Context, name string) response {
	s.interrupt()
	return s.script.post(until, ctx, name)
}

// Without time to retry, there is one POST. After a lost response there is one GET, which has half a minute.
func TestWithoutTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			post response
			gets []response
			kind error
		}{
			"lost, found":     {because(protocol.Lost, io.EOF), []response{found(Annotation, ourID)}, nil},
			"lost, not there": {because(protocol.Lost, io.EOF), nil, ErrUnknown},
			"lost, not read":  {because(protocol.Lost, io.EOF), []response{because(protocol.Unread, io.EOF)}, ErrUnknown},
			"throttled":       {because(protocol.NotStored, io.EOF), nil, ErrExhausted},
			"taken":           {taken(), []response{anothers()}, ErrExhausted},
		} {
			server := &script{posts: []response{test.post}, gets: test.gets}
			r, err := create(t.Context(), server, WithRetryTimeout(0))
			if !errors.Is(err, test.kind) || len(server.sent) != 1 || server.read != 1 || r.TimeOver != (err != nil) {
				t.Errorf("%s: %+v, %v, %d POSTs, %d GETs", name, r, err, len(server.sent), server.read)
			}
			if within := time.Until(server.until); within != 30*time.Second {
				t.Errorf("%s: read within %s", name, within)
			}
		}
	})
}

func TestNothingIsSentAfterAnInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	server := &script{}
	if _, err := create(ctx, server); !errors.Is(err, ErrInterrupted) || len(server.sent) != 0 {
		t.Error(err)
	}
}

// causeOf returns the text of an Error's cause.
func causeOf(err error) string {
	var failure *Error
	if !errors.As(err, &failure) {
		return ""
	}
	return failure.Cause.Error()
}

// found is an object with an annotation.
func found(key, value string) response {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAnnotations(map[string]string{key: value})
	finding := protocol.Anonymous
	if key == Annotation {
		finding = protocol.Ours
	}
	return response{protocol.Observation{Finding: finding}, object}
}

// A refusal stands only after the object was read: once if no copy of the
// POST can be to blame, else for 13 seconds.
func TestRefusalIsLookedFor(t *testing.T) {
	no, gone := errors.New("no"), because(protocol.Absent, errors.New("not found"))
	forbidden := because(protocol.NoPermission, errors.New("forbidden"))
	for name, test := range map[string]struct {
		post   response
		gets   []response
		want   Result // only Outcome and Unverified are compared
		kind   error
		reads  int
		took   time.Duration
		events string
	}{
		"rejected":                {post: because(protocol.Rejected, no), kind: ErrRefused, reads: 1},
		"rejected, there":         {post: because(protocol.Rejected, no), gets: []response{found(Annotation, ourID)}, want: Result{Outcome: Created}, reads: 1},
		"rejected, another there": {post: because(protocol.Rejected, no), gets: []response{anothers()}, kind: ErrRefused, reads: 1},
		"rejected, no permission": {post: because(protocol.Rejected, no), gets: []response{forbidden}, want: Result{Unverified: true}, kind: ErrRefused, reads: 1},
		"rejected, untracked there": {
			post: because(protocol.Rejected, no), gets: []response{found("x", "y")}, kind: ErrUnknown, reads: 1,
		},
		"denied": {
			post: because(protocol.Denied, no), kind: ErrRefused, reads: 4, took: 13 * time.Second,
			events: "no; Recheck for 13s\n",
		},
		"denied, there late": {
			post: because(protocol.Denied, no), gets: []response{gone, gone, gone, found(Annotation, ourID)},
			want: Result{Outcome: Created}, reads: 4, took: 13 * time.Second, events: "no; Recheck for 13s\n",
		},
		"denied, no permission": {
			post: because(protocol.Denied, no), gets: []response{gone, forbidden},
			want: Result{Unverified: true}, kind: ErrRefused, reads: 2, took: time.Second, events: "no; Recheck for 13s\n",
		},
		"never sent": {post: response{Observation: protocol.Observation{Finding: protocol.Rejected, Err: no, Unsent: true}}, kind: ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, events := time.Now(), ""
				server := &script{posts: []response{test.post}, gets: test.gets}
				r, err := create(t.Context(), server, WithEvents(func(e Event) { events += fmt.Sprintf("%v; %s for %s\n", e.Reason, e.Action, e.Wait) }))
				if !errors.Is(err, test.kind) || r.Outcome != test.want.Outcome || r.Unverified != test.want.Unverified {
					t.Errorf("%+v, %v", r, err)
				}
				if took := time.Since(start); took != test.took || server.read != test.reads || events != test.events || len(server.sent) != 1 {
					t.Errorf("%d POSTs, %d GETs in %s: %q", len(server.sent), server.read, took, events)
				}
			})
		})
	}
}

// A conflict that can't be read back is unverified, also if its outcome is unknown
// because there is no other name to try. A lost response is no conflict.
func TestUncheckedConflict(t *testing.T) {
	forbidden := because(protocol.NoPermission, errors.New("forbidden"))
	for name, test := range map[string]struct {
		post response
		want bool
	}{"conflict": {taken(), true}, "lost": {because(protocol.Lost, io.EOF), false}} {
		w := wanted{generateName: "p-", id: Derive(Derivation{Creation: ourID, Run: ourRun})}
		server := &script{posts: []response{test.post}, gets: []response{forbidden}}
		r, err := newOperation(w, server, defaults()).run(t.Context())
		if !errors.Is(err, ErrUnknown) || r.Unverified != test.want || r.Object != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// If an interrupt ends the rechecks, the outcome is unknown, because they were too few.
func TestInterruptWhileLooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, interrupt)
		server := &script{posts: []response{because(protocol.Denied, errors.New("exceeded quota"))}}
		if _, err := create(ctx, server); !errors.Is(err, ErrUnknown) || causeOf(err) != "exceeded quota; interrupted" {
			t.Error(err)
		}
	})
}

// Every annotation and label that is removed is reported, also of an object that is found.
func TestIDsLost(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetLabels(map[string]string{RunLabel: ourRun})
	object.SetAnnotations(map[string]string{Annotation: ourID})
	without := func(remove func(*unstructured.Unstructured)) *unstructured.Unstructured {
		o := object.DeepCopy()
		remove(o)
		return o
	}
	unlabelled := without(func(o *unstructured.Unstructured) { o.SetLabels(nil) })
	for name, test := range map[string]struct {
		server *script
		want   []string
	}{
		"all are there":   {&script{posts: []response{{Observation: protocol.Observation{Finding: protocol.Stored}, object: object}}}, nil},
		"no label":        {&script{posts: []response{{Observation: protocol.Observation{Finding: protocol.Stored}, object: unlabelled}}}, []string{RunLabel}},
		"no label, found": {&script{posts: []response{taken()}, gets: []response{{Observation: protocol.Observation{Finding: protocol.Ours}, object: unlabelled}}}, []string{RunLabel}},
		"no annotations": {
			&script{posts: []response{{Observation: protocol.Observation{Finding: protocol.Stored}, object: without(func(o *unstructured.Unstructured) { o.SetAnnotations(nil) })}}},
			[]string{Annotation},
		},
	} {
		w := wanted{generateName: "p-", id: Derive(Derivation{Creation: ourID, Run: ourRun})}
		if r, err := newOperation(w, test.server, defaults()).run(t.Context()); err != nil || !slices.Equal(r.Stripped, test.want) {
			t.Errorf("%s: %v, %v", name, r.Stripped, err)
		}
	}
}

// The time of the first POST includes POSTs that were refused, because a proxy might have sent them twice. It leaves
// out POSTs that certainly were not sent.
func TestFirstPost(t *testing.T) {
	for unsent, want := range map[bool]int{true: 3, false: 2} {
		synctest.Test(t, func(t *testing.T) {
			young := &unstructured.Unstructured{Object: map[string]any{}}
			young.SetCreationTimestamp(metav1.NewTime(time.Now().Add(20 * time.Second)))
			server := &script{
				posts: []response{
					{Observation: protocol.Observation{Finding: protocol.NotStored, Err: io.EOF, Unsent: unsent, RetryAfter: 30 * time.Second}},
					taken(),
					{Observation: protocol.Observation{Finding: protocol.Stored}, object: &unstructured.Unstructured{Object: map[string]any{}}},
				},
				gets: []response{{Observation: protocol.Observation{Finding: protocol.Anonymous, Time: young.GetCreationTimestamp().Time}, object: young}},
			}
			_, err := create(t.Context(), ticking{server})
			if (err == nil) != unsent || err != nil && !errors.Is(err, ErrUnknown) || len(server.sent) != want {
				t.Errorf("%v, sent %q", err, server.sent)
			}
		})
	}
}

// ticking is a server that knows the time.
type ticking struct{ server }

func (ticking) now(context.Context) protocol.Observation {
	return protocol.Observation{Finding: protocol.ServerTime, Time: time.Now()}
}
