package create

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// Documents are created one after the other. The events of a document are handled before the next one
// is sent.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{takes: time.Second}
		handled := 0
		c.during = func(string) {
			if handled != len(c.sent)-1 {
				t.Errorf("%d events were handled when %q was sent", handled, c.sent)
			}
		}
		var reported []string
		for e := range begin(t.Context(), configOf(c), input("configmaps/a/x-", "secrets/a/y-", "configmaps/a/z", "configmaps/a/x-")) {
			reported = append(reported, word(e))
			handled++
		}
		expect(t, reported, "created x-", "created y-", "created z", "created x-", "end 4")
		if c.most != 1 {
			t.Errorf("%d were in flight at once", c.most)
		}
	})
}

// Copies of one document overlap, up to Concurrency of them.
func TestCopiesOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{takes: time.Second}
		config := configOf(c)
		config.Copies, config.Concurrency = 10, 4
		start := time.Now()
		reported := words(begin(t.Context(), config, input("configmaps/a/x-", "configmaps/a/named", "configmaps/a/y-")))
		if len(c.sent) != 21 || len(reported) != 22 || c.most != 4 || len(c.overlapping) > 0 {
			t.Errorf("%d sent, %d events, %d at once, overlapping: %v", len(c.sent), len(reported), c.most, c.overlapping)
		}
		if took := time.Since(start); took != 7*time.Second { // 3 rounds of four, one alone, and 3 more
			t.Errorf("it took %s", took)
		}
	})
}

// With Overlap, objects with generated names of all types and namespaces are in flight together. A
// document with a fixed name waits for all earlier documents. Later documents wait for it.
func TestOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{takes: time.Second}
		config := configOf(c)
		config.Overlap = true
		reported := words(begin(t.Context(), config, input(
			"configmaps/a/1-", "configmaps/a/2-", "configmaps/b/3-", "configmaps/b/4-", "secrets/b/5-", "secrets/b/named", "secrets/b/6-", "secrets/b/7-")))
		if len(reported) != 9 {
			t.Errorf("reported %q, want 9 events", reported)
		}
		for _, want := range []string{"1- 2-", "2- 3-", "4- 5-", "1- 5-", "6- 7-"} {
			if !c.overlapping[want] {
				t.Errorf("%s do not overlap", want)
			}
		}
		for pair := range c.overlapping {
			if strings.Contains(pair, "named") || strings.ContainsAny(pair, "12345") && strings.ContainsAny(pair, "67") {
				t.Errorf("%s overlap", pair)
			}
		}
	})
}

// After an interrupt nothing more is sent, and every object is counted. It can come before the first
// object, while one is in flight, or between copies.
func TestInterrupt(t *testing.T) {
	documents := []string{"configmaps/a/1-", "configmaps/a/2-", "configmaps/a/3-"}
	for name, test := range map[string]struct {
		at   string // object during whose create the user interrupts; empty means before all
		want []string
	}{
		"before":    {"", []string{"2 not attempted", "2 not attempted", "2 not attempted", "end 3"}},
		"the first": {"1-", []string{"created 1-", "1 not attempted", "2 not attempted", "2 not attempted", "end 3"}},
		"the last":  {"3-", []string{"created 1-", "created 1-", "created 2-", "created 2-", "created 3-", "1 not attempted", "end 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				c := &cluster{takes: time.Second, during: func(object string) {
					if object == test.at {
						interrupt()
					}
				}}
				if test.at == "" {
					interrupt()
				}
				config := configOf(c)
				config.Copies, config.Concurrency = 2, 1
				expect(t, words(begin(ctx, config, input(documents...))), test.want...)
			})
		})
	}
}

// If reading hangs, the documents that were read are created, and an interrupt still works. The run waits for requests
// in flight.
func TestReaderHangs(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{10 * time.Second: 11 * time.Second, time.Second: 6 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			hanging := make(chan struct{})
			defer close(hanging)
			time.AfterFunc(after, interrupt)
			config := configOf(&cluster{takes: 5 * time.Second})
			config.Overlap = true
			start := time.Now()
			var end Summary
			var reported []string
			for e := range begin(ctx, config, func(yield func(*Document, error) bool) {
				yield(document("configmaps/a/1-"), nil)
				<-hanging
			}) {
				reported = append(reported, word(e))
				end, _ = e.(Summary)
			}
			expect(t, reported, "created 1-", "end 1")
			if took := time.Since(start); !end.Unread || took != want {
				t.Errorf("%+v after %s, want %s", end, took, want)
			}
		})
	}
}

// A refusal that holds for all copies stops them. A conflict does not. If objects are renamed in one namespace, the other
// namespaces continue.
func TestRefusals(t *testing.T) {
	renamed := exactlyonce.Result{Object: document("configmaps/a/other").Object}
	for name, test := range map[string]struct {
		ends   func(string) (exactlyonce.Result, error)
		silent bool
		want   []string
	}{
		"refused":  {failsFor("1-", exactlyonce.Result{}, errForbidden), false, []string{"failed 1-", "1 not attempted", "created 2-", "created 2-", "created 3", "end 3"}},
		"conflict": {failsFor("1-", exactlyonce.Result{}, errConflict), false, []string{"failed 1-", "failed 1-", "created 2-", "created 2-", "created 3", "end 3"}},
		"unknown":  {failsFor("1-", exactlyonce.Result{}, errUnknown), false, []string{"unknown 1-", "unknown 1-", "created 2-", "created 2-", "created 3", "end 3"}},
		"renamed":  {failsFor("1-", renamed, errRenamed), false, []string{"renamed 1-", "1 not attempted", "2 not attempted", "created 3", "end 3"}},
		"renamed, in doubt": {
			failsFor("1-", exactlyonce.Result{Outcome: protocol.Unknown}, errRenamed), false,
			[]string{"unknown 1-", "1 not attempted", "2 not attempted", "created 3", "end 3"},
		},
		"no answer":    {failsFor("1-", exactlyonce.Result{TimeOver: true}, errSilence), true, []string{"failed 1-", "1 not attempted", "2 not attempted", "1 not attempted", "end 3"}},
		"one unheard":  {failsFor("1-", exactlyonce.Result{TimeOver: true}, errSilence), false, []string{"failed 1-", probing("configmaps", "a"), "failed 1-", probing("configmaps", "a"), "created 2-", "created 2-", "created 3", "end 3"}},
		"401":          {failsFor("1-", exactlyonce.Result{}, errDenied), false, []string{"failed 1-", "failed 1-", "created 2-", "created 2-", "created 3", "end 3"}},
		"the last one": {failsFor("3", exactlyonce.Result{}, errForbidden), false, []string{"created 1-", "created 1-", "created 2-", "created 2-", "failed 3", "end 3"}},
	} {
		c := &cluster{ends: test.ends, silent: test.silent}
		config := configOf(c)
		config.Copies, config.Concurrency = 2, 1
		t.Run(name, func(t *testing.T) {
			expect(t, words(begin(t.Context(), config, input("configmaps/a/1-", "configmaps/a/2-", "configmaps/b/3"))), test.want...)
		})
	}
}

// A run stops after three objects with a 401 in a row, unless a webhook has sent the code. Another outcome begins the
// row again.
func TestUnauthorized(t *testing.T) {
	for text, want := range map[string][]string{
		"Unauthorized": {"failed 1-", "failed 2-", "created ok-", "failed 3-", "failed 4-", "failed 5-", "1 not attempted", "end 7"},
		`admission webhook "w" denied the request: no`: {
			"failed 1-", "failed 2-", "created ok-", "failed 3-", "failed 4-", "failed 5-", "failed 6-", "end 7",
		},
	} {
		refused := &exactlyonce.Error{Kind: exactlyonce.ErrRefused, Cause: apierrors.NewUnauthorized(text)}
		config := configOf(&cluster{ends: func(object string) (result exactlyonce.Result, err error) {
			if object != "ok-" {
				err = refused
			}
			return result, err
		}})
		config.Concurrency = 1
		expect(t, words(begin(t.Context(), config, input("configmaps/a/1-", "configmaps/a/2-", "configmaps/a/ok-",
			"configmaps/a/3-", "configmaps/a/4-", "configmaps/a/5-", "configmaps/a/6-"))), want...)
	}
}

// Flush returns when all earlier documents have ended, including rechecked objects and the copies that wait
// for them.
func TestFlush(t *testing.T) {
	// The copies don't wait for the call or for more input. 0 is repeated, because a select chooses at random.
	for _, pause := range []time.Duration{time.Hour, 0, 0, 0, 0, 0, 0} {
		synctest.Test(t, func(t *testing.T) {
			c := looksForFirst(nil)
			config := configOf(c)
			config.Copies, config.Concurrency = 2, 1
			ended := 0
			s := config.session(t.Context())
			flush := func(want int) {
				if s.Flush(); ended != want || c.inFlight["x-"]+c.inFlight["2-"]+c.inFlight["3-"] > 0 {
					t.Errorf("%d ended, want %d, in flight: %v", ended, want, c.inFlight)
				}
			}
			for e := range s.Create(func(yield func(*Document, error) bool) {
				flush(0)
				yield(document("configmaps/a/2-"), nil)
				yield(document("configmaps/a/4-"), nil)
				yield(document("configmaps/a/x-"), nil) // the session has not taken it when Flush is called
				time.Sleep(pause)
				if pause > 0 {
					if synctest.Wait(); ended != 6 {
						t.Errorf("%d ended in a pause of the input, want 6", ended)
					}
				}
				flush(6)
				flush(6)
				yield(document("configmaps/a/3-"), nil)
				flush(8)
			}) {
				if endedAs(e, protocol.Created) {
					ended++
				}
			}
			if end := s.Summary(); end.Documents != 4 || end.Totals[protocol.Created] != 8 || end.Unread {
				t.Errorf("%d documents, %d created, unread %t, want 4, 8 and false", end.Documents, end.Totals[protocol.Created], end.Unread)
			}
		})
	}
}

// An interrupt stops a run with an endless input, and a call of Flush doesn't hang then.
func TestFlushAfterAnInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		s := configOf(&cluster{takes: time.Second}).session(ctx)
		var flushed atomic.Int32 // atomic, because the reader can outlive the run
		for range s.Create(func(yield func(*Document, error) bool) {
			for yield(document("configmaps/a/1-"), nil) {
				time.Sleep(10 * time.Millisecond)
				if s.Flush(); flushed.Add(1) == 2 {
					interrupt()
				}
			}
		}) {
			continue
		}
		if end := s.Summary(); !end.Unread || end.Totals[protocol.Created] != 2 || flushed.Load() < 2 {
			t.Errorf("%+v, flushed %d times", end, flushed.Load())
		}
		time.Sleep(time.Second) // the reader ends, too
	})
}

// Reading runs ahead of a slow create, up to a limit.
func TestReadAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{takes: time.Hour}
		done, read := 0, 0
		documents := func(yield func(*Document, error) bool) {
			for range 1000 {
				if read++; !yield(document("configmaps/a/1-"), nil) {
					return
				}
				if ahead := read - done; ahead > readAhead+2 {
					t.Fatalf("%d are read ahead", ahead)
				}
			}
		}
		for e := range begin(t.Context(), configOf(c), documents) {
			synctest.Wait()
			if endedAs(e, protocol.Created) {
				done++
			}
			if done < 900 && read < done+readAhead {
				t.Errorf("after %d creates %d are read", done, read)
			}
		}
	})
}

// When the caller ends its loop, nothing more is sent. The requests in flight end, and the summary counts
// and lists their outcomes.
func TestBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{takes: time.Second}
		n := 0
		c.ends = func(object string) (exactlyonce.Result, error) {
			c.mu.Lock()
			n++
			number := n
			c.mu.Unlock()
			time.Sleep(time.Duration(number) * time.Second) // they end one after the other
			switch number {
			case 2:
				return exactlyonce.Result{Name: "lost"}, errUnknown
			case 3:
				return exactlyonce.Result{}, errForbidden
			}
			return exactlyonce.Result{Outcome: protocol.Created, Name: object}, nil
		}
		config := configOf(c)
		config.Overlap, config.Concurrency, config.Copies = true, 4, 2
		s := config.session(t.Context())
		for e := range s.Create(input(series(10, "configmaps/a/%d-")...)) {
			if endedAs(e, protocol.Created) {
				break
			}
		}
		end := s.Summary()
		if want := (Totals{protocol.Created: 2, protocol.Unknown: 1, protocol.Failed: 1, NotAttempted: 16}); !maps.Equal(end.Totals, want) || len(c.sent) != 4 {
			t.Errorf("%+v, sent %q", end.Totals, c.sent)
		}
		unseen := 0
		for _, o := range end.Unseen {
			unseen += o.Copies
		}
		if unseen != 19 || end.Documents != 10 || end.Unread || len(s.InFlight()) > 0 {
			t.Errorf("%d outcomes are kept of %d documents, in flight %v", unseen, end.Documents, s.InFlight())
		}
	})
}

// Each object of the input ends in one event. Nothing is sent after an interrupt was reported. Objects
// with fixed names don't overlap with others. Documents of dry runs don't overlap, because their output is compared.
func TestEveryObjectEndsOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		documents := rapid.SliceOfN(rapid.SampledFrom([]string{
			"configmaps/a/1-", "configmaps/a/2-", "configmaps/b/3-", "secrets/a/4-", "secrets/a/named", "configmaps/a/other",
		}), 0, 12).Draw(rt, "documents")
		copies, concurrency := rapid.IntRange(1, 5).Draw(rt, "copies"), rapid.IntRange(1, 4).Draw(rt, "concurrency")
		overlap, dryRun := rapid.Bool().Draw(rt, "overlap"), rapid.SampledFrom([]DryRun{NoDryRun, ServerDryRun}).Draw(rt, "dry run")
		fates := rapid.SliceOfN(rapid.SampledFrom([]error{nil, nil, nil, errForbidden, errConflict, errUnknown, errSilence}), 60, 60).Draw(rt, "fates")
		looks := rapid.SliceOfN(rapid.SampledFrom([]bool{false, false, true}), 10, 10).Draw(rt, "looks")
		interruptAt := rapid.IntRange(0, 40).Draw(rt, "interrupt at")
		synctest.Test(t, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			n := 0
			c := &cluster{takes: time.Second}
			c.ends = func(string) (exactlyonce.Result, error) {
				c.mu.Lock()
				defer c.mu.Unlock()
				if n++; n == interruptAt {
					interrupt()
				}
				fate := fates[n%len(fates)]
				return exactlyonce.Result{TimeOver: errors.Is(fate, errSilence)}, fate
			}
			c.looks = func(string) bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return looks[n%len(looks)]
			}
			config := configOf(c)
			config.Copies, config.Concurrency, config.Overlap, config.DryRun = copies, concurrency, overlap, dryRun
			want, got := 0, 0
			for _, d := range documents {
				want++
				if d[len(d)-1] == '-' {
					want += copies - 1
				}
			}
			for e := range begin(ctx, config, input(documents...)) {
				if o, is := e.(Outcome); is {
					got += o.Copies
				}
			}
			if got != want {
				rt.Fatalf("%d of %d objects ended", got, want)
			}
			if c.most > concurrency {
				rt.Fatalf("%d in flight of %d", c.most, concurrency)
			}
			for pair := range c.overlapping {
				if !overlap || dryRun != NoDryRun || strings.Contains(pair, "named") || strings.Contains(pair, "other") {
					rt.Fatalf("%s overlap", pair)
				}
			}
		})
	})
}
