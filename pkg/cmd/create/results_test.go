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
	"weak"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	kubectlcreate "k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// configMap returns a ConfigMap with the name, as the server stores it.
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
		Object: object, Namespace: "prod", Source: "demo.yaml",
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
	return create.Outcome{Document: d, Result: exactlyonce.Result{Outcome: protocol.Created, Name: name, Object: configMap(name)}}
}

func failed(d *create.Document, err error) create.Event {
	return create.Outcome{Result: exactlyonce.Result{Outcome: protocol.Failed}, Document: d, Err: err}
}

// at assigns an outcome to the n-th document of the input.
func at(n int, e create.Event) create.Event {
	o := e.(create.Outcome)
	o.Number = n
	return o
}

func exists(d *create.Document, name string) create.Event {
	return create.Outcome{Document: d, Result: exactlyonce.Result{Outcome: protocol.Found, Name: name, Object: configMap(name)}}
}

func unknown(d *create.Document, name string) create.Event {
	return create.Outcome{Document: d, Result: exactlyonce.Result{Outcome: protocol.Unknown, Name: name}, Err: reset}
}

// run is the output and exit code of a run.
type run struct {
	stdout, stderr string
	code           int
}

// fate has the conditions of a run, such as an interrupt.
type fate struct {
	stdout    io.Writer                  // nil for a stdout without errors
	dryRun    cmdutil.DryRunStrategy     // of the run
	printer   func(runtime.Object) error // nil for kubectl's
	interrupt bool                       // before the end
}

func optionsWith(streams genericiooptions.IOStreams) *options {
	return &options{CreateOptions: kubectlcreate.NewCreateOptions(streams), stderr: terminal.NewStderr(streams.ErrOut)}
}

// see passes the events of a run with these flags to results, as Run does. see returns the result of Execute.
func see(t *testing.T, args string, f fate, events []create.Event) run {
	t.Helper()
	var stdout, stderr strings.Builder
	out := &output.CheckedWriter{Writer: &stdout}
	if f.stdout != nil {
		out.Writer = f.stdout
	}
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: &stderr}
	o := optionsWith(streams)
	o.namespace = "prod"
	cmd := &cobra.Command{Use: "create"}
	o.addKubectlFlags(cmd)
	o.flags.addTo(cmd)
	if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	o.DryRunStrategy = f.dryRun
	cmdutil.PrintFlagsWithDryRunStrategy(o.PrintFlags, f.dryRun)
	kubectls, err := o.PrintFlags.ToPrinter()
	if err != nil && *o.PrintFlags.OutputFormat != formatLines {
		t.Fatal(err)
	}
	o.PrintObj = func(object runtime.Object) error { return kubectls.PrintObj(object, out) }
	if f.printer != nil {
		o.PrintObj = f.printer
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	tally := &create.Tally{}
	var follower *follow.Follower
	if o.flags.wait {
		if follower, err = follow.New(nil, &rest.Config{}, follow.Config{}); err != nil {
			t.Fatal(err)
		}
	}
	results := o.newResults(stop, follower, func() create.Totals { return tally.Totals })
	var end create.Summary
	for _, event := range events {
		switch e := event.(type) {
		case create.Outcome:
			tally.Add(o.config(follower), e)
		case summary:
			end = e.Summary
			end.Tally = *tally
			continue
		}
		results.take(event)
	}
	if f.interrupt {
		stop(nil)
	}
	results.waits()
	message, code := exitcode.Describe(o.ending(ctx, end, results.facts, follower.State()).print(o.stderr))
	return run{stdout.String(), stderr.String() + strings.TrimSuffix(message, "\n"), code}
}

// If an object differs with --fail-on-difference, the run doesn't wait. It prints what it has created.
func TestNoWaitAfterADifference(t *testing.T) {
	d := demo()
	d.Mapping.GroupVersionKind = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	differs := exists(d, "demo-1").(create.Outcome)
	differs.Changes = []string{"spec.a"}
	for format, want := range map[string]string{
		"{.metadata.name}": "demo-2demo-3", // the format of whole objects
		"":                 "configmap/demo-2 created\nconfigmap/demo-3 exists\n",
	} {
		args := "--wait --idempotency-key=k --fail-on-difference"
		if format != "" {
			args += " -o=jsonpath=" + format
		}
		got := see(t, args, fate{}, []create.Event{differs, created(d, "demo-2"), exists(d, "demo-3"), readTo(3)})
		if got.stdout != want || !strings.Contains(got.stderr, "demo-1 -n prod exists, and differs from the input in spec.a") || got.code != exitcode.Failed {
			t.Errorf("%q: %+v, want %q, a warning of spec.a, and code %d", format, got, want, exitcode.Failed)
		}
	}
}

// readTo is the end of a run that has read so many documents.
func readTo(documents int) create.Event { return ended(create.Summary{Documents: documents}) }

// summary is the end of a run among its events.
type summary struct {
	create.Event
	create.Summary
}

func ended(s create.Summary) create.Event { return summary{nil, s} }

// nothing is the hint of a run that created nothing.
const nothing = "Fix the cause. Then run the same command again. Nothing was created."

// lines joins texts.
func lines(texts ...string) string { return strings.Join(texts, "\n") }

// sum is the line with the counts: created, exist, failed, unknown, not attempted.
func sum(why string, counts ...any) string {
	return terminal.Errorf("%s: %s", why, fmt.Sprintf("%d created, %d exist, %d failed, %d unknown, %d not attempted", counts...))
}

// twice is the warning about running the same command again, and the hint to use a key.
func twice(n int) string {
	return lines("Don't run the command unchanged. It would create up to "+humanize.Count(n, "object")+" a second time.", textUseKey)
}

// lost is the line of an object whose outcome is unknown.
func lost(name, why string) string {
	return terminal.Errorf(textOutcomeUnknown, "configmap/"+name+" -n prod", why)
}

// These ends of runs depend on the moment of an event, so the session tests can't cover them.
func TestResults(t *testing.T) {
	d := demo()
	unprinted := []create.Event{created(demo(), "demo-1"), created(demo(), "demo-2"), readTo(1)}
	for _, test := range []struct {
		name, args string
		fate       fate
		events     []create.Event
		want       run
	}{
		{
			"errors come in the order of the input", "",
			fate{},
			[]create.Event{
				create.Problem{Err: errors.New("third"), After: 2}, at(2, failed(d, errors.New("second"))), at(1, failed(d, errors.New("first"))), readTo(2),
			},
			run{"", lines("error when creating \"demo.yaml\": first", "error when creating \"demo.yaml\": second", "third",
				sum("not all objects were created", 0, 0, 2, 0, 0)+". A part of the input could not be used.", nothing), 1},
		},
		{
			"unread", "",
			fate{interrupt: true},
			[]create.Event{created(d, "demo-1"), ended(create.Summary{Documents: 1, Unread: true})},
			run{"configmap/demo-1 created\n", lines(sum(textInterrupted, 1, 0, 0, 0, 0)+". The rest of the input was not read.",
				"Create the rest with the same command and only this input:\n  the input that was not read", twice(1)), 130},
		},
		{
			"incomplete and unread", "--idempotency-key=k",
			fate{interrupt: true},
			[]create.Event{ended(create.Summary{Documents: 1, Incomplete: true, Unread: true})},
			run{"", lines("error: "+create.ErrUnread.Error(), "error: nothing was created, because a run with a key needs its whole input"), 130},
		},
		{
			"looking for what there is", "--idempotency-key=k",
			fate{},
			[]create.Event{
				create.Searching{Places: 9},
				create.Searching{Places: 9, Done: 3},
				create.Searching{Places: 9, Done: 3, Late: true},
				created(d, "demo-1"), readTo(1),
			},
			run{"configmap/demo-1 created\n", "searching for objects of this key: 3 of 9 lists read\n", 0},
		},
		{
			"a warning comes once, and cannot harm a terminal", "",
			fate{},
			[]create.Event{
				create.Warning{Text: "configmap/\x1b[31m is being deleted."},
				create.Warning{Text: "configmap/demo is being deleted."},
				create.Warning{Text: "configmap/\x1b[31m is being deleted."},
				created(d, "demo-1"), readTo(1),
			},
			run{"configmap/demo-1 created\n", lines(
				`Warning: configmap/\u001b[31m is being deleted.`, "Warning: configmap/demo is being deleted.", ""), 0},
		},
		{
			"kubectl gives no advice", "--naming=server --attempts=1",
			fate{interrupt: true},
			[]create.Event{created(d, "demo-1"), create.Outcome{Result: exactlyonce.Result{Outcome: create.NotAttempted}, Document: d, Copies: 1}, readTo(2)},
			run{
				"configmap/demo-1 created\n",
				sum(textInterrupted, 1, 0, 0, 0, 1), 130,
			},
		},
		{
			"each copy that can't be printed is named", "--count=2",
			fate{stdout: gone{}},
			unprinted,
			run{"", lines(terminal.Errorf(textNotPrinted, "configmap/demo-1", "broken pipe"),
				terminal.Errorf(textNotPrinted, "configmap/demo-2", "broken pipe")), 1},
		},
		{
			"copies that can't be printed, without advice", "--count=2 --naming=server --attempts=1",
			fate{stdout: gone{}},
			unprinted,
			run{"", lines("error: broken pipe", sum("not all results could be printed", 2, 0, 0, 0, 0)), 1},
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

// gone is a stdout whose reader has ended.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// An error names enough unexpected objects to recognize them.
func TestUnexpectedObjectsAreCounted(t *testing.T) {
	var objects []string
	for n := range maxShown + 5 {
		objects = append(objects, fmt.Sprintf("configmaps/demo-%02d", n))
	}
	text := explain(&create.UnexpectedError{Objects: objects}).Error()
	if !strings.Contains(text, " lacks 15 objects ") || !strings.Contains(text, "configmaps/demo-04 and 10 more\n") {
		t.Error(text)
	}
	if err := errors.New("another"); !errors.Is(explain(err), err) {
		t.Error(explain(err))
	}
	restored := explain(&idempotency.StaleListError{Object: "jobs/a -n b"}).Error()
	if !strings.Contains(restored, "the server lists jobs/a -n b, and can't find it") || !strings.Contains(restored, "\nTell the administrator of the cluster.") {
		t.Error(restored)
	}
}

// A run that fails keeps its error lines, but not the documents. An input of creates that would be
// repeated may have a million documents.
func TestResultsKeepNoDocuments(t *testing.T) {
	r := &results{flags: &ownCreateFlags{}, printer: &printer{}, stderr: terminal.NewStderr(io.Discard), printed: map[reason]bool{}}
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
