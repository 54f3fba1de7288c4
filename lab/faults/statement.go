package faults

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statement contains everything that a client reported about the objects, over all of its runs.
type statement struct {
	want     want
	reported map[string]string // names, with the last verb
	unknown  map[string]bool   // names whose outcome a run reported as unknown
	last     totals
	lastCode int

	// Of a last, superfluous run:

	exist      int // objects that it found
	postsAgain int // create requests that it sent
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

// settledPrefixes returns the prefixes with an object that was reported as created or unknown. Each document must
// have another prefix. If the response to a create with a server-picked name is lost, the client doesn't know the
// name and reports the prefix.
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

// Result is the outcome of a fault-injection test.
//
// Every object that exists was requested or is a duplicate.
type Result struct {
	Client Client
	// Asked is the number of requested objects. Reported is the number of different objects that were reported as
	// created or existing. Unknown objects were reported as unknown, and no run reported them as created. Failed and
	// NotAttempted are the counts in the last run's output.
	Asked, Reported, Unknown, Failed, NotAttempted int
	// Present is the number of objects on the server. Duplicates is the number of them that were not requested.
	// Missing is the number of requested objects that don't exist. Unaccounted is the number of objects that exist
	// and that no run reported.
	Present, Duplicates, Missing, Unaccounted int
	// NotThere is the number of objects that were reported as created and don't exist.
	NotThere int
	// Exist is the number of objects that a last, superfluous run found. PostsAgain is the number of create requests
	// that it sent.
	Exist, PostsAgain int
	// LastCode is the exit code of the last run.
	LastCode int

	Requests, Faults int
	Took             time.Duration
	tally
}

// settle compares the reports with the objects that exist.
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

// present returns the names of the ConfigMaps, read directly from the server.
func (t *trial) present(ctx context.Context) ([]string, error) {
	list, err := t.server.CoreV1().ConfigMaps(t.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}
