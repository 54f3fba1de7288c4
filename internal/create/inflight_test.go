package create

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// An object is in flight under the name that was sent last, until its outcome was handled.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{takes: time.Second, reports: []exactlyonce.Retry{{Action: exactlyonce.NextName, NextName: "second"}}}
		c.ends = func(object string) (exactlyonce.Result, error) {
			time.Sleep(time.Second)
			switch object {
			case "lost":
				return exactlyonce.Result{Name: "lost"}, errUnknown
			case "refused":
				return exactlyonce.Result{}, errForbidden
			}
			return exactlyonce.Result{Outcome: protocol.Created, Name: object}, nil
		}
		s := configOf(c).session(t.Context())
		expect := func(want ...string) {
			t.Helper()
			var got []string
			for _, o := range s.InFlight() {
				got = append(got, fmt.Sprint(o.Number, " ", o.Name, " ", o.Outcome))
			}
			if !slices.Equal(got, want) {
				t.Errorf("in flight: %q, want %q", got, want)
			}
		}
		after := func(d time.Duration, want ...string) { time.AfterFunc(d, func() { expect(want...) }) }
		after(time.Second/2, "1 named Unknown")
		after(3*time.Second/2, "1 second Unknown") // the fake has reported the next name
		after(5*time.Second/2, "2 lost Unknown")
		for e := range s.Create(input("configmaps/a/named", "configmaps/a/lost", "configmaps/a/refused")) {
			switch {
			case endedAs(e, protocol.Created):
				expect("1 named Created")
			case endedAs(e, protocol.Unknown):
				expect("2 lost Unknown")
			case endedAs(e, protocol.Failed):
				expect("3  Failed")
			}
		}
		if s.Totals().Objects() != 3 {
			t.Errorf("totals %v, want 3 objects", s.Totals())
		}
	})
}

// Before a request is sent, neither an interrupt nor an event shows a name that is derived from a secret. A
// fixed name isn't derived. If an object was never sent, its outcome has no name.
func TestNamesOfASecret(t *testing.T) {
	for text, want := range map[string][2]string{
		"configmaps/a/x-": {"x-<secret>", copyOf("configmaps/a/x-", 0, 0, secretOf("1")).Name("x-", 0)}, "configmaps/a/own": {"own", "own"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &cluster{waits: time.Second, takes: time.Second}
			c.unsent = []exactlyonce.Retry{{Action: exactlyonce.Resend, Name: want[1]}}
			c.reports = c.unsent
			config, events := withKey(c), []string{}
			config.Secrets = []derive.Secret{secretOf("1")}
			s := config.session(t.Context())
			for after, name := range map[time.Duration]string{time.Second / 2: want[0], 3 * time.Second / 2: want[1]} {
				time.AfterFunc(after, func() {
					if sent := s.InFlight(); len(sent) != 1 || sent[0].Name != name {
						t.Errorf("after %s: %v, want %s", after, sent, name)
					}
				})
			}
			for e := range s.Create(input(text)) {
				if retry, is := e.(Retry); is {
					events = append(events, retry.Retry.Name)
				}
			}
			if !slices.Equal(events, want[:]) {
				t.Errorf("%q, want %q", events, want)
			}
			ctx, interrupt := context.WithCancel(t.Context())
			time.AfterFunc(time.Second/2, interrupt)
			config.start(ctx, func(_ *Session, e Event) {
				if o, is := e.(Outcome); is && o.Name != "" {
					t.Errorf("%s %s, want no name, because it was not sent", o.Outcome, o.Name)
				}
			}, text)
		})
	}
}

// A dry run stores nothing, so it has nothing in flight.
func TestNothingInFlightInADryRun(t *testing.T) {
	config := configOf(&cluster{})
	config.DryRun = ServerDryRun
	config.start(t.Context(), func(s *Session, _ Event) {
		if got := s.InFlight(); len(got) > 0 {
			t.Errorf("%v in flight, want none", got)
		}
	}, "configmaps/a/x-")
}

// The run hangs, because no program reads its results. Its summary has the outcomes that were not handled,
// the creates in progress, and the copies and documents that were not attempted. The summary also reports
// if reading the input was interrupted.
func TestAbandon(t *testing.T) {
	for _, unread := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { abandon(t, unread) })
	}
}

func abandon(t *testing.T, unread bool) {
	c, calls := &cluster{takes: time.Second}, atomic.Int32{}
	c.ends = func(string) (exactlyonce.Result, error) {
		switch calls.Add(1) {
		case 2:
			return exactlyonce.Result{}, errForbidden
		case 3:
			renamed := &unstructured.Unstructured{Object: map[string]any{}}
			renamed.SetName("picked")
			return exactlyonce.Result{Object: renamed}, &exactlyonce.Error{Kind: exactlyonce.ErrRenamed, Cause: errForbidden}
		case 4:
			time.Sleep(time.Hour)
		}
		return exactlyonce.Result{}, nil
	}
	config := configOf(c)
	config.Copies, config.Concurrency, config.Overlap = 5, 4, true
	documents := func(yield func(*Document, error) bool) {
		for d, err := range input("configmaps/a/x-", "configmaps/a/y-", "configmaps/a/named") {
			if !yield(d, err) {
				return
			}
		}
		if unread {
			yield(nil, ErrUnread)
		}
	}
	hangs, over := make(chan struct{}), make(chan struct{})
	s, waiting, done := config.session(t.Context()), hangs, make(chan bool)
	go func() {
		for e := range s.Create(documents) {
			if _, is := e.(Outcome); is && hangs != nil {
				close(hangs)
				hangs = nil
				<-over
			}
		}
		close(done)
	}()
	<-waiting
	synctest.Wait()
	end := s.Abandon()
	want := Totals{protocol.Created: 1, Renamed: 1, protocol.Failed: 1, protocol.Unknown: 1, NotAttempted: 1 + 5 + 1}
	if !maps.Equal(end.Totals, want) || end.Documents != 3 || end.Unread != unread || end.Rest.Left != 8 {
		t.Errorf("%+v, want %+v; %d documents, unread %t", end.Totals, want, end.Documents, end.Unread)
	}
	unseen := Totals{}
	for _, o := range end.Unseen {
		unseen[o.Outcome] += o.Copies
	}
	if !maps.Equal(unseen, want) {
		t.Errorf("unseen are %+v, want %+v", unseen, want)
	}
	close(over)
	<-done
	if after := s.Summary(); !maps.Equal(after.Totals, want) {
		t.Errorf("%+v was counted after the end", after.Totals)
	}
}

// A remainder counts all objects. It lists a limited number of them by document.
func TestRemainderIsBounded(t *testing.T) {
	var r Remainder
	for n := 2 * maxShares; n > 0; n-- {
		o := Outcome{Document: document("configmaps/a/x-"), Number: n}
		o.Document.Object.SetGenerateName(string(rune('a'+n)) + "-")
		r.add(o, 5)
		r.add(o, 5)
	}
	shares := r.Shares()
	if len(r.shares) != maxShares || r.Left != 2*maxShares*10 || len(shares) != MaxNamed || shares[0].First > shares[1].First {
		t.Errorf("%d shares, %d left, %v", len(r.shares), r.Left, shares)
	}
}

// If a name is taken, the object with the name might belong to the run. Then it has no creation ID, or
// another ID and the run's label. A tally keeps a limited number of such objects.
func TestHoldersOfNames(t *testing.T) {
	config := Config{Key: "k"}
	id := exactlyonce.Derive(exactlyonce.Derivation{Creation: "v1-ours"})
	held := func(name, creation, label string) Outcome {
		d := document("configmaps/a/x-")
		object := d.Object.DeepCopy()
		object.SetName(name)
		object.SetAnnotations(map[string]string{exactlyonce.Annotation: creation})
		object.SetLabels(map[string]string{exactlyonce.RunLabel: label})
		return Outcome{Document: d, Copies: 1, ID: id, Result: exactlyonce.Result{Outcome: protocol.Failed, Name: "x-1", Object: object}}
	}
	for name, test := range map[string]struct {
		config            Config
		outcome           Outcome
		holders, otherIDs int
	}{
		"no ID":                        {config, held("x-1", "", ""), 1, 0},
		"no ID, and the label":         {config, held("x-1", "", config.Key.RunLabel()), 1, 0},
		"another ID":                   {config, held("x-1", "v1-theirs", ""), 0, 0},
		"another ID, and the label":    {config, held("x-1", "v1-theirs", config.Key.RunLabel()), 0, 1},
		"another ID, and another run":  {config, held("x-1", "v1-theirs", "v1-another"), 0, 0},
		"our ID":                       {config, held("x-1", "v1-ours", config.Key.RunLabel()), 0, 0},
		"another name":                 {config, held("x-2", "", ""), 0, 0},
		"without a key":                {Config{}, held("x-1", "", ""), 0, 0},
		"without an object in the way": {config, Outcome{Document: document("configmaps/a/x-"), Copies: 1, ID: id, Result: exactlyonce.Result{Outcome: protocol.Failed}}, 0, 0},
	} {
		var tally Tally
		tally.Add(test.config, test.outcome)
		if len(tally.Holders) != test.holders || len(tally.OtherIDs) != test.otherIDs {
			t.Errorf("%s: %d without an ID, %d with another one", name, len(tally.Holders), len(tally.OtherIDs))
		}
	}
	var tally Tally
	for range MaxNamed {
		tally.Add(config, held("x-1", "", ""))
		tally.Add(config, held("x-1", "v1-theirs", config.Key.RunLabel()))
	}
	if len(tally.Holders)+len(tally.OtherIDs) != MaxNamed {
		t.Errorf("%d and %d objects, want %d together", len(tally.Holders), len(tally.OtherIDs), MaxNamed)
	}
}
