// Package duplicates is the command duplicates. The package has the flags, the table, and the exit code.
// internal/duplicates finds the groups.
package duplicates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/complete"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

const (
	defaultWithin = flagvalue.Duration(2 * time.Minute)
	defaultSince  = flagvalue.Duration(7 * 24 * time.Hour)
	// nameFormat is the format that prints the objects that are proposed.
	nameFormat = "name"
)

// options are the values of the flags.
type options struct {
	genericiooptions.IOStreams
	factory    cmdutil.Factory
	printFlags *output.Flags
	wide       bool
	names      bool

	scan.Flags
	arguments []string
	within    flagvalue.Duration
	since     flagvalue.Duration
	failAbove int64
	gate      bool // whether --fail-above-count was given
}

var longHelp = templates.LongDesc(`
	Find groups of objects that were probably meant to be one object. Lost responses, stale
	caches and restarted controllers cause such groups. The command changes nothing.

	The objects of a group have the same type, namespace, prefix, owner and content. The prefix
	is the first 58 bytes of generateName. The content is all fields that are owned by the field
	manager that created the object. Two consecutive objects of a group were created at most
	--within apart, unless they have the same creation ID. kubectl genname create writes the
	creation ID into an annotation. The command compares Secrets only if you name the type.

	Each group has a grade.

	* A confirmed group has objects with the same creation ID and the same content.
	* A likely group has two objects. Either other objects refer to only one of the two, or the
	  two have no owner and the same field manager created both.
	* A possible group is neither confirmed nor likely. The table has these groups only with -o
	  wide.

	Users can create equal objects on purpose. So check a group before you delete an object. -o
	name prints the younger object of a confirmed or likely pair if all of this is true:

	* The spec of the owner has the name of the older object. The spec of a Pod isn't enough,
	  because any user can create such a Pod.
	* The younger object owns nothing. Neither the owner nor the spec of a Pod has the name of the
	  younger object.
	* The command could read the owner and all objects that might refer to the pair.
	* The younger object is at least two minutes old, and at least two seconds younger than the
	  older object.`)

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{
		IOStreams: streams, factory: conn.Factory, printFlags: output.NewFlags(output.Wide, nameFormat),
		within: defaultWithin, since: defaultSince,
	}
	cmd := &cobra.Command{
		Use:                   "duplicates [TYPE[,TYPE...] ...] [-n NAMESPACE | -A] [-l SELECTOR]",
		DisableFlagsInUseLine: true,
		Short:                 "Find objects that exist twice because a response was lost",
		Long:                  longHelp,
		Example: templates.Examples(`
			# Find duplicates in the current namespace
			kubectl genname duplicates

			# Find duplicate Jobs in all namespaces, and also show possible groups
			kubectl genname duplicates jobs -A -o wide

			# Print the Jobs that are probably superfluous
			kubectl genname duplicates jobs -n batch -o name

			# Fail a CI job if there is a confirmed or likely group
			kubectl genname duplicates -A --fail-above-count 0`),
		RunE:              runner.RunE(o),
		ValidArgsFunction: complete.Types(conn),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.Bind(flags, "Search all namespaces, and cluster-scoped types", "Compare only objects that match this label query")
	flags.Var(&o.within, "within",
		"Longest time between the creates of two consecutive objects of a group. This limit doesn't apply to "+
			"objects with the same creation ID")
	flags.Var(&o.since, "since", "Compare only objects younger than this age by the server's clock, like 24h or 7d")
	flags.Int64Var(&o.failAbove, "fail-above-count", 0,
		"Exit with code 3 if more than this number of groups are confirmed or likely")
	o.printFlags.AddTableFlags(cmd)
}

// Complete sets the scope and the output format from the command line and the kubeconfig.
func (o *options) Complete(cmd *cobra.Command, args []string) error {
	o.arguments, o.gate = args, cmd.Flags().Changed("fail-above-count")
	err := o.printFlags.Check()
	if err != nil {
		return err
	}
	o.wide, o.names = o.printFlags.Take(output.Wide), o.printFlags.Take(nameFormat)
	return o.Flags.Complete(cmd, o.factory)
}

// Validate returns an error if the flags are invalid.
func (o *options) Validate() error {
	at := slices.IndexFunc(o.arguments, func(argument string) bool { return strings.Contains(argument, "/") })
	switch {
	case at >= 0:
		resource, _, _ := strings.Cut(o.arguments[at], "/")
		return fmt.Errorf("%q names a prefix. The command takes only resource types:\n%s", o.arguments[at],
			terminal.Hint("kubectl", "genname", "duplicates", resource))
	case o.within <= 0:
		return fmt.Errorf("--within must be positive, not %s", o.within.String())
	case o.since <= 0:
		return fmt.Errorf("--since must be positive, not %s", o.since.String())
	case o.failAbove < 0:
		return fmt.Errorf("--fail-above-count must be 0 or more, not %d", o.failAbove)
	case o.names && o.AllNamespaces:
		return errors.New("-o name prints no namespaces, so it can't be used with --all-namespaces")
	}
	return o.Flags.Validate()
}

// Run finds the groups, prints them, and evaluates the gate.
func (o *options) Run(ctx context.Context) error {
	s, err := o.Open(ctx, o.factory, o.IOStreams, o.printFlags, nil)
	if err != nil {
		return err
	}
	defer s.Stderr.End()
	report, coverage, unlisted, err := o.search(ctx, s)
	if err != nil {
		return err
	}
	view := o.view(ctx, report, coverage)
	if len(unlisted) > 0 {
		view.Warnings = append(view.Warnings, terminal.Warningf(
			"no object is proposed, because it might own objects that you can't list: %s", humanize.Few(unlisted)))
	}
	return s.Show(report, view)
}

func (o *options) search(
	ctx context.Context, s *scan.Session,
) (report *v1alpha1.DuplicateReport, coverage census.Coverage, unlisted []string, err error) {
	resources, skipped, err := s.Resources(ctx, o.arguments, o.Namespace)
	if err != nil {
		return nil, coverage, nil, err
	}
	if len(o.arguments) == 0 {
		resources = slices.DeleteFunc(resources, func(r census.Resource) bool { return r.GroupResource() == secrets })
	}
	skew := s.ClockSkew(ctx)
	began := time.Now().Add(skew)
	finder, err := o.finder(s, resources, began)
	if err != nil {
		return nil, coverage, nil, err
	}
	result, err := finder.Find(ctx)
	if err != nil {
		return nil, coverage, nil, err
	}
	// A namespace that doesn't exist has no objects, and every gate would pass.
	if o.Namespace != "" && (o.gate || result.Objects == 0) && ctx.Err() == nil {
		if _, err := s.Cluster.CheckNamespace(ctx, o.Namespace); err != nil {
			return nil, coverage, nil, err
		}
	}
	coverage = census.Coverage{
		Types: resources, Skipped: slices.Concat(skipped, result.Skipped),
		Namespace: o.Namespace, Named: len(o.arguments) > 0,
	}
	return o.report(result, coverage, began, time.Now().Add(skew)), coverage, result.Unlisted, nil
}

// secrets are compared only if the user names them, so others need no permission to read them.
var secrets = schema.GroupResource{Resource: "secrets"}

func (o *options) finder(s *scan.Session, resources []census.Resource, now time.Time) (*duplicates.Finder, error) {
	mapper, err := o.factory.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	scanner := s.Scanner()
	scanner.ShareLimits()
	return &duplicates.Finder{
		Scanner: scanner, Resources: resources, Namespace: o.Namespace, Selector: o.Labels,
		Within: time.Duration(o.within), Since: now.Add(-time.Duration(o.since)), Now: now,
		All: func(ctx context.Context, namespace string) ([]census.Resource, error) {
			all, _, err := s.Resources(ctx, nil, namespace)
			scanner.Config = s.Cluster.Config // this configuration omits warnings about deprecated types
			return all, err
		},
		ResourceOf: func(kind schema.GroupVersionKind) (census.Resource, error) {
			return census.ResourceOf(mapper, kind)
		},
		Compared: func(done int64) { s.Stderr.SetText("comparing " + humanize.Count(done, "object")) },
	}, nil
}
