package faults

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
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

// SectionName returns the name of the section in the document. Each number of objects has its own section.
func (s Settings) SectionName() string {
	name := "faults"
	if s.Follows > 0 {
		name = "followed"
	}
	if s.Replicated {
		name += ", replicated"
	}
	if s.Follows == 0 && s.Objects() != Full().Objects() {
		name += fmt.Sprintf(", %d objects", s.Objects())
	}
	return name
}

// servers describes the servers and their failures.
func (s Settings) servers() string {
	if !s.Replicated {
		return fmt.Sprintf("The test killed kube-apiserver %s %d times.", controlplane.ServerVersion, s.ServerKills)
	}
	var failures []string
	for _, f := range replicatedFailures {
		failures = append(failures, f.name)
	}
	return fmt.Sprintf("The control plane had two kube-apiservers %s behind a load balancer, and three members of etcd. "+
		"It had %d failures, in this order: %s.",
		controlplane.ServerVersion, s.ServerKills, strings.Join(failures, ", "))
}

func (r *Result) String() string {
	return fmt.Sprintf("%s: %d objects asked for, %d reported created, %d unknown, %d failed, %d not attempted, %d there, %d too many, %d missing, "+
		"%d there and never reported, %d reported and not there, %d found in the end after %d POSTs, last exit code %d; "+
		"%d runs, of which %d were killed, %d failures of the control plane, %d of %d requests with a fault, %s",
		r.Client.Name, r.Asked, r.Reported, r.Unknown, r.Failed, r.NotAttempted, r.Present, r.Duplicates, r.Missing,
		r.Unaccounted, r.NotThere, r.Exist, r.PostsAgain, r.LastCode,
		r.runs, r.clientKills, r.serverKills, r.Faults, r.Requests, r.Took.Round(time.Second))
}

// Section returns the results as the text of a section of lab/benchmarks.md.
func Section(s Settings, results []*Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s with seed %d over %s, with %d cores and %s. %g%% of all requests had a fault. %s "+
		"The test killed a client %d times, unless the table says *not killed*. "+
		"All clients had `--request-timeout=%s`, and the plugin had `--concurrency=%d`.\n\n",
		time.Now().UTC().Format(time.DateOnly), s.Seed, s.Protocol, runtime.NumCPU(), runtime.Version(), 100*s.Rate, s.servers(),
		s.ClientKills, s.RequestTimeout, s.Concurrency)
	b.WriteString("| | requested | reported created | reported unknown | failed, not attempted | on the server | too many | missing | on the server, never reported | runs (killed) | requests (with a fault) | time |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d, %d | %d | **%d** | **%d** | %d | %d (%d) | %d (%d) | %s |\n",
			r.Client.Title, r.Asked, r.Reported, r.Unknown, r.Failed, r.NotAttempted, r.Present, r.Duplicates, r.Missing, r.Unaccounted,
			r.runs, r.clientKills, r.Requests, r.Faults, r.Took.Round(time.Second))
	}
	return b.String()
}
