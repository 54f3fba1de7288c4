package create

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	goruntime "runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubectlcreate "k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// configMap returns one as the server stores it, under name.
func configMap(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	object.SetName(name)
	object.SetNamespace("prod")
	return object
}

// demo returns a document with generateName demo-, as it was read from demo.yaml.
func demo() *create.Document {
	object := configMap("")
	object.SetGenerateName("demo-")
	return &create.Document{
		Object: object, Namespace: "prod", Source: "demo.yaml", Number: 1, Copies: 1,
		Mapping: &meta.RESTMapping{
			Resource:         schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
			GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"},
			Scope:            meta.RESTScopeNamespace,
		},
	}
}

var (
	configMaps = schema.GroupResource{Resource: "configmaps"}
	tooMuch    = apierrors.NewForbidden(configMaps, "", errors.New("exceeded quota"))
	reset      = &url.Error{Op: "Post", URL: "https://10.0.0.1/api/v1/namespaces/prod/configmaps", Err: errors.New("reset")}
)

func created(d *create.Document, name string) create.Event {
	return create.Created{Document: d, Result: once.Result{Outcome: once.Created, Name: name, Object: configMap(name)}}
}

func failed(d *create.Document, err error) create.Event {
	return create.Failed{Document: d, Kind: once.ErrRefused, Err: err}
}

// numbered returns the n-th document of the input, to be created so often.
func numbered(n, copies int) *create.Document {
	d := demo()
	d.Number, d.Copies = n, copies
	return d
}

func exists(d *create.Document, name string, generation int64) create.Event {
	return create.Exists{Document: d, Name: name, Object: configMap(name), Generation: generation}
}

func unknown(d *create.Document, name string) create.Event {
	return create.Unknown{Document: d, Result: once.Result{Name: name}, Err: reset}
}

// run is what a user sees of a run.
type run struct {
	stdout, stderr string
	code           int
}

// fate is what befalls a run beside its events.
type fate struct {
	stdout    io.Writer                  // nil for one that takes everything
	dryRun    cmdutil.DryRunStrategy     // of the run
	printer   func(runtime.Object) error // nil for kubectl's
	interrupt bool                       // before the end
}

// see feeds the events of a run with the flags to results, as Run does, and
// returns what Execute would make of it.
func see(t *testing.T, args string, f fate, events []create.Event) run {
	t.Helper()
	var stdout, stderr strings.Builder
	out := &output.CheckedWriter{Writer: &stdout}
	if f.stdout != nil {
		out.Writer = f.stdout
	}
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: &stderr}
	o := &options{CreateOptions: kubectlcreate.NewCreateOptions(streams)}
	cmd := &cobra.Command{Use: "create"}
	o.addKubectlFlags(cmd)
	o.flags.addTo(cmd)
	if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	o.DryRunStrategy = f.dryRun
	cmdutil.PrintFlagsWithDryRunStrategy(o.PrintFlags, f.dryRun)
	kubectls, err := o.PrintFlags.ToPrinter()
	if err != nil {
		t.Fatal(err)
	}
	o.PrintObj = func(object runtime.Object) error { return kubectls.PrintObj(object, out) }
	if f.printer != nil {
		o.PrintObj = f.printer
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	results, err := o.newResults(ctx, stop)
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range events {
		results.take(event)
	}
	if f.interrupt {
		stop(nil)
	}
	message, code := exitcode.Describe(results.finish())
	return run{stdout.String(), stderr.String() + strings.TrimSuffix(message, "\n"), code}
}

// readTo is the end of a run that has read so many documents.
func readTo(documents int) create.Event { return create.End{Documents: documents} }

const (
	withKey = "with an --idempotency-key from its start, a run can just be repeated"
	same    = "to go on, run the same command again: what exists is left as it is"
	mended  = "to go on, once the cause is mended, run the same command again: what exists is left as it is"
	nothing = "nothing was created: once the cause is mended, the same command can be run again"
	look    = "look what is there: kubectl get configmap/demo-1 -n prod; what is not there after a minute was not created\n"
)

// only is the input that has what is left of demo.yaml.
func only(n int) string {
	return fmt.Sprintf("only %d of configmap/demo- -n prod in demo.yaml as its input (the rest is there, or may be)", n)
}

// twice is the warning of what the same command would do.
func twice(n int) string {
	return fmt.Sprintf("; as it was, it would create up to %d a second time (%s)", n, withKey)
}

// aboutHolder is what to do about an unmarked object.
func aboutHolder(name string) string {
	return strings.NewReplacer("OBJECT", "configmap/"+name+" -n prod", "RUN", idempotency.Key("k").RunLabel()).Replace(
		"OBJECT is there without the mark of this run: if it is what the run should create, " +
			"mark it (kubectl annotate OBJECT genname.dev/creation-id=v1-1 && kubectl label OBJECT genname.dev/run=RUN); " +
			"else delete it (kubectl delete OBJECT), or leave it out of the input")
}

// What comes of each object is on stdout, and of the run on stderr and in the
// exit code.
func TestResults(t *testing.T) {
	d, other, tenfold := numbered(1, 1), numbered(2, 1), numbered(1, 10)
	elsewhere, own := numbered(2, 1), numbered(1, 1)
	elsewhere.Source = "other.yaml"
	own.Object.SetName("demo")
	taken := apierrors.NewAlreadyExists(configMaps, "demo")
	twofold := numbered(1, 2)
	own.Object.SetGenerateName("")
	selected := once.RunLabel + "=" + idempotency.Key("k").RunLabel()
	for _, test := range []struct {
		name, args string
		fate       fate
		events     []create.Event
		want       run
	}{
		{
			"created", "",
			fate{},
			[]create.Event{created(d, "demo-1"), created(other, "demo-2"), readTo(2)},
			run{"configmap/demo-1 created\nconfigmap/demo-2 created\n", "", 0},
		},
		{
			"created, in another format", "-o name",
			fate{},
			[]create.Event{created(d, "demo-1"), readTo(1)},
			run{"configmap/demo-1\n", "", 0},
		},
		{
			"shown by a client's dry run", "",
			fate{dryRun: cmdutil.DryRunClient},
			[]create.Event{create.Shown{Document: d, Object: configMap("demo-1")}, readTo(1)},
			run{"configmap/demo-1 created (dry run)\n", "", 0},
		},
		{"nothing passed", "", fate{}, []create.Event{readTo(0)}, run{"", "error: no objects passed to create", 1}},
		{
			"nothing passed, for what could not be read", "",
			fate{},
			[]create.Event{create.Problem{Err: errors.New("no such file")}, readTo(0)},
			run{"", "error: no such file", 1},
		},
		{
			"all exists", "--idempotency-key=k",
			fate{},
			[]create.Event{
				exists(d, "demo-1", 0),
				create.End{Documents: 1, Places: []idempotency.Place{{Resource: configMaps, Namespace: "prod"}}},
			},
			run{"configmap/demo-1 exists\n", "the objects of this run: kubectl get configmaps -n prod -l " + selected + "\n" +
				"nothing was left to create: to have it created anew, use another key, or delete it first: " +
				"kubectl delete configmap/demo-1 -n prod\n", 0},
		},
		{
			"all exist, one without the label, others changed", "--idempotency-key=k",
			fate{},
			[]create.Event{
				exists(d, "demo-1", 2), exists(other, "demo-2", 3),
				create.End{Documents: 1, Unlabelled: 1, Places: []idempotency.Place{{Resource: configMaps, Namespace: "prod"}}},
			},
			run{"configmap/demo-1 exists\nconfigmap/demo-2 exists\n", "the objects of this run: kubectl get configmaps -n prod -l " +
				selected + " (but 1, which lack its label)\n" +
				"nothing was left to create: to have them created anew, use another key, or delete them first: " +
				"kubectl delete configmaps -n prod -l " + selected + "\n" +
				"Warning: of what exists, the spec was changed since it was created (metadata.generation is above 1): " +
				"configmap/demo-1 -n prod, configmap/demo-2 -n prod\n", 0},
		},
		{
			"exists, in a dry run", "--idempotency-key=k",
			fate{dryRun: cmdutil.DryRunServer},
			[]create.Event{exists(d, "demo-1", 0), created(other, "demo-2"), create.End{
				Documents: 2, Places: []idempotency.Place{{Resource: configMaps, Namespace: "prod"}},
			}},
			run{"configmap/demo-1 exists (server dry run)\nconfigmap/demo-2 created (server dry run)\n", "", 0},
		},
		{
			"exists", "--idempotency-key=k",
			fate{},
			[]create.Event{
				exists(d, "demo-1", 0), created(other, "demo-2"), readTo(2),
			},
			run{"configmap/demo-1 exists\nconfigmap/demo-2 created\n", "", 0},
		},
		{
			"exists, but cannot be shown", "--idempotency-key=k -o yaml",
			fate{},
			[]create.Event{create.Exists{Document: d, Name: "demo-1", Err: errors.New("forbidden")}, readTo(1)},
			run{"", "error: configmap/demo-1 is there, but cannot be shown: forbidden", 1},
		},
		{
			"a run with a key names its objects", "--idempotency-key=k",
			fate{},
			[]create.Event{created(d, "demo-1"), create.End{Documents: 1, Places: []idempotency.Place{
				{Resource: schema.GroupResource{Group: "batch", Resource: "jobs"}, Namespace: "prod"},
				{Resource: configMaps, Namespace: "prod"},
			}}},
			run{"configmap/demo-1 created\n", "the objects of this run: kubectl get configmaps,jobs.batch -n prod -l " +
				once.RunLabel + "=" + idempotency.Key("k").RunLabel() + "\n", 0},
		},
		{
			"of several namespaces", "--idempotency-key=k",
			fate{},
			[]create.Event{created(d, "demo-1"), create.End{Documents: 1, Places: []idempotency.Place{
				{Resource: configMaps, Namespace: "prod"}, {Resource: configMaps, Namespace: "dev"},
			}}},
			run{"configmap/demo-1 created\n", "the objects of this run: kubectl get configmaps -n dev -l " +
				selected + "; kubectl get configmaps -n prod -l " + selected + "\n", 0},
		},
		{
			"failed", "",
			fate{},
			[]create.Event{failed(d, tooMuch), readTo(1)},
			run{"", "Error from server (Forbidden): error when creating \"demo.yaml\": configmaps is forbidden: exceeded quota", 1},
		},
		{
			"failed, and others were created", "",
			fate{},
			[]create.Event{failed(d, tooMuch), created(other, "demo-2"), readTo(2)},
			run{"configmap/demo-2 created\n", "Error from server (Forbidden): error when creating \"demo.yaml\": " +
				"configmaps is forbidden: exceeded quota\n" +
				"not all were created: 1 created, 0 exist, 1 failed, 0 unknown, 0 not attempted\n" +
				"to create what is left, once the cause is mended, run the same command with " +
				only(1) + twice(1), 1},
		},
		{
			"failed, in another file", "",
			fate{},
			[]create.Event{created(d, "demo-1"), failed(elsewhere, tooMuch), readTo(2)},
			run{"configmap/demo-1 created\n", "Error from server (Forbidden): error when creating \"other.yaml\": " +
				"configmaps is forbidden: exceeded quota\n" +
				"not all were created: 1 created, 0 exist, 1 failed, 0 unknown, 0 not attempted\n" +
				"to create what is left, once the cause is mended, run the same command with -f other.yaml for its own -f" + twice(1), 1},
		},
		{
			"failed, and what was created has a name of its own", "",
			fate{},
			[]create.Event{created(own, "demo"), failed(other, tooMuch), readTo(2)},
			run{"configmap/demo created\n", "Error from server (Forbidden): error when creating \"demo.yaml\": " +
				"configmaps is forbidden: exceeded quota\n" +
				"not all were created: 1 created, 0 exist, 1 failed, 0 unknown, 0 not attempted\n" +
				"to go on, once the cause is mended, run the same command again: it says AlreadyExists of what is there, " +
				"and creates the rest", 1},
		},
		{
			"errors come in the order of the input", "",
			fate{},
			[]create.Event{
				create.Problem{Err: errors.New("third"), After: 2}, failed(other, errors.New("second")), failed(d, errors.New("first")), readTo(2),
			},
			run{"", "error when creating \"demo.yaml\": first\nerror when creating \"demo.yaml\": second\nthird\nnot all were created: 0 created, 0 exist, 2 failed, 0 unknown, 0 not attempted; a part of the input could not be used\n" + nothing, 1},
		},
		{
			"copies fail in the same way", "--count=3",
			fate{},
			[]create.Event{created(tenfold, "demo-1"), failed(tenfold, tooMuch), failed(tenfold, tooMuch), readTo(1)},
			run{"configmap/demo-1 created\n", "Error from server (Forbidden): error when creating \"demo.yaml\": " +
				"configmaps is forbidden: exceeded quota\n" +
				"not all were created: 1 created, 0 exist, 2 failed, 0 unknown, 0 not attempted\n" +
				"to create what is left, once the cause is mended, run the same command with --count=2" + twice(1), 1},
		},
		{
			"copies fail in the same way, under names that the server picked", "--count=2 --naming=server",
			fate{},
			[]create.Event{failed(twofold, apierrors.NewAlreadyExists(configMaps, "demo-1")), failed(twofold, apierrors.NewAlreadyExists(configMaps, "demo-2")), readTo(1)},
			run{"", "Error from server (AlreadyExists): error when creating \"demo.yaml\": configmaps \"demo-1\" already exists\n" +
				"not all were created: 0 created, 0 exist, 2 failed, 0 unknown, 0 not attempted\n" + nothing, 1},
		},
		{
			"a name that is held by another, in a run with a key", "--idempotency-key=k",
			fate{},
			[]create.Event{create.Failed{Document: own, ID: once.Derived("v1-1", "r"), Result: once.Result{Name: "demo", Object: configMap("demo")}, Kind: once.ErrTaken, Err: taken}, readTo(1)},
			run{"", "Error from server (AlreadyExists): error when creating \"demo.yaml\": configmaps \"demo\" already exists\n" +
				aboutHolder("demo"), 1},
		},
		{
			"a name that is held by one without a mark, in a run with a key", "--idempotency-key=k",
			fate{},
			[]create.Event{create.Unknown{
				Document: d, ID: once.Derived("v1-1", "r"), Result: once.Result{Name: "demo-1", Object: configMap("demo-1")}, Err: errors.New("there"),
			}, readTo(1)},
			run{"", "configmap/demo-1 -n prod: outcome unknown: there\n" +
				aboutHolder("demo-1") + "\n" + mended, 4},
		},
		{
			"stored under another name", "",
			fate{},
			[]create.Event{
				create.Failed{
					Document: d, Result: once.Result{Object: configMap("picked")}, Kind: once.ErrRenamed, Err: errors.New("renamed"),
				}, readTo(1),
			},
			run{"configmap/picked created\n", "error: error when creating \"demo.yaml\": renamed", 1},
		},
		{
			"unknown", "",
			fate{},
			[]create.Event{unknown(d, "demo-1"), readTo(1)},
			run{"", "configmap/demo-1 -n prod: outcome unknown: Post: reset\n" + look +
				"if it is not there, run the same command again (" + withKey + ")", 4},
		},
		{
			"unknown, with a name of its own", "",
			fate{},
			[]create.Event{unknown(own, "demo-1"), readTo(1)},
			run{"", "configmap/demo-1 -n prod: outcome unknown: Post: reset\n" +
				"to go on, run the same command again: it says AlreadyExists of what is there, and creates the rest", 4},
		},
		{
			"unknown, under a name that the server picks", "",
			fate{},
			[]create.Event{unknown(d, ""), readTo(1)},
			run{"", "configmap/demo- -n prod: outcome unknown: Post: reset\n" +
				strings.Replace(look, "configmap/demo-1", "configmap --sort-by=.metadata.creationTimestamp", 1) +
				"if it is not there, run the same command again (" + withKey + ")", 4},
		},
		{
			"one copy of many is unknown", "--count=10",
			fate{},
			[]create.Event{created(tenfold, "demo-2"), unknown(tenfold, "demo-1"), created(tenfold, "demo-3"), readTo(1)},
			run{"configmap/demo-2 created\nconfigmap/demo-3 created\n", "configmap/demo-1 -n prod: outcome unknown: Post: reset\n" +
				"not all were created: 2 created, 0 exist, 0 failed, 1 unknown, 0 not attempted\n" + look +
				"to create those that are not there, run the same command with --count=THEIR_NUMBER" + twice(3), 4},
		},
		{
			"unknown, in a run that can be repeated", "--idempotency-key=k",
			fate{},
			[]create.Event{unknown(d, "demo-1"), readTo(1)},
			run{"", "configmap/demo-1 -n prod: outcome unknown: Post: reset\n" + same, 4},
		},
		{
			"unknown goes before what failed", "",
			fate{},
			[]create.Event{unknown(d, "demo-1"), failed(other, errors.New("no")), readTo(2)},
			run{"", "configmap/demo-1 -n prod: outcome unknown: Post: reset\n" +
				"error: error when creating \"demo.yaml\": no\n" +
				"not all were created: 0 created, 0 exist, 1 failed, 1 unknown, 0 not attempted\n" + look +
				"to create what is left, once the cause is mended, run the same command with " + only(1) + twice(1) +
				"\nto create those that are not there, run the same command with only them as its input, of 1 of configmap/demo- -n prod in demo.yaml" + twice(1), 4},
		},
		{
			"unknown, in a dry run", "",
			fate{dryRun: cmdutil.DryRunServer},
			[]create.Event{unknown(d, "demo-1"), readTo(1)},
			run{"", "error: error when creating \"demo.yaml\": Post \"https://10.0.0.1/api/v1/namespaces/prod/configmaps\": reset", 1},
		},
		{
			"unknown, in kubectl's words", "--naming=server --attempts=1",
			fate{},
			[]create.Event{unknown(d, ""), readTo(1)},
			run{"", "error: error when creating \"demo.yaml\": Post \"https://10.0.0.1/api/v1/namespaces/prod/configmaps\": reset", 4},
		},
		{
			"not attempted after a failure", "--count=10",
			fate{},
			[]create.Event{created(tenfold, "demo-1"), failed(tenfold, errors.New("no")), create.NotAttempted{Document: tenfold, Copies: 8}, readTo(1)},
			run{"configmap/demo-1 created\n", "error: error when creating \"demo.yaml\": no\n" +
				"stopped after a failure: 1 created, 0 exist, 1 failed, 0 unknown, 8 not attempted\n" +
				"to create what is left, once the cause is mended, run the same command with --count=9" + twice(1), 1},
		},
		{
			"not attempted, for nothing answers", "--idempotency-key=k",
			fate{},
			[]create.Event{
				created(d, "demo-1"), failed(other, errors.New("no")),
				create.NotAttempted{Document: tenfold, Copies: 7},
				create.End{Documents: 8, Unreachable: true},
			},
			run{"configmap/demo-1 created\n", "error: error when creating \"demo.yaml\": no\nstopped because the server does not answer: " +
				"1 created, 0 exist, 1 failed, 0 unknown, 7 not attempted\n" + mended, 1},
		},
		{
			"not attempted, for the credentials are not accepted", "--idempotency-key=k",
			fate{},
			[]create.Event{
				failed(d, errors.New("no")), create.NotAttempted{Document: tenfold, Copies: 7}, create.End{Documents: 8, Unauthorized: true},
			},
			run{"", "error: error when creating \"demo.yaml\": no\nstopped because the server does not accept the credentials: " +
				"0 created, 0 exist, 1 failed, 0 unknown, 7 not attempted\n" + nothing, 1},
		},
		{
			"not attempted, for others ran out of time", "--idempotency-key=k",
			fate{},
			[]create.Event{
				unknown(d, "demo-1"),
				create.NotAttempted{Document: tenfold, Copies: 7},
				create.End{Documents: 8, Stalled: []idempotency.Place{{Resource: configMaps, Namespace: "prod"}}},
			},
			run{"", "configmap/demo-1 -n prod: outcome unknown: Post: reset\n" +
				"stopped because one object after the other ran out of time (configmaps in \"prod\"): " +
				"0 created, 0 exist, 0 failed, 1 unknown, 7 not attempted\n" + same, 4},
		},
		{
			"interrupted", "",
			fate{interrupt: true},
			[]create.Event{
				created(d, "demo-1"), create.NotAttempted{Document: other, Copies: 1}, create.NotAttempted{Document: numbered(3, 1), Copies: 1}, readTo(3),
			},
			run{"configmap/demo-1 created\n", "interrupted: 1 created, 0 exist, 0 failed, 0 unknown, 2 not attempted\n" +
				"to create what is left, run the same command with " + only(2) + twice(1), 130},
		},
		{
			"interrupted among copies", "--count=10",
			fate{interrupt: true},
			[]create.Event{created(tenfold, "demo-1"), create.NotAttempted{Document: tenfold, Copies: 9}, readTo(1)},
			run{"configmap/demo-1 created\n", "interrupted: 1 created, 0 exist, 0 failed, 0 unknown, 9 not attempted\n" +
				"to create what is left, run the same command with --count=9" + twice(1), 130},
		},
		{
			"interrupted before anything was created", "",
			fate{interrupt: true},
			[]create.Event{create.NotAttempted{Document: d, Copies: 1}, readTo(1)},
			run{"", "interrupted: 0 created, 0 exist, 0 failed, 0 unknown, 1 not attempted\n" +
				"nothing was created: the same command can be run again", 130},
		},
		{
			"interrupted when all was done", "",
			fate{interrupt: true},
			[]create.Event{created(d, "demo-1"), readTo(1)},
			run{"configmap/demo-1 created\n", "", 0},
		},
		{
			"unread", "",
			fate{interrupt: true},
			[]create.Event{created(d, "demo-1"), create.End{Documents: 1, Unread: true}},
			run{"configmap/demo-1 created\n", "interrupted: 1 created, 0 exist, 0 failed, 0 unknown, 0 not attempted; " +
				"the rest of the input was not read\n" +
				"to create what is left, run the same command with only what was not read as its input (the rest is there, or may be)" + twice(1), 130},
		},
		{
			"incomplete", "--idempotency-key=k",
			fate{},
			[]create.Event{create.Problem{Err: errors.New("demo.yaml: no kind")}, create.End{Documents: 1, Incomplete: true}},
			run{"", "error: demo.yaml: no kind\nnothing was created: a run with a key needs its whole input", 1},
		},
		{
			"incomplete and unread", "--idempotency-key=k",
			fate{interrupt: true},
			[]create.Event{create.End{Documents: 1, Incomplete: true, Unread: true}},
			run{"", "error: the rest of the input was not read\n" +
				"nothing was created: a run with a key needs its whole input", 130},
		},
		{
			"looking for what there is", "--idempotency-key=k",
			fate{},
			[]create.Event{
				create.Looking{Places: 9},
				create.Looking{Places: 9, Done: 3},
				create.Looking{Places: 9, Done: 3, Late: true},
				created(d, "demo-1"), readTo(1),
			},
			run{"configmap/demo-1 created\n", "looking for what this key has created: 3 of 9 lists done\n", 0},
		},
		{
			"a retry", "",
			fate{},
			[]create.Event{
				create.Retry{Document: d, Retry: once.Event{Name: "demo-1", Reason: reset, Action: once.ReadBack}},
				create.Retry{Document: d, Retry: once.Event{Name: "demo-1", Reason: tooMuch, Action: once.Resend, Wait: time.Second}},
				created(d, "demo-1"), readTo(1),
			},
			run{"configmap/demo-1 created\n", "configmap/demo-1: Post: reset; reading it back\n" +
				"configmap/demo-1: configmaps is forbidden: exceeded quota; sending it again in 1s\n", 0},
		},
		{
			"a warning comes once, and cannot harm a terminal", "",
			fate{},
			[]create.Event{
				create.Warning{Text: "mind \x1b[31m"},
				create.Warning{Text: "the gap"},
				create.Warning{Text: "mind \x1b[31m"},
				created(d, "demo-1"), readTo(1),
			},
			run{"configmap/demo-1 created\n", "Warning: mind \\u001b[31m\nWarning: the gap\n", 0},
		},
		{
			"a suffix of another length", "--suffix-length=8",
			fate{},
			[]create.Event{created(d, "demo-1"), readTo(1)},
			run{"configmap/demo-1 created\n", "Warning: names will end in 8 random characters: whatever takes a generated " +
				"name apart by its last 5 does not know them\n", 0},
		},
		{
			"strangers", "--idempotency-key=k",
			fate{},
			[]create.Event{
				create.Problem{Err: &create.StrangersError{Strangers: []string{"configmaps/demo-1 -n prod"}}},
				create.End{Documents: 1, Incomplete: true},
			},
			run{"", "error: the idempotency key was used for a different input, so nothing was changed. " +
				"Its run has created 1 object that this input does not ask for " +
				"(a document was changed or left out, or --count was lowered): configmaps/demo-1 -n prod. " +
				"Run it with the old input, or use another key, which creates everything anew\n" +
				"nothing was created: a run with a key needs its whole input", 1},
		},
		{
			"stdout is gone", "",
			fate{stdout: gone{}},
			[]create.Event{created(d, "demo-1"), create.NotAttempted{Document: other, Copies: 4}, readTo(5)},
			run{"", "error: configmap/demo-1 was created, but cannot be printed: broken pipe\n" +
				"stopped because the results cannot be written: " +
				"1 created, 0 exist, 0 failed, 0 unknown, 4 not attempted\n" + "to create what is left, run the same command with " + only(4) + twice(1), 1},
		},
		{
			"an object that cannot be printed", "",
			fate{printer: func(runtime.Object) error { return errors.New("no column") }},
			[]create.Event{created(d, "demo-1"), created(other, "demo-2"), readTo(2)},
			run{"", "configmap/demo-1 was created, but cannot be printed: no column\n" +
				"configmap/demo-2 was created, but cannot be printed: no column", 1},
		},
		{
			"in kubectl's words", "--naming=server --attempts=1",
			fate{stdout: gone{}},
			[]create.Event{created(d, "demo-1"), readTo(1)},
			run{"", "error: broken pipe", 1},
		},
		{
			"kubectl gives no advice", "--naming=server --attempts=1",
			fate{interrupt: true},
			[]create.Event{created(d, "demo-1"), create.NotAttempted{Document: other, Copies: 1}, readTo(2)},
			run{
				"configmap/demo-1 created\n",
				"interrupted: 1 created, 0 exist, 0 failed, 0 unknown, 1 not attempted", 130,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := see(t, test.args, test.fate, test.events)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(run{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// gone is a stdout whose reader went away.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// An error names so many strangers that one sees what they are.
func TestStrangersAreCounted(t *testing.T) {
	var strangers []string
	for n := range maxShown + 5 {
		strangers = append(strangers, fmt.Sprintf("configmaps/demo-%02d", n))
	}
	text := explain(&create.StrangersError{Strangers: strangers}).Error()
	if !strings.Contains(text, "has created 15 objects ") || !strings.Contains(text, "configmaps/demo-09 and 5 more. Run") {
		t.Error(text)
	}
	if err := errors.New("another"); !errors.Is(explain(err), err) {
		t.Error(explain(err))
	}
}

// With a name and a generateName the server speaks of a name that it could not
// generate; kubectl's words stay kubectl's.
func TestFailureOfBothNames(t *testing.T) {
	d := demo()
	d.Object.SetName("demo")
	taken := apierrors.NewAlreadyExists(configMaps, "demo")
	const why = " (the object has a name and a generateName: the name wins, and generateName is ignored)"
	for args, want := range map[string]string{"": why, "--naming=server --attempts=1": ""} {
		got := see(t, args, fate{}, []create.Event{failed(d, taken), readTo(1)})
		want = "Error from server (AlreadyExists): error when creating \"demo.yaml\": configmaps \"demo\" already exists" + want
		if got.stderr != want || got.code != 1 {
			t.Errorf("%q: %+v, want %s", args, got, want)
		}
	}
}

// A run that fails keeps what is said of its documents, and not the documents: an
// input that is created a second time may have a million.
func TestResultsKeepNoDocuments(t *testing.T) {
	r := &results{options: &options{}, said: map[reason]bool{}}
	kept := func() weak.Pointer[create.Document] {
		d := demo()
		r.take(failed(d, tooMuch))
		return weak.Make(d)
	}()
	goruntime.GC()
	if kept.Value() != nil {
		t.Error("the document is kept")
	}
	if len(r.errs) != 1 {
		t.Errorf("%d errors", len(r.errs))
	}
}
