// Package prune is the command that deletes objects with generated names by prefix
// and age: its flags, the plan, and the closing lines. internal/prune chooses and
// deletes.
package prune

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/complete"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
)

// maxConcurrency is the largest number of deletions in flight.
const maxConcurrency = 256

// options are the values of the flags.
type options struct {
	genericiooptions.IOStreams
	conn       *connection.Connection
	printFlags *output.Flags

	scope       scan.Flags
	targets     []target // targets of the arguments
	olderThan   string
	finishedFor string
	age         age // value of --older-than
	end         age // value of --finished-for
	keep        limit
	keepFailed  limit
	maxDelete   share
	save        string
	running     bool
	owned       bool
	inUse       bool
	stem        bool
	orphaned    bool
	allowNone   bool
	yes         bool
	dryRun      bool
	names       bool // -o name
	concurrency int
	qps         float32
	repeated    []string // flags of prune
}

var longHelp = templates.LongDesc(`
	Delete objects with generated names by prefix and age. To find the prefixes with the most
	names, run audit first.

	Without --yes, prune deletes nothing. It prints how many objects it would delete, how many
	it would keep, and why. The last line is the command that deletes the objects.

	prune deletes an object only if its own generateName is PREFIX and its name was generated
	from PREFIX. With --stem, prune deletes objects whose names are PREFIX and a number, a time, a
	hash or a revision. With --orphaned, prune deletes Pods that have no controller, and whose
	labels name a Job that doesn't exist.

	prune keeps these objects:

	* objects that have a controller, unless you set --owned
	* ConfigMaps, Secrets, ServiceAccounts and PersistentVolumeClaims whose names are in a Pod
	  template, an Ingress or an unfinished object, unless you set --in-use
	* objects that have not finished, unless you set --running

	The status of objects of these kinds shows whether they have finished:

	` + strings.Join(finished.Kinds(), ", ") + `.

	Objects of other types can also run, and their status doesn't show when they have finished.
	prune deletes objects of such types only if you set both --yes and --running. ConfigMaps,
	Secrets, Roles and similar objects never run, and don't need --running.

	Each delete request has the UID and the resourceVersion of the object. So if an object
	changes after the plan, prune reads the object and decides again. Kubernetes deletes
	dependents in the background, as after kubectl delete.`)

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, conn: conn, printFlags: output.NewFlags(formatName)}
	cmd := &cobra.Command{
		Use: "prune (TYPE/PREFIX... | pods --orphaned) [-n NAMESPACE | -A] [--older-than AGE] " +
			"[--finished-for AGE] [--keep N] [--yes]",

		DisableFlagsInUseLine: true,
		Short:                 "Delete objects with generated names by prefix and age",
		Long:                  longHelp,
		Example: templates.Examples(`
			# Show how many ConfigMaps of a prefix would be deleted
			kubectl genname prune configmaps/build-cache- --older-than 24h

			# Delete the finished Jobs of a prefix, except the newest 50 in each namespace
			kubectl genname prune jobs/nightly-report- -A --keep 50 --yes

			# Show how many Pods of deleted Jobs would be deleted
			kubectl genname prune pods --orphaned --older-than 1d

			# Show how many old ReplicaSets of the Deployment web would be deleted
			kubectl genname prune replicasets/web- --stem --owned --keep 3

			# Delete nothing if the plan has more than a tenth of the objects
			kubectl genname prune jobs/run- --keep 20 --max-delete 10% --yes`),
		RunE: runner.RunE(o),
	}
	prefixes := complete.Prefixes(conn)
	cmd.ValidArgsFunction = func(
		cmd *cobra.Command, args []string, word string,
	) ([]cobra.Completion, cobra.ShellCompDirective) {
		if o.orphaned {
			return []cobra.Completion{"pods"}, cobra.ShellCompDirectiveNoFileComp
		}
		return prefixes(cmd, args, word)
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.scope.Bind(flags, "Delete objects in all namespaces", "Delete only objects that match this label query")
	flags.StringVar(&o.olderThan, "older-than", "",
		"Delete only objects older than this age by the server's clock, like 90m, 24h or 30d, "+
			"or created before this time, like 2026-11-21T08:00:00Z")
	flags.StringVar(&o.finishedFor, "finished-for", "",
		"Delete only objects that finished longer ago than this, or before this time. "+
			"prune keeps objects whose status has no end time")
	flags.Var(&o.keep, "keep", "Number of newest objects to keep for each prefix in each namespace. "+
		"This number doesn't include objects that have not finished, unless you set --running")
	flags.Var(&o.keepFailed, "keep-failed",
		"Number of newest failed objects to keep. --keep then applies only to the other objects")
	flags.Var(&o.maxDelete, "max-delete",
		"Delete nothing and exit with code 3 if the plan has more objects than this number or percentage, like 10%")
	flags.StringVar(&o.save, "save", "",
		"Write each object to a file in this directory before it is deleted, so that kubectl create -f can restore it")
	flags.BoolVar(&o.running, "running", false,
		"Also delete objects that have not finished, or whose status doesn't show whether they have finished")
	flags.BoolVar(&o.owned, "owned", false, "Also delete objects that have a controller")
	flags.BoolVar(&o.stem, "stem", false, "Delete objects whose names are PREFIX and a number, a time, a hash or a "+
		"revision, such as backup-2026-11-28. Kubernetes did not generate such names")
	flags.BoolVar(&o.orphaned, "orphaned", false, "Delete Pods that have no controller, and whose labels name a "+
		"Job that doesn't exist")
	flags.BoolVar(&o.inUse, "in-use", false, "Also delete ConfigMaps, Secrets, ServiceAccounts and "+
		"PersistentVolumeClaims that Pods and other objects use")
	flags.BoolVar(&o.allowNone, "allow-none", false, "Succeed even if a prefix has no objects")
	flags.BoolVar(&o.yes, "yes", false, "Delete the objects. Without this flag, prune prints only the plan")
	flags.BoolVar(&o.dryRun, "dry-run", false, "Print only the plan, as without --yes")
	flags.IntVar(&o.concurrency, "concurrency", 8, "Number of objects to delete at the same time")
	flags.Float32Var(&o.qps, "qps", 0,
		"Maximum number of requests about objects per second, 0 for no limit. Throttling by the server always applies")
	o.printFlags.AddTableFlags(cmd)
}

// Complete sets the scope and the output format from the command line and the kubeconfig.
func (o *options) Complete(cmd *cobra.Command, args []string) (err error) {
	if err := emptyFlag(cmd); err != nil {
		return err
	}
	o.repeated = repeated(cmd)
	if err := o.printFlags.Check(); err != nil {
		return err
	}
	o.names = o.printFlags.Take(formatName)
	if o.targets, err = parseTargets(args, o.orphaned); err != nil {
		return err
	}
	if o.age, err = parseAge("older-than", o.olderThan); err != nil {
		return err
	}
	if o.end, err = parseAge("finished-for", o.finishedFor); err != nil {
		return err
	}
	return o.scope.Complete(cmd, o.conn.Factory)
}

// Validate returns an error if the flags are invalid.
func (o *options) Validate() error {
	chooses := o.age.given() || o.end.given() || o.keep.given
	switch {
	case !chooses && o.keepFailed.given:
		return fmt.Errorf("--keep-failed %d alone deletes all successful objects. Add --keep or --finished-for",
			o.keepFailed.count)
	case !chooses:
		return errors.New("--older-than, --finished-for or --keep is required, like --older-than 24h")
	case o.running && o.end.given():
		return errors.New("--finished-for and --running can't be used together, because running objects have no end")
	case o.orphaned && o.stem:
		return errors.New("--orphaned and --stem can't be used together")
	case o.orphaned && o.owned:
		return errors.New("--orphaned and --owned can't be used together, because orphaned Pods have no controller")
	case o.yes && o.dryRun:
		return errors.New("--dry-run and --yes can't be used together")
	case o.concurrency < 1 || o.concurrency > maxConcurrency:
		return fmt.Errorf("--concurrency must be from 1 to %d, not %d", maxConcurrency, o.concurrency)
	case !(o.qps >= 0) || math.IsInf(float64(o.qps), 0): // NaN too
		return fmt.Errorf("--qps must be 0 or more, not %g", o.qps)
	}
	return o.scope.Validate()
}

func (o *options) criteria(now time.Time) prune.Criteria {
	ended := o.end.before(now)
	if o.end.isAll() { // an object without an end time stays
		ended = now.Truncate(time.Second).Add(time.Second)
	}
	return prune.Criteria{
		Before: o.age.before(now), EndedBefore: ended, Keep: o.keep.value(), KeepFailed: o.keepFailed.value(),
		Running: o.running, Owned: o.owned, InUse: o.inUse, Stem: o.stem, Orphaned: o.orphaned,
		Now: now, Selector: o.scope.Selector,
	}
}
