package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

const ourID, ourRun = "v1-ours", "v1-run"

// script is a server that gives one response after the other. script repeats the last one.
type script struct {
	posts, gets []response
	request     func(n int) // is called in each request, numbered from 1
	sent        []string    // names of the POSTs
	read        int         // number of the GETs
	within      string      // time limit of the last GET
}

func (s *script) post(_, _ context.Context, name string) response {
	s.sent = append(s.sent, name)
	s.begin()
	return take(&s.posts)
}

// get finds nothing if the script has no response.
func (s *script) get(ctx context.Context, _ string) response {
	s.read++
	s.begin()
	if until, limited := ctx.Deadline(); limited {
		s.within = " within " + time.Until(until).String()
	}
	if len(s.gets) == 0 {
		return because(protocol.Absent, errors.New("not found"))
	}
	return take(&s.gets)
}

// now is not told.
func (s *script) now(context.Context) protocol.Observation {
	return protocol.Observation{Finding: protocol.ServerTime, Time: time.Time{}}
}

func (s *script) begin() {
	if s.request != nil {
		s.request(len(s.sent) + s.read)
	}
}

func take(responses *[]response) response {
	first := (*responses)[0]
	if len(*responses) > 1 {
		*responses = (*responses)[1:]
	}
	return first
}

// operationOn is a create on the server.
func operationOn(to server, w wanted, options ...option) *operation {
	return newOperation(w, to, settingsOf(DefaultRetryTimeout, options...))
}

type option = func(*Settings)

func settingsOf(retryTimeout time.Duration, options ...option) Settings {
	s := Settings{RetryTimeout: retryTimeout}
	for _, change := range options {
		change(&s)
	}
	return s
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

// errUnknown stands for an unknown outcome in tables of errors.
var errUnknown = errors.New("the outcome is unknown")

// ends reports whether a create ended with an error, or with errUnknown.
func ends(r Result, err, want error) bool {
	if errors.Is(want, errUnknown) {
		return err != nil && r.Outcome == protocol.Unknown
	}
	return errors.Is(err, want)
}

func endingOf(r Result, err error) ending {
	switch {
	case err == nil && r.Outcome == protocol.Found:
		return isFound
	case err == nil:
		return isCreated
	case r.Outcome == protocol.Unknown:
		return isUnknown
	case errors.Is(err, ErrInterrupted):
		return isNotAttempted
	}
	return isFailed
}

func taken() response {
	return because(protocol.Conflict, apierrors.NewAlreadyExists(configMaps, "x"))
}

var stored = response{Observation: protocol.Observation{Finding: protocol.Stored}, object: &unstructured.Unstructured{Object: map[string]any{}}}

func anothers() response {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAnnotations(map[string]string{Annotation: "v1-another"})
	return response{protocol.Observation{Finding: protocol.Foreign}, object, nil}
}

// Each history is a script of responses, and what Create makes of it: the outcome or the error, the time, the requests,
// and the first event.
func TestHistories(t *testing.T) {
	no, eof := errors.New("no"), because(protocol.Lost, io.EOF)
	denied, rejected := because(protocol.Denied, no), because(protocol.Rejected, no)
	gone, unread := because(protocol.Absent, errors.New("not found")), because(protocol.Unread, errors.New("reset"))
	forbidden, quota := because(protocol.NoPermission, errors.New("forbidden")), because(protocol.Rejected, errors.New("exceeded quota"))
	notSent := response{Observation: protocol.Observation{Finding: protocol.Rejected, Err: no, Unsent: true}}
	throttled := func(wait time.Duration) response {
		return response{Observation: protocol.Observation{Finding: protocol.NotStored, Err: errors.New("slow down"), RetryAfter: wait}}
	}
	one := func(s *Settings) { s.Attempts = 1 }
	minute, noTime := func(s *Settings) { s.RetryTimeout = time.Minute }, func(s *Settings) { s.RetryTimeout = 0 }
	only := func(all ...response) []response { return all }
	for name, test := range map[string]struct {
		posts, gets []response // the last one comes again
		options     []option
		interrupt   int // the user interrupts during this request, counted from 1
		want        string
	}{
		// Names and quotas:
		"each name is taken": {
			only(taken()), only(anothers()),
			[]option{func(s *Settings) { s.Attempts = 3 }},
			0,
			`names or time exhausted: configmaps "x" already exists; gave up after 3 names after 0s, 3 POST (3 names), 3 GET; configmaps "x" already exists: NextName in 0s`,
		},
		"quota, one name": {only(quota), nil, nil, 0, "refused: exceeded quota after 0s, 1 POST, 1 GET"},
		"quota, two names": {
			only(taken(), quota), only(anothers(), gone), nil, 0,
			`refused: exceeded quota (the server charges quota for every name tried, here 2, and corrects that only later) after 0s, 2 POST (2 names), 2 GET; configmaps "x" already exists: NextName in 0s`,
		},
		"no, two names": {only(taken(), rejected), only(anothers(), gone), nil, 0, `refused: no after 0s, 2 POST (2 names), 2 GET; configmaps "x" already exists: NextName in 0s`},
		"a conflict that can't be read, one name": {
			only(taken()), only(forbidden),
			[]option{one},
			0,
			`configmaps "x" already exists; the object can't be read (needs the permission get): forbidden (unverified) after 0s, 1 POST, 1 GET`,
		},
		"lost, and can't be read": {only(eof), only(forbidden), nil, 0, "EOF; the object can't be read (needs the permission get): forbidden after 0s, 1 POST, 1 GET; EOF: ReadBack in 0s"},

		// A refusal stands only after a GET: one if no copy of the POST can be to blame, else for 13 seconds.
		"rejected":                {only(rejected), nil, nil, 0, "refused: no after 0s, 1 POST, 1 GET"},
		"rejected, there":         {only(rejected), only(found(Annotation, ourID)), nil, 0, "Created (reread) after 0s, 1 POST, 1 GET"},
		"rejected, another there": {only(rejected), only(anothers()), nil, 0, "refused: no after 0s, 1 POST, 1 GET"},
		"rejected, no permission": {only(rejected), only(forbidden), nil, 0, "refused: no (unverified) after 0s, 1 POST, 1 GET"},
		"rejected, no ID there":   {only(rejected), only(found("x", "y")), nil, 0, "no; an object has the name, but no creation ID: something may remove annotations after 0s, 1 POST, 1 GET"},
		"rejected, no credential": {
			only(response{Observation: protocol.Observation{Finding: protocol.Rejected, Err: no, Permission: true}}),
			only(because(protocol.Unauthorized, errors.New("401"))), nil, 0,
			"refused: no (unverified) after 150ms, 1 POST, 3 GET; 401: ReadBack in 50ms",
		},
		"rejected, never sent":  {only(notSent), nil, nil, 0, "refused: no after 0s, 1 POST, 0 GET"},
		"denied":                {only(denied), nil, nil, 0, "refused: no after 13s, 1 POST, 4 GET; no: Recheck in 13s"},
		"denied, there late":    {only(denied), only(gone, gone, gone, found(Annotation, ourID)), nil, 0, "Created (reread) after 13s, 1 POST, 4 GET; no: Recheck in 13s"},
		"denied, no permission": {only(denied), only(gone, forbidden), nil, 0, "no; the object can't be read (needs the permission get): forbidden (unverified) after 1s, 1 POST, 2 GET; no: Recheck in 13s"},

		// The end of the time is a failure without a doubt, and else unknown:
		"throttled":                {only(throttled(7 * time.Second)), nil, []option{minute}, 0, "names or time exhausted: slow down; not settled in 1m0s (time over) after 56s, 9 POST, 1 GET; slow down: Resend in 7s"},
		"throttled, no permission": {only(throttled(5 * time.Minute)), only(forbidden), []option{minute}, 0, "slow down; the object can't be read (needs the permission get): forbidden (unverified) after 0s, 1 POST, 1 GET"},
		"throttled for too long":   {only(throttled(5 * time.Minute)), nil, []option{minute}, 0, "names or time exhausted: slow down; the server asks to wait 5m0s, longer than the time for one object (1m0s) after 0s, 1 POST, 1 GET"},
		"throttled, then stored":   {only(throttled(7*time.Second), stored), nil, []option{one, minute}, 0, "Created after 7s, 2 POST, 0 GET; slow down: Resend in 7s"},
		"lost, never read":         {only(eof), only(unread), []option{minute}, 0, "EOF; not settled in 1m0s (time over) after 56.35s, 1 POST, 18 GET; EOF: ReadBack in 0s"},
		"lost, then denied":        {only(eof, denied), only(gone), []option{minute}, 0, "EOF; no; not settled in 1m0s (time over) after 56.35s, 10 POST, 9 GET; EOF: ReadBack in 0s"},
		"denied, never read":       {only(denied), only(unread), []option{minute}, 0, "no; not settled in 1m0s (time over) after 56.35s, 1 POST, 18 GET; reset: ReadBack in 50ms"},
		"taken, never read":        {only(taken()), only(unread), []option{minute}, 0, `configmaps "x" already exists; not settled in 1m0s (time over) after 56.35s, 1 POST, 18 GET; reset: ReadBack in 50ms`},

		// If the time limit is over from the start, one POST is sent, and then one GET of at most 30 s:
		"no time: lost, found":     {only(eof), only(found(Annotation, ourID)), []option{noTime}, 0, "Created (reread) after 0s, 1 POST, 1 GET within 30s; EOF: ReadBack in 0s"},
		"no time: lost, not there": {only(eof), nil, []option{noTime}, 0, "EOF; not settled in 0s (time over) after 0s, 1 POST, 1 GET within 30s; EOF: ReadBack in 0s"},
		"no time: lost, not read":  {only(eof), only(unread), []option{noTime}, 0, "EOF; not settled in 0s (time over) after 0s, 1 POST, 1 GET within 30s; EOF: ReadBack in 0s"},
		"no time: throttled":       {only(throttled(0)), nil, []option{noTime}, 0, "names or time exhausted: slow down; not settled in 0s (time over) after 0s, 1 POST, 1 GET within 30s"},
		"no time: taken":           {only(taken()), only(anothers()), []option{noTime}, 0, `names or time exhausted: configmaps "x" already exists; not settled in 0s (time over) after 0s, 1 POST, 1 GET within 30s`},

		// After an interrupt, no POST is sent. An object in doubt is read within the grace.
		"interrupted before":               {nil, nil, nil, -1, "interrupted after 0s, 0 POST, 0 GET"},
		"interrupted: throttled":           {only(throttled(0)), nil, nil, 1, "interrupted after 0s, 1 POST, 1 GET"},
		"interrupted: throttled, not read": {only(throttled(0)), only(unread), nil, 1, "slow down; interrupted after 5s, 1 POST, 6 GET; reset: ReadBack in 100ms"},
		"interrupted: denied":              {only(denied), nil, nil, 1, "no; interrupted after 0s, 1 POST, 1 GET"},
		"interrupted: rejected":            {only(rejected), nil, nil, 1, "refused: no after 0s, 1 POST, 1 GET"},
		"interrupted: lost, not there":     {only(eof), nil, nil, 1, "EOF; interrupted after 0s, 1 POST, 1 GET; EOF: ReadBack in 0s"},
		"interrupted: lost, not read":      {only(eof), only(unread), nil, 1, "EOF; interrupted after 5s, 1 POST, 7 GET; EOF: ReadBack in 0s"},
		"interrupted in a recheck":         {only(denied), nil, nil, 3, "no; interrupted after 1s, 1 POST, 2 GET; no: Recheck in 13s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				server := &script{posts: test.posts, gets: test.gets, request: func(n int) {
					if n == test.interrupt {
						interrupt()
					}
				}}
				if test.interrupt < 0 {
					interrupt()
				}
				if got := server.play(ctx, test.options...); got != test.want {
					t.Errorf("%s, want\n%s", got, test.want)
				}
			})
		})
	}
}

// play creates an object on the server, and returns what has happened.
func (s *script) play(ctx context.Context, options ...option) string {
	first := ""
	o := operationOn(s, wanted{generateName: "p-", id: ID{Derivation: Derivation{Creation: ourID}, names: ourID}}, append(options, func(s *Settings) {
		s.OnRetry = func(e Retry) {
			if first == "" {
				first = fmt.Sprintf("; %v: %s in %s", e.Reason, e.Action, e.Wait)
			}
		}
	})...)
	o.config.Jitter = nil
	start := time.Now()
	r, err := o.run(ctx)
	text := string(r.Outcome)
	if err != nil {
		text = err.Error()
	}
	if r.Unverified {
		text += " (unverified)"
	}
	if r.TimeOver {
		text += " (time over)"
	}
	if r.Reread {
		text += " (reread)"
	}
	slices.Sort(s.sent)
	posts, several := len(s.sent), ""
	if n := len(slices.Compact(s.sent)); n > 1 {
		several = fmt.Sprintf(" (%d names)", n)
	}
	return fmt.Sprintf("%s after %s, %d POST%s, %d GET%s%s", text, time.Since(start), posts, several, s.read, s.within, first)
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
	return response{protocol.Observation{Finding: finding}, object, nil}
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
		"no annotations":  {&script{posts: []response{{Observation: protocol.Observation{Finding: protocol.Stored}, object: without(func(o *unstructured.Unstructured) { o.SetAnnotations(nil) })}}}, []string{Annotation}},
	} {
		w := wanted{generateName: "p-", id: Derive(Derivation{Creation: ourID, Run: ourRun})}
		if r, err := operationOn(test.server, w).run(t.Context()); err != nil || !slices.Equal(r.Stripped, test.want) {
			t.Errorf("%s: stripped %q, want %q: %v", name, r.Stripped, test.want, err)
		}
	}
}
