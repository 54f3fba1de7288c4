// Package scan owns the parts that all commands share if they read objects of a cluster: the flags of the scope, the
// session with the server, and the way in which a report is shown. The package knows no command, and counts nothing.
//
// A command has five parts:
//
//	o.Flags.Bind(flags, …)                   // 1. flags; Complete and Validate check them
//	s, err := o.Flags.Open(ctx, o.conn, …)   // 2. a session
//	report := engine(ctx, s.Scanner())       // 3. an engine makes the report
//	view := viewOf(report)                   // 4. a view, which is made from the report only
//	return s.Show(report, view)              // 5. the output, and the error that has the exit code
package scan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// Flags are the flags of the scope, and of the wait for the server.
type Flags struct {
	AllNamespaces bool
	Namespace     string // set by Complete; empty with AllNamespaces
	Selector      string
	Labels        labels.Selector // parsed Selector, set by Complete
	RetryTimeout  flagvalue.Duration

	bothScopes bool
	reaching   string // the flags of suggested commands, set by Complete
}

// Bind adds -A, -l and --retry-timeout. kubectl's own flags include -n. Arguments: the usage of -A, the usage of
// -l.
func (f *Flags) Bind(flags *pflag.FlagSet, allNamespaces, selector string) {
	f.BindNamespaces(flags, allNamespaces)
	flags.StringVarP(&f.Selector, "selector", "l", "", selector)
	flags.Var(&f.RetryTimeout, "retry-timeout",
		"How long to retry a request. Requests are retried while the server throttles, fails or is unreachable")
}

// BindNamespaces adds -A with its usage. Requests are retried for the default time.
func (f *Flags) BindNamespaces(flags *pflag.FlagSet, usage string) {
	f.RetryTimeout = flagvalue.Duration(census.DefaultRetryTimeout)
	flags.BoolVarP(&f.AllNamespaces, "all-namespaces", "A", false, usage)
}

// Complete sets the namespace from the command line and the kubeconfig.
func (f *Flags) Complete(cmd *cobra.Command, factory cmdutil.Factory) (err error) {
	f.bothScopes = f.AllNamespaces && cmd.Flags().Changed("namespace")
	f.reaching = connection.Reaching(cmd)
	if f.Labels, err = labels.Parse(f.Selector); err != nil {
		return fmt.Errorf("--selector: %w", err)
	}
	if !f.AllNamespaces {
		f.Namespace, _, err = factory.ToRawKubeConfigLoader().Namespace()
	}
	return err
}

// Validate returns an error if a flag is invalid.
func (f *Flags) Validate() error {
	switch {
	case f.bothScopes:
		return errors.New("--namespace and --all-namespaces can't be used together")
	case f.RetryTimeout <= 0:
		return fmt.Errorf("--retry-timeout must be positive, not %s", f.RetryTimeout.String())
	}
	return nil
}

// Session is the use of one cluster by one command.
type Session struct {
	Cluster    *cluster.Cluster // nil for Offline
	Stderr     *terminal.Stderr
	IOStreams  genericiooptions.IOStreams
	Prints     *output.Flags
	ServerWait cluster.ServerWait
}

// Open reaches the cluster, and waits for it. attempts is nil if nothing depends on the attempts of the
// server. The caller calls End.
func (f *Flags) Open(
	ctx context.Context, factory cmdutil.Factory, streams genericiooptions.IOStreams, prints *output.Flags,
	attempts *flagvalue.Attempts,
) (*Session, error) {
	s := Offline(streams, prints)
	s.Stderr.Reaching = f.reaching
	s.Stderr.SetText("discovering resource types")
	s.ServerWait = cluster.ServerWait{For: time.Duration(f.RetryTimeout), Print: s.Stderr.Line}
	var err error
	if s.Cluster, err = cluster.New(ctx, factory, attempts, s.ServerWait); err != nil {
		s.Stderr.End()
		return nil, err
	}
	return s, nil
}

// Offline returns a session that reaches no cluster. The caller calls End.
func Offline(streams genericiooptions.IOStreams, prints *output.Flags) *Session {
	stderr := terminal.NewStderr(streams.ErrOut)
	stderr.LogProgress()
	return &Session{IOStreams: streams, Stderr: stderr, Prints: prints}
}

// Resources returns the types of cluster.Resources. The error about an unknown type suggests a similar type.
func (s *Session) Resources(
	ctx context.Context, named []string, namespace string,
) ([]census.Resource, []census.Skipped, error) {
	found, skipped, err := s.Cluster.Resources(ctx, named, namespace)
	return found, skipped, s.Cluster.Suggest(ctx, err)
}

// Scanner returns a scanner that shows its progress, and warns while the server is unreachable.
func (s *Session) Scanner() *census.Scanner {
	return &census.Scanner{
		Config: s.Cluster.Config, Version: s.Cluster.EmulatedVersion(), RetryTimeout: s.ServerWait.For,
		Unreachable: s.ServerWait.Report, Progress: cluster.ShowScan(s.Stderr),
	}
}

// ClockSkew returns the time by which the server's clock is ahead of this computer's clock. ClockSkew prints a warning
// if the difference matters.
func (s *Session) ClockSkew(ctx context.Context) time.Duration {
	skew := s.Cluster.ClockSkew(ctx)
	if skew != 0 {
		s.Stderr.Line(cluster.ClockWarning(skew))
	}
	return skew
}
