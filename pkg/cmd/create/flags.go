package create

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// naming is who picks the names of objects with generateName.
type naming string

const (
	namingClient naming = "client"
	namingServer naming = "server"
)

// ownCreateFlags are those that kubectl create does not have.
type ownCreateFlags struct {
	naming       flagvalue.Enum[naming]
	attempts     int
	retryTimeout time.Duration
	key          string
	count        int
	concurrency  int
	suffixLength int
	qps          float32
	burst        int

	set *pflag.FlagSet // the flags themselves
}

func (f *ownCreateFlags) addTo(cmd *cobra.Command) {
	f.set = pflag.NewFlagSet("own", pflag.ContinueOnError)
	flags := f.set
	f.naming = flagvalue.NewEnum(namingClient, namingClient, namingServer)
	flags.Var(&f.naming, "naming", f.naming.Usage("Who picks the names of objects with generateName", map[naming]string{
		namingClient: "exactly once",
		namingServer: "as kubectl create, with a retry on a conflict: not once where answers are lost",
	}))
	flags.IntVar(&f.attempts, "attempts", once.DefaultAttempts, "Number of names to try per object before it fails")
	flags.DurationVar(&f.retryTimeout, "retry-timeout", once.DefaultRetryTimeout,
		"How long to pursue one object through throttling, dropped connections and unknown outcomes; "+
			"a request under way has its own time, --request-timeout or one minute")
	flags.StringVar(&f.key, "idempotency-key", "", "Make the run repeatable: with the same key and input, "+
		"what exists already is left as it is. A key counts in the types and namespaces of the input")
	flags.IntVar(&f.count, "count", 1, "Number of copies to create of every object with generateName")
	flags.IntVar(&f.concurrency, "concurrency", 8, "Copies of one document in flight at once. "+
		"If given, objects with generated names overlap too, up to the next one that has a name")
	flags.IntVar(&f.suffixLength, "suffix-length", names.SuffixLength,
		fmt.Sprintf("Number of random characters of a name (%d to %d)", names.SuffixLength, names.MaxSuffixLength))
	flags.Float32Var(&f.qps, "qps", 0,
		"Limit of requests per second; 0 for none: the server's flow control is always respected")
	flags.IntVar(&f.burst, "burst", 0, "Requests that may exceed --qps at once (default the limit itself)")
	_ = flags.SetAnnotation("idempotency-key", "classified", []string{"true"}) // --record redacts it
	cmd.Flags().AddFlagSet(flags)
}

// kubectlsWords reports whether the output shall be that of kubectl create to
// the byte.
func (f *ownCreateFlags) kubectlsWords() bool {
	return f.naming.Value == namingServer && f.attempts == 1
}

// validate returns what is wrong with the flags.
func (f *ownCreateFlags) validate() error {
	switch {
	case f.attempts < 1:
		return fmt.Errorf("--attempts must be at least 1, not %d", f.attempts)
	case f.retryTimeout < 0:
		return fmt.Errorf("--retry-timeout must not be negative, as %s is", f.retryTimeout)
	case f.set.Changed("idempotency-key") && strings.TrimSpace(f.key) == "":
		return fmt.Errorf("--idempotency-key must not be empty")
	case f.key != "" && f.naming.Value == namingServer:
		return fmt.Errorf("--idempotency-key needs names that are picked here: it cannot be used with --naming=server")
	case f.count < 1:
		return fmt.Errorf("--count must be at least 1, not %d", f.count)
	case f.concurrency < 1:
		return fmt.Errorf("--concurrency must be at least 1, not %d", f.concurrency)
	case f.suffixLength < names.SuffixLength || f.suffixLength > names.MaxSuffixLength:
		return fmt.Errorf("--suffix-length must be from %d to %d, not %d",
			names.SuffixLength, names.MaxSuffixLength, f.suffixLength)
	case f.suffixLength != names.SuffixLength && f.naming.Value == namingServer:
		return fmt.Errorf("--suffix-length cannot be used with --naming=server, which picks %d characters",
			names.SuffixLength)
	case !(f.qps >= 0): // NaN too
		return fmt.Errorf("--qps must not be negative, as %g is", f.qps)
	case f.burst < 0, f.burst > 0 && f.qps == 0:
		return fmt.Errorf("--burst must not be negative, and needs --qps")
	}
	return nil
}

// validateKubectlsOwn returns what is wrong with the flags beside --edit and --raw,
// which kubectl's own code carries out: what it would ignore is refused. It takes
// names from the server and tries one, so that may be said.
func (o *options) validateKubectlsOwn() error {
	flag := "--raw"
	if o.EditBeforeCreate {
		flag = "--edit"
	}
	heeded := []string{"qps", "burst"}
	if o.flags.kubectlsWords() {
		heeded = append(heeded, "naming", "attempts")
	}
	var ignored error
	o.flags.set.VisitAll(func(own *pflag.Flag) {
		if own.Changed && !slices.Contains(heeded, own.Name) {
			ignored = fmt.Errorf("--%s cannot be used with %s, which does just what kubectl create does",
				own.Name, flag)
		}
	})
	if ignored != nil {
		return ignored
	}
	if o.EditBeforeCreate && o.DryRunStrategy != cmdutil.DryRunNone {
		return fmt.Errorf("--dry-run cannot be used with --edit: kubectl create would really create the object")
	}
	return o.CreateOptions.Validate()
}
