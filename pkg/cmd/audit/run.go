package audit

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
)

// run is one audit of a cluster.
type run struct {
	settings
	session *scan.Session
	layout  layout

	types     []census.Resource
	skipped   []census.Skipped // by discovery
	uid       string           // UID of the cluster
	clockSkew time.Duration    // time by which the server's clock is ahead of this computer's clock
	// namespaceUnverified is true if the namespace of a gate is not known to exist.
	namespaceUnverified bool
}

// Run counts once, or watches, and evaluates the gates.
func (o *options) Run(ctx context.Context) (err error) {
	r := &run{settings: o.settings, layout: o.layout()}
	if r.config.Old, err = readOld(r.compare); err != nil {
		return err
	}
	if r.session, err = o.scope.Open(ctx, o.factory, o.IOStreams, o.printFlags, &o.serverAttempts); err != nil {
		return err
	}
	defer r.session.Stderr.End()
	if err := r.resolve(ctx); err != nil {
		return err
	}
	if err := r.checkNamespace(ctx); err != nil {
		return err
	}
	r.uid, r.clockSkew = r.session.Cluster.UID(ctx), r.session.ClockSkew(ctx)
	r.config.Began = time.Now().Add(r.clockSkew) // the time windows end now, even after a wait for the server
	if err := r.config.Comparable(); err != nil {
		return fmt.Errorf("--compare: can't compare with %s: %w", r.compare, err)
	}
	if r.watch {
		return newWatchRun(r).start(ctx)
	}
	return r.once(ctx)
}

// once counts, prints, and evaluates the gates.
func (r *run) once(ctx context.Context) error {
	defer debug.SetGCPercent(debug.SetGCPercent(pools.GarbagePercent))
	scanner := r.scanner()
	scanner.Progress(census.Progress{Types: len(r.types)})
	counts, summary, err := scanner.Count(ctx, r.types, r.config.Namespace)
	if err != nil {
		return err
	}
	r.session.Stderr.SetText("calculating the report")
	counted := &audit.Counted{
		Server: r.server(), Ended: time.Now().Add(r.clockSkew), Types: r.types, Skipped: r.skipped, Summary: summary,
		Folds: counts.Folds(), Jobs: counts.Jobs(),
	}
	if !r.config.TypesNamed {
		counted.ByNumber = scanner.Numbers(ctx, census.Unmentioned, r.config.Namespace)
	}
	rows := func(each func(pools.Row)) {
		for pool := range counts.All() {
			each(pools.Row{Pool: *pool})
		}
	}
	result, err := audit.Build(rows, counted, r.config, audit.NewOdds(r.session.Cluster.RetriesOf))
	if err != nil {
		return err
	}
	r.session.Lines(r.noNamespace(ctx, result.Report))
	return r.session.Show(result.Report, r.view(ctx, result))
}

// noNamespace returns a warning if nothing was found in a namespace because it doesn't exist.
func (r *run) noNamespace(ctx context.Context, report *v1alpha1.AuditReport) []string {
	namespace := r.onlyNamespace()
	if namespace == "" || report.Summary.Prefixes > 0 || nothingRead(report) {
		return nil
	}
	return r.session.Cluster.NamespaceWarning(ctx, namespace)
}

// scanner returns the scanner of an audit.
func (r *run) scanner() *census.Scanner {
	scanner := r.session.Scanner()
	scanner.ChunkSize, scanner.Concurrency, scanner.Polite = r.lists.ChunkSize, r.lists.Concurrency, r.lists.Polite
	scanner.Selector, scanner.Prefixes, scanner.MinCount = r.lists.Selector, r.config.Prefixes, r.config.CountsFrom()
	scanner.MinStem = r.config.StemsFrom()
	scanner.Resting = reportRest(r.session.Stderr.Line)
	for _, window := range audit.Recent {
		scanner.Since = append(scanner.Since, r.config.Began.Add(-window))
	}
	return scanner
}

// server returns the part of a report about the server.
func (r *run) server() v1alpha1.AuditServer {
	return v1alpha1.AuditServer{
		GitVersion: r.session.Cluster.GitVersion(), ClusterUID: r.uid, Retries: r.session.Cluster.Retries(),
	}
}

// onlyNamespace returns the namespace if only one is counted.
func (r *run) onlyNamespace() string {
	if namespaced := func(t census.Resource) bool { return t.Namespaced }; !slices.ContainsFunc(r.types, namespaced) {
		return ""
	}
	return r.config.Namespace
}

// resolve finds the types to count, and for TYPE/PREFIX the prefixes that are counted of
// each.
func (r *run) resolve(ctx context.Context) (err error) {
	config, args := &r.config, r.arguments
	if !slices.ContainsFunc(args, isPrefix) {
		r.types, r.skipped, err = r.session.Resources(ctx, args, config.Namespace)
		return explainPrefix(args, err)
	}
	config.PrefixesOf = map[schema.GroupResource][]string{}
	for _, argument := range args {
		word, prefix, _ := strings.Cut(argument, "/")
		found, skipped, err := r.session.Resources(ctx, []string{word}, config.Namespace)
		if err != nil {
			return err
		}
		r.skipped = append(r.skipped, skipped...)
		for _, t := range found {
			if !census.Contains(r.types, t) {
				r.types = append(r.types, t)
			}
			config.PrefixesOf[t.GroupResource()] = withPrefix(config.PrefixesOf[t.GroupResource()], prefix)
			config.Prefixes = withPrefix(config.Prefixes, prefix)
		}
	}
	return nil
}

// explainPrefix adds the syntax of prefixes to the error about an unknown type, if an argument looks like a
// prefix. The name of a type never ends with a dash or a dot.
func explainPrefix(args []string, err error) error {
	looksLike := func(arg string) bool { return strings.HasSuffix(arg, "-") || strings.HasSuffix(arg, ".") }
	at := slices.IndexFunc(args, looksLike)
	if err == nil || at < 0 {
		return err
	}
	prefix := reference.Quote(args[at])
	return fmt.Errorf("%w. To audit a prefix, name its type:\n"+
		"  kubectl genname audit TYPE/%s\nor search all types:\n  kubectl genname audit --prefix %s",
		err, prefix, prefix)
}
