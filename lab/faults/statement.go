package faults

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statement is what a client said of the objects, over all of its runs.
type statement struct {
	want     want
	reported map[string]string // names, with the last word on them
	unknown  map[string]bool   // names whose outcome a run called unknown
	last     totals
	lastCode int

	// Of a last, superfluous run:

	exist      int // objects that it found there
	postsAgain int // requests that it sent to create something
}

// totals are the objects that a run counted and did not name one by one.
type totals struct{ failed, notAttempted int }

func newStatement(w want) *statement {
	return &statement{want: w, reported: map[string]string{}, unknown: map[string]bool{}}
}

func (s *statement) add(r run) {
	s.lastCode, s.last = r.code, r.totals()
	for name, verb := range r.reported() {
		s.reported[name] = verb
	}
	for _, name := range r.unknown() {
		s.unknown[name] = true
	}
}

func (s *statement) reportedAs(verb string) int {
	n := 0
	for _, v := range s.reported {
		if v == verb {
			n++
		}
	}
	return n
}

// settledPrefixes are those of which an object was reported created or
// unknown, for input whose documents have each a prefix of its own. A name
// that the server picks is not known if its answer is lost: then the prefix is
// reported.
func (s *statement) settledPrefixes() map[string]bool {
	settled := map[string]bool{}
	for name := range s.reported {
		settled[prefixOf(name)] = true
	}
	for name := range s.unknown {
		settled[name], settled[prefixOf(name)] = true, true
	}
	return settled
}

// Result is what became of the objects of a fault test.
//
// Every object that is there is one that was asked for or a duplicate.
type Result struct {
	Client Client
	// Asked is how many objects were asked for, Reported how many different
	// ones were reported created or there, and Unknown how many were reported
	// unknown and by no run created. Failed and NotAttempted are what the last
	// run counted as such.
	Asked, Reported, Unknown, Failed, NotAttempted int
	// Present is how many objects the server has; Duplicates of them are more
	// than were asked for, and Missing is how many are less. Unaccounted are
	// those that are there and that no run reported.
	Present, Duplicates, Missing, Unaccounted int
	// NotThere is how many were reported created and are not there.
	NotThere int
	// Exist is how many a last, superfluous run reported as there, and
	// PostsAgain how many requests it sent to create something.
	Exist, PostsAgain int
	// LastCode is the exit code of the last run.
	LastCode int

	Requests, Faults int
	Took             time.Duration
	tally
}

// settle compares what was said with what is there.
func (s *statement) settle(present []string) *Result {
	r := &Result{
		Asked: s.want.objects(), Reported: len(s.reported), Present: len(present),
		Failed: s.last.failed, NotAttempted: s.last.notAttempted,
		Exist: s.exist, PostsAgain: s.postsAgain, LastCode: s.lastCode,
	}
	found, there := map[string]int{}, map[string]bool{}
	for _, name := range present {
		there[name] = true
		found[prefixOf(name)]++
		if s.reported[name] == "" && !s.unknown[name] && !s.unknown[prefixOf(name)] {
			r.Unaccounted++
		}
	}
	for prefix, n := range s.want {
		r.Missing += max(0, n-found[prefix])
	}
	r.Duplicates = r.Present + r.Missing - r.Asked
	for name := range s.reported {
		if !there[name] {
			r.NotThere++
		}
	}
	for name := range s.unknown {
		if s.reported[name] == "" {
			r.Unknown++
		}
	}
	return r
}

// present are the names of the ConfigMaps that are there, straight from the
// server.
func (t *trial) present(ctx context.Context) ([]string, error) {
	var names []string
	options := metav1.ListOptions{Limit: 1000}
	for {
		list, err := t.server.CoreV1().ConfigMaps(t.namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return names, nil
		}
	}
}
