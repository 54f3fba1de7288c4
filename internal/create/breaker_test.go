package create

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

func probing(resource, namespace string) string {
	return fmt.Sprintf("warning an object of %s in %q used up its --retry-timeout. Until the server creates one, the plugin sends "+
		"each of the next objects once, without retries.", resource, namespace)
}

// stuck makes every object for which the function is returns true use up its retry time, with an unknown outcome.
func stuck(is func(object string) bool) func(string) (exactlyonce.Result, error) {
	return func(object string) (exactlyonce.Result, error) {
		if is(object) {
			return exactlyonce.Result{TimeOver: true}, errUnknown
		}
		return exactlyonce.Result{}, nil
	}
}

func always(string) bool { return true }

// fails makes every object end with the result and the error.
func fails(result exactlyonce.Result, err error) func(string) (exactlyonce.Result, error) {
	return func(string) (exactlyonce.Result, error) { return result, err }
}

// failsFor is like fails, but only for one object. All other objects are created.
func failsFor(which string, result exactlyonce.Result, err error) func(string) (exactlyonce.Result, error) {
	return func(object string) (exactlyonce.Result, error) {
		if object == which {
			return result, err
		}
		return exactlyonce.Result{}, nil
	}
}

// series returns n documents, numbered by the verb of the format.
func series(n int, format string) (documents []string) {
	for i := range n {
		documents = append(documents, fmt.Sprintf(format, i))
	}
	return documents
}

// After one object has used up its time, the next objects at its place are sent once each. After five
// losses, nothing more is sent to this place. Three such places stop the run.
func TestStalled(t *testing.T) {
	var documents []string
	for _, place := range []string{"configmaps/a", "configmaps/b", "secrets/a", "secrets/b"} {
		documents = append(documents, series(100, place+"/"+strings.ReplaceAll(place, "/", "")+"%d-")...)
	}
	for name, test := range map[string]struct {
		ends            func(string) (exactlyonce.Result, error)
		key             idempotency.Key
		sent, briefly   int
		stalled, missed int
	}{
		"everywhere":    {stuck(always), "", 18, 15, 3, 382},
		"with a key":    {stuck(always), key, 18, 15, 3, 382},
		"in one place":  {stuck(func(o string) bool { return strings.HasPrefix(o, "configmapsb") }), "", 306, 5, 1, 94},
		"in two places": {stuck(func(o string) bool { return strings.HasPrefix(o, "configmaps") }), "", 212, 10, 2, 188},
	} {
		c := &cluster{ends: test.ends}
		config := configOf(c)
		config.Key = test.key
		missed := 0
		var end Summary
		for e := range begin(t.Context(), config, input(documents...)) {
			missed += missedIn(e)
			end, _ = e.(Summary)
		}
		if len(c.sent) != test.sent || c.briefly != test.briefly || len(end.Stalled) != test.stalled || missed != test.missed {
			t.Errorf("%s: %d sent, %d of them briefly, %d places stalled, %d not attempted: want %+v",
				name, len(c.sent), c.briefly, len(end.Stalled), missed, test)
		}
	}
}

// The table has the number of objects that a run sends, and the time. If there is no server or all
// responses are lost, a run stops soon, even if it sends copies concurrently. An outage that all copies in
// flight meet counts once, so the breaker stays closed if the server recovers within a second. An unknown
// outcome despite a response doesn't open the breaker either. A denial with a conflict refuses all copies.
func TestSent(t *testing.T) {
	const x = "configmaps/a/x-"
	named := series(100, "configmaps/a/named%d")
	lost := fails(exactlyonce.Result{}, errUnknown)
	recovers := func(after time.Duration, result exactlyonce.Result) func(string) (exactlyonce.Result, error) {
		return func(string) (exactlyonce.Result, error) {
			if time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) <= after { // synthetic time begins in 2000
				return result, errUnknown
			}
			return exactlyonce.Result{}, nil
		}
	}
	denied := fails(exactlyonce.Result{}, &exactlyonce.Error{Kind: exactlyonce.ErrRefused, Cause: &apierrors.StatusError{
		ErrStatus: metav1.Status{Code: 409, Reason: metav1.StatusReasonConflict, Message: `admission webhook "x" denied the request: no`},
	}})
	withObject := exactlyonce.Result{Object: document("configmaps/a/x").Object}
	for name, test := range map[string]struct {
		c           *cluster
		copies      int
		overlap     bool
		documents   []string
		least, most int
		within      time.Duration
	}{
		"copies of two documents":       {&cluster{takes: 2 * time.Minute, ends: stuck(always)}, 1000, false, []string{x, "configmaps/a/y-"}, 1, 14, 4 * time.Minute},
		"documents that overlap":        {&cluster{takes: 2 * time.Minute, ends: stuck(always)}, 1000, true, []string{x, "configmaps/a/y-"}, 1, 14, 4 * time.Minute},
		"a server that is gone":         {&cluster{takes: time.Minute, silent: true, ends: lost}, 1, false, named, 1, 1, time.Minute},
		"a place":                       {&cluster{takes: time.Minute, ends: lost}, 1, false, named, 5, 5, 6 * time.Minute},
		"copies that were sent at once": {&cluster{takes: time.Minute, ends: lost}, 100, false, series(100, "configmaps/a/x%d-"), 5, 5 * 8, 6 * time.Minute},
		"an outage":                     {&cluster{takes: time.Second, ends: recovers(time.Second, exactlyonce.Result{})}, 100, false, []string{x}, 100, 100, time.Hour},
		"a long outage":                 {&cluster{takes: 2 * time.Minute, ends: recovers(121*time.Second, exactlyonce.Result{TimeOver: true})}, 100, false, []string{x}, 100, 100, time.Hour},
		"responses without an ID":       {&cluster{ends: fails(withObject, errUnknown)}, 1, false, named[:20], 20, 20, time.Hour},
		"conflicts with unreadable objects": {
			&cluster{ends: fails(exactlyonce.Result{Unverified: true}, errUnknown)}, 1, false, named[:20], 20, 20, time.Hour,
		},
		"denials": {&cluster{looks: always, ends: denied}, 1000, false, []string{x}, 1, 1000, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			config, start, missed := configOf(test.c), time.Now(), 0
			config.Copies, config.Overlap = test.copies, test.overlap
			for e := range begin(t.Context(), config, input(test.documents...)) {
				missed += missedIn(e)
			}
			took, sent := time.Since(start), len(test.c.sent)
			if took > test.within || sent > test.most || sent < test.least || missed != test.copies*len(test.documents)-sent {
				t.Errorf("%s: %d were sent in %s, %d of them as probes, %d not attempted", name, sent, took, test.c.briefly, missed)
			}
		})
	}
}

// One success ends probing, even if a concurrent run has created the object. A refusal doesn't end probing.
func TestStalledNoMore(t *testing.T) {
	c := &cluster{ends: func(object string) (exactlyonce.Result, error) {
		switch object {
		case "5-":
			return exactlyonce.Result{}, nil
		case "11-":
			return exactlyonce.Result{Outcome: protocol.Found, Object: document("configmaps/a/11-").Object}, nil
		case "7-", "12-", "14-", "16-":
			return exactlyonce.Result{}, errForbidden
		}
		return exactlyonce.Result{TimeOver: true}, errUnknown
	}}
	reported := words(begin(t.Context(), configOf(c), input(series(30, "configmaps/a/%d-")...)))
	// Object 0 gets the whole time, and 1 to 4 a short time. Object 5 is created, so 6 gets the whole time again, and
	// 8 to 10 a short time. Object 11 is found. 13 gets the whole time, and 15 and 17 to 20 a short time.
	if len(c.sent) != 21 || c.briefly != 4+1+1+3+1+1+1+1+4 {
		t.Errorf("%d were sent, %d of them briefly", len(c.sent), c.briefly)
	}
	if n := len(reported); reported[n-1] != "end 30" || reported[n-2] != "1 not attempted" {
		t.Errorf("reported %q, want that 1 was not attempted, and end 30", reported)
	}
}

// The number of concurrent rechecks is limited.
func TestLookingAgainIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{looks: always, ends: fails(exactlyonce.Result{}, errForbidden)}
		looking, most := 0, 0
		start := time.Now()
		for e := range begin(t.Context(), configOf(c), input(series(2*maxRechecking+100, "configmaps/a/%d-")...)) {
			if _, is := e.(Retry); is {
				looking++
				most = max(most, looking)
			}
			if endedAs(e, protocol.Failed) {
				looking--
			}
		}
		if took := time.Since(start); most != maxRechecking || took != 3*lookingAgain {
			t.Errorf("%d at once, in %s", most, took)
		}
	})
}

// looksForFirst returns a cluster where the first copy of x- is rechecked, and then ends with the error.
func looksForFirst(err error) *cluster {
	n := 0
	first := func(object string) bool { return object == "x-" && n == 1 }
	c := &cluster{looks: first}
	c.during = func(object string) {
		if object == "x-" {
			n++
		}
	}
	c.ends = func(object string) (exactlyonce.Result, error) {
		if first(object) {
			return exactlyonce.Result{}, err
		}
		return exactlyonce.Result{}, nil
	}
	return c
}

// While one copy is rechecked, the other copies of its document wait for a refusal or a success. Other
// documents don't wait, unless they have a fixed name.
func TestLookingAgainForACopy(t *testing.T) {
	const y, named = "configmaps/a/y-", "configmaps/a/named"
	for name, test := range map[string]struct {
		err  error
		next string
		want []string
	}{
		"refused":   {errForbidden, y, []string{"retry", "created y-", "created y-", "created y-", "failed x-", "2 not attempted", "end 2"}},
		"there":     {nil, y, []string{"retry", "created y-", "created y-", "created y-", "created x-", "created x-", "created x-", "end 2"}},
		"exhausted": {errConflict, y, []string{"retry", "created y-", "created y-", "created y-", "failed x-", "created x-", "created x-", "end 2"}},
		"named":     {nil, named, []string{"retry", "created x-", "created x-", "created x-", "created named", "end 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := configOf(looksForFirst(test.err))
				config.Copies, config.Concurrency = 3, 1
				expect(t, words(begin(t.Context(), config, input("configmaps/a/x-", test.next))), test.want...)
			})
		})
	}
}

// A user who can't read objects back is warned once per place. The review runs parallel to the first
// create.
func TestReview(t *testing.T) {
	warning := `warning no permission to get configmaps in "a". ` + textLostResponse
	for name, test := range map[string]struct {
		documents []string
		dryRun    DryRun
		server    bool
		want      int
	}{
		"marked":        {[]string{"configmaps/a/x-", "configmaps/a/y-"}, NoDryRun, false, 1},
		"named":         {[]string{"configmaps/a/x"}, NoDryRun, false, 0},
		"refused":       {[]string{"configmaps/a/refused-"}, NoDryRun, false, 0},
		"server naming": {[]string{"configmaps/a/x-"}, NoDryRun, true, 0},
		"a dry run":     {[]string{"configmaps/a/x-"}, ServerDryRun, false, 0},
	} {
		config := configOf(&cluster{noGet: true, ends: failsFor("refused-", exactlyonce.Result{}, errForbidden)})
		config.DryRun, config.ServerNaming = test.dryRun, test.server
		n := 0
		for _, text := range words(begin(t.Context(), config, input(test.documents...))) {
			if text == warning {
				n++
			}
		}
		if n != test.want {
			t.Errorf("%s: %d warnings, want %d", name, n, test.want)
		}
	}
}

// No create waits for a permission review. A finished run waits only briefly.
func TestReviewThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, start := configOf(&cluster{takes: time.Second, slowReview: true}), time.Now()
		expect(t, words(begin(t.Context(), config, input("configmaps/a/x-", "configmaps/a/y-"))), "created x-", "created y-", "end 2")
		if took := time.Since(start); took != 2*time.Second+reviewTimeout {
			t.Errorf("it took %s", took)
		}
	})
}

// If a failed object can't be read, an earlier copy of its POST might have created it, whatever the reason
// of the failure. The run warns about a conflict that it can't check if it then creates the object under
// another name.
func TestWhatNeedsGet(t *testing.T) {
	mayNotCreate := &exactlyonce.Error{Kind: exactlyonce.ErrRefused, Cause: apierrors.NewForbidden(
		schema.GroupResource{Resource: "configmaps"}, "", errors.New(`User "nobody" cannot create resource "configmaps" in API group ""`))}
	interrupted := &exactlyonce.Error{Kind: exactlyonce.ErrInterrupted, Cause: exactlyonce.ErrInterrupted}
	for name, test := range map[string]struct {
		err        error
		elsewhere  bool
		unverified bool
		conflicts  int
	}{
		"refused":                      {errForbidden, false, true, 0},
		"no permission":                {mayNotCreate, false, true, 0},
		"no credential":                {errDenied, false, true, 0},
		"interrupted":                  {interrupted, false, true, 0},
		"given up":                     {errSilence, false, true, 0},
		"unknown":                      {errUnknown, false, false, 0},
		"another name":                 {nil, true, false, 1},
		"given up with another name":   {errSilence, true, true, 0},
		"all names":                    {errConflict, true, true, 0},
		"interrupted, and another one": {interrupted, true, true, 0},
	} {
		c := &cluster{ends: fails(exactlyonce.Result{Unverified: true}, test.err)}
		if test.err == nil {
			c.ends = fails(exactlyonce.Result{Outcome: protocol.Created, Unverified: true}, nil)
		}
		if test.elsewhere {
			c.reports = []exactlyonce.Retry{{Action: exactlyonce.NextName}}
		}
		unverified, conflicts := false, 0
		for e := range begin(t.Context(), configOf(c), input("configmaps/a/x-")) {
			if end, is := e.(Summary); is {
				unverified = end.Unverified
			}
			if strings.HasPrefix(word(e), "warning no permission to get configmaps. A name was taken, ") {
				conflicts++
			}
		}
		if unverified != test.unverified || conflicts != test.conflicts {
			t.Errorf("%s: unverified %t, %d conflicts, want %t and %d", name, unverified, conflicts, test.unverified, test.conflicts)
		}
	}
}
