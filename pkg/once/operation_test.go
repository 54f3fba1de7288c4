package once

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// script is a server that gives one answer after the other, and the last one
// for ever.
type script struct {
	posts, gets []answer
	sent        []string // names of the POSTs
}

func (s *script) post(_ context.Context, name string) answer {
	s.sent = append(s.sent, name)
	return take(&s.posts)
}

func (s *script) get(context.Context, string) answer { return take(&s.gets) }

func take(answers *[]answer) answer {
	first := (*answers)[0]
	if len(*answers) > 1 {
		*answers = (*answers)[1:]
	}
	return first
}

// create creates an object with a generated name and an id on the server.
func create(ctx context.Context, to server, options ...Option) (Result, error) {
	s := defaults()
	if err := s.apply(options); err != nil {
		return Result{}, err
	}
	return newOperation(wanted{generateName: "p-", id: ID{creation: "v1-id"}}, to, s).run(ctx)
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

func taken() answer {
	return answer{finding: conflict, err: apierrors.NewAlreadyExists(configMaps, "x")}
}

func anothers() answer {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAnnotations(map[string]string{Annotation: "v1-another"})
	return answer{finding: unclear, object: object}
}

func TestEveryNameTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &script{posts: []answer{taken()}, gets: []answer{anothers()}}
		_, err := create(t.Context(), server, WithAttempts(3), WithRetryTimeout(time.Minute))
		if !errors.Is(err, ErrExhausted) || !apierrors.IsAlreadyExists(err) || !strings.HasSuffix(err.Error(), "gave up after 3 names") {
			t.Error(err)
		}
		for i, name := range server.sent {
			if want := names.Candidate("p-", "v1-id", uint32(i), 5); name != want {
				t.Errorf("attempt %d sent %q, want %q", i, name, want)
			}
		}
		if len(server.sent) != 3 {
			t.Errorf("%d POSTs, want 3", len(server.sent))
		}
	})
}

// The pursuit ends in time: without a doubt as a failure, else as unknown.
func TestRetryTimeout(t *testing.T) {
	throttled := answer{finding: notStored, err: apierrors.NewTooManyRequests("slow down", 7), retryAfter: 7 * time.Second}
	for _, test := range []struct {
		name   string
		server *script
		kind   error
		says   string
	}{
		{"throttled", &script{posts: []answer{throttled}}, ErrExhausted, "slow down; not settled in 1m0s"},
		{"lost, never read", &script{posts: []answer{{finding: lost, err: io.EOF}}, gets: []answer{{finding: unread, err: errors.New("reset")}}}, ErrUnknown, "EOF; not settled in 1m0s"},
		{"lost, then refused", &script{posts: []answer{{finding: lost, err: io.EOF}, {finding: refused, err: errors.New("quota")}}, gets: []answer{{finding: absent, err: errors.New("not found")}}}, ErrUnknown, "EOF; quota; not settled in 1m0s"},
		{"a conflict never read", &script{posts: []answer{taken()}, gets: []answer{{finding: unread, err: io.EOF}}}, ErrUnknown, "not settled in 1m0s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := create(t.Context(), test.server, WithAttempts(3), WithRetryTimeout(time.Minute))
				if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%v, want %v", err, test.kind)
				}
				if took := time.Since(start); took > time.Minute {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// Retry-After is waited out.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		done := answer{finding: stored, object: &unstructured.Unstructured{Object: map[string]any{}}}
		server := &script{posts: []answer{{finding: notStored, err: io.EOF, retryAfter: 7 * time.Second}, done}}
		var events []Event
		r, err := create(t.Context(), server, WithAttempts(1), WithRetryTimeout(time.Minute), WithEvents(func(e Event) { events = append(events, e) }))
		if err != nil || r.Outcome != Created || !slices.Equal(r.MarksLost, []string{Annotation}) || time.Since(start) != 7*time.Second {
			t.Errorf("%+v after %s", r, time.Since(start))
		}
		if len(events) != 1 || events[0].String() != r.Name+": EOF; sending it again in 7s" || events[0].Action != Resend {
			t.Errorf("%+v", events)
		}
	})
}

// After an interrupt nothing new is sent; what is in doubt is read back for a
// moment.
func TestInterrupt(t *testing.T) {
	for _, test := range []struct {
		name string
		post answer
		gets []answer
		kind error
		says string
	}{
		{"throttled", answer{finding: notStored, err: io.EOF}, nil, ErrInterrupted, "interrupted"},
		{"lost, not there", answer{finding: lost, err: io.EOF}, []answer{{finding: absent, err: errors.New("not found")}}, ErrUnknown, "EOF; interrupted"},
		{"lost, not read in time", answer{finding: lost, err: io.EOF}, []answer{{finding: unread, err: errors.New("reset")}}, ErrUnknown, "EOF; interrupted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				server := &interrupting{script: script{posts: []answer{test.post}, gets: test.gets}, interrupt: interrupt}
				start := time.Now()
				_, err := create(ctx, server, WithAttempts(3), WithRetryTimeout(time.Hour))
				if !errors.Is(err, test.kind) || causeOf(err) != test.says || len(server.sent) != 1 {
					t.Errorf("%v, %d POSTs", err, len(server.sent))
				}
				if took := time.Since(start); took > 11*time.Second { // the settling time and one pause
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// interrupting is a server during whose answer the user interrupts.
type interrupting struct {
	script
	interrupt func()
}

func (s *interrupting) post(ctx context.Context, name string) answer {
	s.interrupt()
	return s.script.post(ctx, name)
}

// A pause that is interrupted ends without another POST.
func TestInterruptDuringAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		server := &script{posts: []answer{{finding: notStored, err: io.EOF, retryAfter: 20 * time.Second}}}
		time.AfterFunc(2*time.Second, interrupt)
		_, err := create(ctx, server, WithAttempts(3), WithRetryTimeout(time.Hour))
		if !errors.Is(err, ErrInterrupted) || len(server.sent) != 1 {
			t.Errorf("%v after %d POSTs", err, len(server.sent))
		}
	})
}

// However late it is, a lost POST is read back once.
func TestLateIsReadBack(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAnnotations(map[string]string{Annotation: "v1-id"})
	server := &script{posts: []answer{{finding: lost, err: io.EOF}}, gets: []answer{{finding: unclear, object: object}}}
	if r, err := create(t.Context(), server, WithAttempts(3), WithRetryTimeout(0)); err != nil || r.Outcome != Created {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNothingIsSentAfterAnInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	server := &script{}
	if _, err := create(ctx, server); !errors.Is(err, ErrInterrupted) || len(server.sent) != 0 {
		t.Error(err)
	}
}

// causeOf is what an Error says of its cause.
func causeOf(err error) string {
	var failure *Error
	if !errors.As(err, &failure) {
		return ""
	}
	return failure.Cause.Error()
}

// A credential that has just expired is another one at the second POST; one that
// is no good is not tried a third time.
func TestUnauthorized(t *testing.T) {
	denied := answer{finding: unauthorized, err: apierrors.NewUnauthorized("who")}
	done := answer{finding: stored, object: &unstructured.Unstructured{Object: map[string]any{}}}
	synctest.Test(t, func(t *testing.T) {
		server := &script{posts: []answer{denied, done}}
		if r, err := create(t.Context(), server); err != nil || r.Outcome != Created || server.sent[0] != server.sent[1] {
			t.Errorf("%+v, %v, sent %q", r, err, server.sent)
		}
		server = &script{posts: []answer{denied}}
		if _, err := create(t.Context(), server); !errors.Is(err, ErrRefused) || !apierrors.IsUnauthorized(err) || len(server.sent) != 2 {
			t.Errorf("%v after %d POSTs", err, len(server.sent))
		}
	})
}

// After a conflict that may be a repeated POST of ours, a 401 on the GET does not
// lead to another name, which would be a second object.
func TestUnauthorizedOnReadingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours := &unstructured.Unstructured{Object: map[string]any{}}
		ours.SetAnnotations(map[string]string{Annotation: "v1-id"})
		server := &script{
			posts: []answer{taken()},
			gets:  []answer{{finding: getFinding(apierrors.NewUnauthorized("who")), err: apierrors.NewUnauthorized("who")}, {finding: unclear, object: ours}},
		}
		if r, err := create(t.Context(), server); err != nil || r.Outcome != Created || len(server.sent) != 1 {
			t.Errorf("%+v, %v, sent %q", r, err, server.sent)
		}
	})
}

// A POST that certainly was not stored says nothing about the time of the one
// that may have been: an old object is somebody else's, whatever came before.
func TestNotSentBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := &unstructured.Unstructured{Object: map[string]any{}}
		old.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-time.Hour)))
		conflict, done := taken(), answer{finding: stored, object: &unstructured.Unstructured{Object: map[string]any{}}}
		conflict.notBefore = time.Now()
		server := &script{
			posts: []answer{{finding: notStored, err: io.EOF}, conflict, done},
			gets:  []answer{{finding: unclear, object: old}},
		}
		if r, err := create(t.Context(), server); err != nil || r.Outcome != Created || len(server.sent) != 3 || server.sent[2] == server.sent[1] {
			t.Errorf("%+v, %v, sent %q", r, err, server.sent)
		}
	})
}
