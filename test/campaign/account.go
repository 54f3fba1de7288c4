package campaign

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// account is what a contestant said of the objects, over all of its runs.
type account struct {
	want     want
	reported map[string]string // names, with the last word on them
	unknown  map[string]bool   // names whose outcome a run called unknown
	lastCode int

	// Of a last, superfluous run:

	unchanged  int // objects that it found unchanged
	postsAgain int // requests that it sent to create something
}

func newAccount(w want) *account {
	return &account{want: w, reported: map[string]string{}, unknown: map[string]bool{}}
}

func (a *account) add(r run) {
	a.lastCode = r.code
	for name, verb := range r.reported() {
		a.reported[name] = verb
	}
	for _, name := range r.unknown() {
		a.unknown[name] = true
	}
}

func (a *account) reportedAs(verb string) int {
	n := 0
	for _, v := range a.reported {
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
func (a *account) settledPrefixes() map[string]bool {
	settled := map[string]bool{}
	for name := range a.reported {
		settled[prefixOf(name)] = true
	}
	for name := range a.unknown {
		settled[name], settled[prefixOf(name)] = true, true
	}
	return settled
}

// Result is what became of the objects of a campaign.
//
// Every object that is there is one that was asked for or a duplicate.
type Result struct {
	Contestant Contestant
	// Asked is how many objects were asked for, Reported how many different
	// ones were reported created or unchanged, and Unknown how many were
	// reported unknown and by no run created.
	Asked, Reported, Unknown int
	// Present is how many objects the server has; Duplicates of them are more
	// than were asked for, and Missing is how many are less. Unaccounted are
	// those that are there and that no run reported.
	Present, Duplicates, Missing, Unaccounted int
	// NotThere is how many were reported created and are not there.
	NotThere int
	// Unchanged is how many a last, superfluous run reported unchanged, and
	// PostsAgain how many requests it sent to create something.
	Unchanged, PostsAgain int
	// LastCode is the exit code of the last run.
	LastCode int

	Requests, Injured int
	Took              time.Duration
	tally
}

// settle compares what was said with what is there.
func (a *account) settle(present []string) *Result {
	r := &Result{
		Asked: a.want.objects(), Reported: len(a.reported), Present: len(present),
		Unchanged: a.unchanged, PostsAgain: a.postsAgain, LastCode: a.lastCode,
	}
	found, there := map[string]int{}, map[string]bool{}
	for _, name := range present {
		there[name] = true
		found[prefixOf(name)]++
		if a.reported[name] == "" && !a.unknown[name] && !a.unknown[prefixOf(name)] {
			r.Unaccounted++
		}
	}
	for prefix, n := range a.want {
		r.Missing += max(0, n-found[prefix])
	}
	r.Duplicates = r.Present + r.Missing - r.Asked
	for name := range a.reported {
		if !there[name] {
			r.NotThere++
		}
	}
	for name := range a.unknown {
		if a.reported[name] == "" {
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
