package once

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// script is a server that gives one answer after the other, and the last one
// for ever.
type script struct {
	posts, gets []Answer
	sent        []string // names of the POSTs
}

func (s *script) Post(_ context.Context, name string) Answer {
	s.sent = append(s.sent, name)
	return take(&s.posts)
}

func (s *script) Get(context.Context, string) Answer { return take(&s.gets) }

func take(answers *[]Answer) Answer {
	first := (*answers)[0]
	if len(*answers) > 1 {
		*answers = (*answers)[1:]
	}
	return first
}

func taken() Answer { return Answer{event: conflict, Err: apierrors.NewAlreadyExists(configMaps, "x")} }

func anothers() Answer {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAnnotations(map[string]string{Annotation: "v1-another"})
	return Answer{event: unclear, Object: object}
}

func TestEveryNameTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &script{posts: []Answer{taken()}, gets: []Answer{anothers()}}
		engine := Engine{Attempts: 3, RetryTimeout: time.Minute}
		r := engine.Create(t.Context(), Object{GenerateName: "p-", SuffixLength: 5, ID: "v1-id", Server: server})
		if r.Outcome != Failed || !apierrors.IsAlreadyExists(r.Err) || !strings.HasSuffix(r.Err.Error(), "gave up after 3 names") {
			t.Errorf("%+v", r)
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
	throttled := Answer{event: notStored, Err: apierrors.NewTooManyRequests("slow down", 7), RetryAfter: 7 * time.Second}
	for _, test := range []struct {
		name    string
		server  *script
		outcome Outcome
		says    string
	}{
		{"throttled", &script{posts: []Answer{throttled}}, Failed, "slow down; not settled in 1m0s"},
		{"lost, never read", &script{posts: []Answer{{event: lost, Err: io.EOF}}, gets: []Answer{{event: unread, Err: errors.New("reset")}}}, Unknown, "EOF; not settled in 1m0s"},
		{"lost, then refused", &script{posts: []Answer{{event: lost, Err: io.EOF}, {event: refused, Err: errors.New("quota")}}, gets: []Answer{{event: absent, Err: errors.New("not found")}}}, Unknown, "EOF; quota; not settled in 1m0s"},
		{"a conflict never read", &script{posts: []Answer{taken()}, gets: []Answer{{event: unread, Err: io.EOF}}}, Unknown, "not settled in 1m0s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				engine := Engine{Attempts: 3, RetryTimeout: time.Minute}
				r := engine.Create(t.Context(), Object{GenerateName: "p-", SuffixLength: 5, ID: "v1-id", Server: test.server})
				if r.Outcome != test.outcome || !strings.Contains(r.Err.Error(), test.says) {
					t.Errorf("outcome %d, %v", r.Outcome, r.Err)
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
		done := Answer{event: stored, Object: &unstructured.Unstructured{Object: map[string]any{}}}
		server := &script{posts: []Answer{{event: notStored, Err: io.EOF, RetryAfter: 7 * time.Second}, done}}
		var notices []Notice
		engine := Engine{Attempts: 1, RetryTimeout: time.Minute, Notify: func(n Notice) { notices = append(notices, n) }}
		r := engine.Create(t.Context(), Object{GenerateName: "p-", SuffixLength: 5, ID: "v1-id", Server: server})
		if r.Outcome != Created || !r.Unmarked || time.Since(start) != 7*time.Second {
			t.Errorf("%+v after %s", r, time.Since(start))
		}
		if len(notices) != 1 || notices[0].Action != "sending it again in 7s" || notices[0].Name != r.Name {
			t.Errorf("%+v", notices)
		}
	})
}

// After an interrupt nothing new is sent; what is in doubt is read back for a
// moment.
func TestInterrupt(t *testing.T) {
	for _, test := range []struct {
		name    string
		post    Answer
		gets    []Answer
		outcome Outcome
		says    string
	}{
		{"throttled", Answer{event: notStored, Err: io.EOF}, nil, NotAttempted, "interrupted"},
		{"lost, not there", Answer{event: lost, Err: io.EOF}, []Answer{{event: absent, Err: errors.New("not found")}}, Unknown, "EOF; interrupted"},
		{"lost, not read in time", Answer{event: lost, Err: io.EOF}, []Answer{{event: unread, Err: errors.New("reset")}}, Unknown, "EOF; interrupted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				server := &interrupting{script: script{posts: []Answer{test.post}, gets: test.gets}, interrupt: interrupt}
				start := time.Now()
				engine := Engine{Attempts: 3, RetryTimeout: time.Hour, Settle: 5 * time.Second}
				r := engine.Create(ctx, Object{GenerateName: "p-", SuffixLength: 5, ID: "v1-id", Server: server})
				if r.Outcome != test.outcome || r.Err.Error() != test.says || len(server.sent) != 1 {
					t.Errorf("outcome %d, %v, %d POSTs", r.Outcome, r.Err, len(server.sent))
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

func (s *interrupting) Post(ctx context.Context, name string) Answer {
	s.interrupt()
	return s.script.Post(ctx, name)
}

// A pause that is interrupted ends without another POST.
func TestInterruptDuringAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		server := &script{posts: []Answer{{event: notStored, Err: io.EOF, RetryAfter: 20 * time.Second}}}
		time.AfterFunc(2*time.Second, interrupt)
		engine := Engine{Attempts: 3, RetryTimeout: time.Hour, Settle: 5 * time.Second}
		r := engine.Create(ctx, Object{GenerateName: "p-", SuffixLength: 5, ID: "v1-id", Server: server})
		if r.Outcome != NotAttempted || len(server.sent) != 1 {
			t.Errorf("%+v after %d POSTs", r, len(server.sent))
		}
	})
}

// However late it is, a lost POST is read back once.
func TestLateIsReadBack(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAnnotations(map[string]string{Annotation: "v1-id"})
	server := &script{posts: []Answer{{event: lost, Err: io.EOF}}, gets: []Answer{{event: unclear, Object: object}}}
	engine := Engine{Attempts: 3}
	if r := engine.Create(t.Context(), Object{GenerateName: "p-", SuffixLength: 5, ID: "v1-id", Server: server}); r.Outcome != Created {
		t.Errorf("%+v", r)
	}
}

func TestNothingIsSentAfterAnInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	server := &script{}
	engine := Engine{Attempts: 3, RetryTimeout: time.Hour}
	if r := engine.Create(ctx, Object{GenerateName: "p-", SuffixLength: 5, ID: "v1-id", Server: server}); r.Outcome != NotAttempted || len(server.sent) != 0 {
		t.Errorf("%+v", r)
	}
}
