// Command run runs the trial of kubectl genname prune, and prints the measurements as Markdown.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/pruning"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	s := pruning.Settings{Plugin: plugin, Log: os.Stderr}
	flag.IntVar(&s.Old, "old", 60_000, "objects to delete")
	flag.IntVar(&s.Young, "young", 40_000, "objects to leave")
	flag.Float64Var(&s.Rate, "rate", 0.1, "share of the requests into which a fault is injected")
	flag.Uint64Var(&s.Seed, "seed", 1, "seed of the faults")
	flag.IntVar(&s.Kills, "kills", 3, "times that the API server is killed")
	flag.IntVar(&s.Replaced, "replaced", 500, "objects that the second client tries to replace")
	objects := flag.Int("beside", 200, "objects that prune and kubectl delete")
	crowd := flag.Int("crowd", 10_000, "objects that prune deletes while another client measures")
	flag.Parse()
	cp, err := controlplane.Start(ctx, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { _ = cp.Stop(); _ = cp.Remove() }()
	beside, err := pruning.Compare(ctx, cp, plugin, *objects, *crowd)
	if err != nil {
		return err
	}
	printBeside(beside)
	outcome, err := pruning.Run(ctx, cp, s)
	if outcome != nil {
		printTrial(s, outcome)
	}
	return err
}

// plugin runs kubectl genname in this process.
func plugin(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = cmd.Execute(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	return code, out.String(), errOut.String()
}

func printBeside(b *pruning.Beside) {
	fmt.Printf("Measured on %s, %d CPUs, on %s.\n\n", runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format("2006-01-02"))
	fmt.Printf("| measurement | result |\n|---|--:|\n")
	fmt.Printf("| %d objects, `kubectl get`, `xargs kubectl delete` | %.1f s |\n", b.Objects, b.Kubectl.Seconds())
	fmt.Printf("| %d objects, `kubectl genname prune` | %.2f s |\n", b.Objects, b.Prune.Seconds())
	fmt.Printf("| ratio | %.0f |\n", b.Kubectl.Seconds()/b.Prune.Seconds())
	fmt.Printf("| %d objects, `kubectl genname prune`, %d deletions in flight | %.1f s |\n", b.Crowd, b.BusyConcurrency, b.CrowdTook.Seconds())
	fmt.Printf("| median latency of another client, idle server (%d requests) | %.1f ms |\n", b.IdleN, milliseconds(b.Idle))
	fmt.Printf("| median latency of another client during that prune (%d requests) | %.1f ms |\n", b.BusyN, milliseconds(b.Busy))
	fmt.Printf("| ratio | %.2f |\n\n", float64(b.Busy)/float64(b.Idle))
}

func printTrial(s pruning.Settings, o *pruning.Outcome) {
	injected := 0
	for _, n := range o.Faults {
		injected += n
	}
	fmt.Printf("| trial with seed %d | |\n|---|--:|\n", s.Seed)
	fmt.Printf("| objects, of which old ones are to be deleted | %d, %d |\n", s.Old+s.Young, s.Old)
	fmt.Printf("| requests, and faults injected into them | %d, %d |\n", o.Requests, injected)
	fmt.Printf("| kinds of faults | %d |\n", len(o.Faults))
	fmt.Printf("| kills of the API server | %d |\n", o.Kills)
	fmt.Printf("| objects that the second client deleted and created again | %d |\n", o.Replaced)
	fmt.Printf("| exit codes of the runs | %s |\n", strings.Trim(fmt.Sprint(o.Codes), "[]"))
	fmt.Printf("| deleted, by the reports | %d |\n", o.Deleted)
	fmt.Printf("| left because they were replaced, because they were gone | %d, %d |\n", o.Left[v1alpha1.PruneReplaced], o.Left[v1alpha1.PruneGone])
	fmt.Printf("| time of all runs | %.0f s |\n", o.Took.Seconds())
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
