package create

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
)

// -o jsonl prints a line for each object, also for objects that don't exist.
func TestLines(t *testing.T) {
	d := demo()
	withUID := func(e create.Event) create.Event {
		e.(create.Outcome).Object.SetUID("u")
		return e
	}
	events := []create.Event{
		withUID(created(d, "demo-1")), withUID(exists(d, "demo-2")), failed(d, tooMuch), failed(d, tooMuch),
		unknown(d, "demo-3"),
		create.Outcome{Document: d, Copies: 2, Result: exactlyonce.Result{Outcome: create.NotAttempted}},
		readTo(1),
	}
	end := `"apiVersion":"v1","kind":"ConfigMap","namespace":"prod"`
	const prefix = `"generateName":"demo-"`
	refused := `{"outcome":"Failed",` + end + `,` + prefix + `,"error":"error when creating \"demo.yaml\": configmaps is forbidden: exceeded quota"}`
	unsent := `{"outcome":"NotAttempted",` + end + `,` + prefix + `}`
	got := see(t, "-o jsonl --count=6", fate{}, events)
	if diff := cmp.Diff(lines(
		`{"outcome":"Created",`+end+`,"name":"demo-1",`+prefix+`,"uid":"u"}`,
		`{"outcome":"Exists",`+end+`,"name":"demo-2",`+prefix+`,"uid":"u"}`,
		refused, refused, // also for copies that stderr doesn't repeat
		`{"outcome":"Unknown",`+end+`,"name":"demo-3",`+prefix+`,"error":"Post: reset"}`,
		unsent, unsent, "",
	), got.stdout); diff != "" || got.code != 4 {
		t.Errorf("exit code %d (-want +got)\n%s", got.code, diff)
	}
	schema.Check(t, got.stdout)
	got = see(t, "-o jsonl", fate{dryRun: cmdutil.DryRunServer}, []create.Event{withUID(created(d, "demo-1")), unknown(d, "demo-3"), readTo(1)})
	if !strings.HasPrefix(got.stdout, `{"outcome":"DryRun",`+end+`,"name":"demo-1",`+prefix+"}\n"+`{"outcome":"Failed",`) {
		t.Errorf("a dry run prints\n%s", got.stdout)
	}
	got = see(t, "-o jsonl", fate{stdout: gone{}}, []create.Event{created(d, "demo-1"), readTo(1)})
	if want := "error: the outcome of configmap/demo-1 -n prod can't be printed: broken pipe"; got.stderr != want || got.code != 1 {
		t.Errorf("%+v, want %s", got, want)
	}
	object := configMap("x\x1b")
	inert := created(d, "x").(create.Outcome)
	inert.Object, inert.Err = object, errors.New("##[add-mask]y")
	if got = see(t, "-o jsonl", fate{}, []create.Event{inert, readTo(1)}); !strings.Contains(got.stdout, `x\u001b`) || strings.Contains(got.stdout, "##[") {
		t.Errorf("%s\nwant a \\u001b for the escape character, and no ##[", got.stdout)
	}
}

// A run that hangs is given up. Each object that has no line gets one, and the run prints no more lines. An object that
// has its line isn't an error on stderr.
func TestLinesOfGiveUp(t *testing.T) {
	of := func(job int, is protocol.Outcome, name string, copies int) create.Outcome {
		return create.Outcome{Document: demo(), Job: job, Copies: copies, Result: exactlyonce.Result{Outcome: is, Name: name}}
	}
	unseen := []create.Outcome{
		of(1, protocol.Created, "demo-1", 1), of(2, protocol.Created, "demo-2", 1), of(3, protocol.Unknown, "demo-3", 1), of(0, create.NotAttempted, "", 2),
	}
	var out strings.Builder
	p := &printer{out: &out, format: formatLines}
	if err := p.resultLine(wait.Ended{Object: aJob("a"), Result: wait.Succeeded}); err != nil {
		t.Fatal(err)
	}
	if err := p.printLines(unseen[0], p.lineOf(unseen[0], nil)); err != nil {
		t.Fatal(err)
	}
	unfinished := func(name string) wait.Ended { return wait.Ended{Object: aJob(name), Result: wait.Interrupted} }
	areInLines := p.takeLines() && p.printUnseen(unseen, []wait.Ended{
		{Object: aJob("b"), Result: wait.Failed}, unfinished("a"), unfinished("b"), unfinished("c"),
	})
	if err := p.printLines(unseen[1], p.lineOf(unseen[1], nil)); err != nil || !areInLines {
		t.Error(err, areInLines)
	}
	end := `"apiVersion":"v1","kind":"ConfigMap","namespace":"prod",`
	const prefix = `"generateName":"demo-"`
	unsent := `{"outcome":"NotAttempted",` + end + prefix + `}`
	result := func(is, name string) string {
		return fmt.Sprintf(`{"result":%q,"apiVersion":"batch/v1","kind":"Job","namespace":"ci","name":%q,"uid":%q}`, is, name, name)
	}
	if diff := cmp.Diff(lines(
		result("Succeeded", "a"),
		`{"outcome":"Created",`+end+`"name":"demo-1",`+prefix+`}`,
		`{"outcome":"Created",`+end+`"name":"demo-2",`+prefix+`}`,
		`{"outcome":"Unknown",`+end+`"name":"demo-3",`+prefix+`,"error":"interrupted"}`,
		unsent, unsent, result("Failed", "b"), result("Unfinished", "c"), "",
	), out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	schema.Check(t, out.String())
	e := &ending{flags: &ownCreateFlags{}, interrupted: true, hangs: "interrupted again", areInLines: areInLines}
	e.Unseen = unseen
	if text := lines(e.lastLines()...); strings.Contains(text, "can't be printed") || !strings.Contains(text, lost("demo-3", textInterrupted)) {
		t.Error(text)
	}
	e.areInLines = false
	if text := lines(e.lastLines()...); !strings.Contains(text, terminal.Errorf(textNotPrinted, "configmap/demo-1 -n prod", textInterrupted)) {
		t.Error(text)
	}
	hangs := &printer{out: &out, format: formatLines}
	hangs.inLines.Lock()
	for name, p := range map[string]*printer{"stdout hangs": hangs, "no lines": {}} {
		if p.takeLines() {
			t.Errorf("%s: the lines were taken", name)
		}
	}
	if p := (&printer{out: gone{}, format: formatLines}); !p.takeLines() || p.printUnseen(unseen, nil) {
		t.Error("lines that can't be written count as printed")
	}
}

// The second line of an object has the result of the wait.
func TestResultLines(t *testing.T) {
	end := `"apiVersion":"batch/v1","kind":"Job","namespace":"ci","name":"a","uid":"a"`
	for _, test := range []struct {
		ended wait.Ended
		want  string
	}{
		{wait.Ended{Result: wait.Succeeded}, `{"result":"Succeeded",` + end + `}`},
		{
			wait.Ended{Result: wait.Failed, Status: finished.Status{State: finished.Succeeded, Reason: "CompletionsReached"}},
			`{"result":"Failed",` + end + `,"error":"succeeded without meeting --for"}`,
		},
		{
			wait.Ended{Result: wait.Failed, Status: finished.Status{State: finished.Failed, Reason: "BackoffLimitExceeded", Message: "two\nlines"}},
			`{"result":"Failed",` + end + `,"error":"(BackoffLimitExceeded): two lines"}`,
		},
		{wait.Ended{Result: wait.OutOfTime}, `{"result":"Unfinished",` + end + `}`},
		{wait.Ended{Result: wait.Interrupted}, `{"result":"Unfinished",` + end + `}`},
		{wait.Ended{Result: wait.Replaced}, `{"result":"Deleted",` + end + `}`},
		{wait.Ended{Result: wait.Abandoned, Err: reset}, `{"result":"Unknown",` + end + `,"error":"Post: reset"}`},
	} {
		var out strings.Builder
		p := &printer{out: &out, format: formatLines}
		test.ended.Object = aJob("a")
		if err := p.resultLine(test.ended); err != nil || out.String() != test.want+"\n" {
			t.Errorf("%s, %v, want %s", out.String(), err, test.want)
		}
		schema.Check(t, out.String())
	}
}

// No format of whole objects has a command for a CI system that another user wrote into an object, and readers get the
// same text.
func TestWholeObjectsHaveNoCommands(t *testing.T) {
	for _, format := range []string{"json", "yaml", "kyaml"} {
		streams, _, stdout, _ := genericiooptions.NewTestIOStreams()
		o, cmd := optionsWith(streams), &cobra.Command{}
		o.conn = connection.New(streams)
		o.addKubectlFlags(cmd)
		o.flags.addTo(cmd)
		if err := cmd.ParseFlags([]string{"-f", "demo.yaml", "-o", format}); err != nil {
			t.Fatal(err)
		}
		object, got := configMap("x"), &unstructured.Unstructured{}
		object.SetAnnotations(map[string]string{"a": "##vso[task.setvariable variable=A]b\n::add-mask::b\n"})
		object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "m"}})
		if err := o.Complete(cmd, nil); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(o.PrintObj(object), o.PrintObj(object)); err != nil {
			t.Fatal(err)
		}
		text := stdout.String()
		first, _, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "---\n")
		if format == "json" {
			first = text[:len(text)/2]
		}
		object.SetManagedFields(nil)
		if err := yaml.Unmarshal([]byte(first), &got.Object); err != nil || !reflect.DeepEqual(got, object) {
			t.Errorf("%s: %v, %v, want %v", format, err, got, object)
		}
		if reference.LineCommand.MatchString(text) || reference.RunnerCommand.MatchString(text) {
			t.Errorf("%s:\n%s", format, text)
		}
	}
}
