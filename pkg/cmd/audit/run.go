package audit

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// linePrinter prints lines on stderr.
type linePrinter struct{ out io.Writer }

// print prints a line.
func (t linePrinter) print(text string) { fmt.Fprintln(t.out, terminal.OneLine(text)) }

// printf prints a message.
func (t linePrinter) printf(format string, args ...any) {
	fmt.Fprintln(t.out, terminal.Sprintf(format, args...))
}

// run is one audit of a cluster.
type run struct {
	config  *config
	streams genericiooptions.IOStreams
	factory cmdutil.Factory
	printer linePrinter

	cluster *cluster.Cluster
	types   []census.Resource
	skipped []census.Skipped // by discovery
	uid     string           // of the cluster
	ahead   time.Duration    // how far the server's clock is ahead of that of this computer
	// maybeNowhere is true if the namespace of a gate is not known to exist.
	maybeNowhere bool
}

// run reaches the cluster, and counts once, or watches.
func (r *run) run(ctx context.Context, attempts *flagvalue.Attempts) error {
	progress := terminal.StartProgress(r.streams.ErrOut)
	defer progress.End()
	progress.SetText("discovering resource types")
	patience := cluster.Patience{For: r.config.scan.RetryTimeout, Print: progress.Line}
	var err error
	if r.cluster, err = cluster.New(ctx, r.factory, attempts, patience); err != nil {
		return err
	}
	if err := r.resolve(ctx); err != nil {
		return err
	}
	if err := r.checkNamespace(ctx); err != nil {
		return err
	}
	r.uid, r.ahead = r.cluster.UID(ctx), r.cluster.Ahead(ctx)
	if r.ahead != 0 {
		progress.Line(cluster.ClockWarning(r.ahead))
	}
	about := &r.config.about
	about.Began = time.Now().Add(r.ahead) // the windows end now, however long the server was unreachable
	scanner := r.config.scanner(r.cluster)
	scanner.Absent, scanner.Resting = patience.Report, reportRest(progress.Line)
	switch {
	case r.config.estimate:
		return r.printEstimate(ctx, scanner, progress)
	case r.config.watch:
		return newWatched(r).start(ctx, progress)
	}
	return r.once(ctx, scanner, progress)
}

// once counts, prints, and evaluates the gates.
func (r *run) once(ctx context.Context, scanner *census.Scanner, progress *terminal.Progress) error {
	if err := r.config.about.Comparable(); err != nil {
		return fmt.Errorf("--compare: can't compare with %s: %w", r.config.compare, err)
	}
	scanner.Progress = cluster.ShowScan(progress)
	scanner.Progress(census.Progress{Types: len(r.types)})
	counts, summary, err := scanner.Count(ctx, r.types, r.config.about.Namespace)
	if err != nil {
		return err
	}
	progress.SetText("calculating the report")
	coverage := &audit.Coverage{
		Server: r.server(), Ended: time.Now().Add(r.ahead), Resources: r.types, Skipped: r.skipped, Summary: summary,
	}
	rows := func(yield func(live.Row) bool) {
		for pool := range counts.All() {
			if !yield(live.Row{Pool: pool}) {
				return
			}
		}
	}
	result, err := audit.Build(rows, coverage, r.config.about, audit.NewOdds(r.cluster.RetriesOf))
	if err != nil {
		return err
	}
	progress.End()
	if err := r.print(result); err != nil {
		return err
	}
	return r.evaluate(ctx, result)
}

// server returns the part of a report about the server.
func (r *run) server() v1alpha1.AuditServer {
	return v1alpha1.AuditServer{
		GitVersion: r.cluster.GitVersion(), ClusterUID: r.uid, Retries: r.cluster.Retries(),
	}
}

// onlyNamespace returns the namespace if nothing else is counted.
func (r *run) onlyNamespace() string {
	if namespaced := func(t census.Resource) bool { return t.Namespaced }; !slices.ContainsFunc(r.types, namespaced) {
		return ""
	}
	return r.config.about.Namespace
}

// resolve finds the types to count, and for TYPE/PREFIX the prefixes that are counted of
// each.
func (r *run) resolve(ctx context.Context) (err error) {
	about, args := &r.config.about, r.config.arguments
	if !slices.ContainsFunc(args, isPrefix) {
		r.types, r.skipped, err = r.cluster.Resources(ctx, args, about.Namespace)
		return explainPrefix(args, err)
	}
	about.PrefixesOf = map[schema.GroupResource][]string{}
	for _, argument := range args {
		word, prefix, _ := strings.Cut(argument, "/")
		found, skipped, err := r.cluster.Resources(ctx, []string{word}, about.Namespace)
		if err != nil {
			return err
		}
		r.skipped = append(r.skipped, skipped...)
		for _, t := range found {
			if !slices.Contains(r.types, t) {
				r.types = append(r.types, t)
			}
			about.PrefixesOf[t.GroupResource()] = withPrefix(about.PrefixesOf[t.GroupResource()], prefix)
			about.Prefixes = withPrefix(about.Prefixes, prefix)
		}
	}
	return nil
}

// explainPrefix adds to the error of an unknown type how prefixes are named, if an argument
// looks like one: no type ends with a dash or a dot.
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
