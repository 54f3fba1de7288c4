package faults

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

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
