package create

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

// results prints the events of a run as they come, and keeps the facts that its end depends on. Only one goroutine
// uses it.
type results struct {
	facts
	flags    *ownCreateFlags
	dryRun   cmdutil.DryRunStrategy
	stderr   *terminal.Stderr
	printer  *printer
	logs     *logPrinter          // nil without --logs
	follower *follow.Follower     // nil without --wait
	totals   func() create.Totals // up to now

	retried   string // the error of the last retry
	printed   map[reason]bool
	warned    map[string]bool
	unprinted map[wait.Object]*unstructured.Unstructured // whole objects as they were created
}

// The end of a run depends on its facts, and on the summaries of the engines.
type facts struct {
	errs       []placed
	unsaid     bool            // copies failed with the same error as another copy
	unusable   bool            // the input, or a part of it
	unexpected bool            // the key was used for another input
	differing  []string        // existing objects that differ from the input, and their fields
	namespaces map[string]bool // of the objects
}

// placed is an error with its place in the input.
type placed struct {
	at  int
	err error
}

// atEnd is after the input.
const atEnd = math.MaxInt

// reason is the reason why copies of a document failed, without their names. reason has the number of the document,
// because a run keeps no finished document.
type reason struct {
	document int
	text     string
}

func (o *options) newResults(
	stop context.CancelCauseFunc, follower *follow.Follower, totals func() create.Totals,
) *results {
	r := &results{
		facts: facts{namespaces: map[string]bool{}}, flags: &o.flags, dryRun: o.DryRunStrategy, stderr: o.stderr,
		printer: o.newPrinter(stop), logs: o.logs, follower: follower, totals: totals,
		printed: map[reason]bool{}, warned: map[string]bool{}, unprinted: map[wait.Object]*unstructured.Unstructured{},
	}
	if !terminal.IsTerminal(o.Out) { // a terminal shows the results themselves
		o.stderr.ShowProgress()
	}
	return r
}

func (r *results) take(event create.Event) {
	switch e := event.(type) {
	case create.Outcome:
		err := r.outcome(e)
		r.collect(e.Number, commonName(e), cmp.Or(err, r.printer.outcomeLine(e, err)))
	case create.Retry:
		why := apistatus.Brief(e.Retry.Reason).Error()
		shown := why
		if why == r.retried {
			shown = "the same error"
		}
		r.retried = why
		object := e.Document.Reference(e.Retry.Name)
		r.printLine(terminal.OneLine(fmt.Sprintf("%s: %s (%s)", object, shown, action(e.Retry))))
	case create.Searching:
		r.searching(e)
		return
	case create.Warning:
		r.warn("%s", e.Text)
	case create.Problem:
		r.problem(e)
	}
	if r.stderr.ShowsProgress() {
		r.stderr.SetText(counts(r.totals()))
	}
}

func counts(t create.Totals) string {
	created := t.Of(protocol.Created, create.Renamed)
	rest := fmt.Sprintf("%d exist, %d failed, %d unknown, %d not attempted",
		t[protocol.Found], t[protocol.Failed], t[protocol.Unknown], t[create.NotAttempted])
	if n := t[create.Renamed]; n > 0 {
		return fmt.Sprintf("%d created (%d renamed by a webhook or policy), %s", created, n, rest)
	}
	return fmt.Sprintf("%d created, %s", created, rest)
}

// outcome prints the outcome of an object, and returns its error.
func (r *results) outcome(o create.Outcome) error {
	switch o.Outcome {
	case protocol.Created:
		r.warnOfFixedName(o.Document)
		r.await(o)
		return r.print(o, textNotPrinted, r.printer.operation)
	case protocol.Found:
		return r.existing(o)
	case create.Shown:
		return r.printer.print(o.Object, r.printer.operation)
	case create.Renamed:
		r.await(o)
		r.collect(o.Number, "", r.print(o, textNotPrinted, r.printer.operation))
		return r.failure(o.Document, o.Err)
	case protocol.Failed:
		return r.failure(o.Document, o.Err)
	case protocol.Unknown:
		return r.unknown(o)
	}
	return nil
}

func action(e exactlyonce.Retry) string {
	switch {
	case e.Action == exactlyonce.NextName && e.NextName == "":
		return "asking for another name"
	case e.Action == exactlyonce.NextName:
		return fmt.Sprintf("trying %s", e.NextName)
	case e.Action == exactlyonce.Recheck:
		return fmt.Sprintf("checking for %s whether it exists", e.Wait.Round(time.Second))
	case e.Action == exactlyonce.Resend:
		return fmt.Sprintf("sending it again in %s", e.Wait.Round(time.Millisecond))
	case e.Wait > 0:
		return fmt.Sprintf("checking whether it exists in %s", e.Wait.Round(time.Millisecond))
	}
	return "checking whether it exists"
}

// commonName returns the name in an error that copies of a document can have in common.
func commonName(o create.Outcome) string {
	switch o.Outcome {
	case create.Shown:
		return o.Object.GetName()
	case protocol.Failed:
		return cmp.Or(o.Name, nameIn(o.Err))
	case protocol.Unknown:
		return o.Name
	}
	return ""
}

// warnOfFixedName warns of --count for an object that is created once.
func (r *results) warnOfFixedName(d *create.Document) {
	if d.Object.GetName() != "" && r.flags.count > 1 {
		r.warn("--count applies to objects with generateName. An object with a fixed name is created once.")
	}
}

func (r *results) problem(e create.Problem) {
	r.unusable = true
	r.unexpected = r.unexpected || errors.As(e.Err, new(*create.UnexpectedError))
	r.errs = append(r.errs, placed{2*e.After + 1, explain(e.Err)})
}

// nameIn is the name in a response of the server. If the server picks names, it is the last picked
// name.
func nameIn(err error) string {
	if details := findings.Details(err); details != nil {
		return details.Name
	}
	return ""
}

// searching prints the progress of the search for objects of a key. Without a terminal, it prints only if the
// search takes long.
func (r *results) searching(e create.Searching) {
	text := fmt.Sprintf("searching for objects of this key: %d of %s read", e.Done, humanize.Count(e.Places, "list"))
	r.stderr.SetText(text)
	if e.Late && !r.stderr.ShowsProgress() {
		r.printLine(text)
	}
}

// collect records the error of a copy. collect skips the error if it differs from the error of another copy only in
// the name.
func (r *results) collect(document int, name string, err error) {
	if err == nil {
		return
	}
	why := reason{document, err.Error()}
	if name != "" {
		why.text = strings.ReplaceAll(why.text, name, "")
	}
	if r.printed[why] {
		r.unsaid = true
		return
	}
	r.printed[why] = true
	r.errs = append(r.errs, placed{2 * document, err})
}

// printLine prints lines on stderr. While logs are printed, it doesn't wait for the reader of stderr. The wait and
// the results on stdout continue without that reader.
func (r *results) printLine(text string) {
	if r.logs.begun() {
		r.stderr.Queue(text)
		return
	}
	r.stderr.Line(text)
}

// warn writes a warning on stderr, once.
func (r *results) warn(format string, args ...any) {
	text := terminal.Warningf("%s", fmt.Sprintf(format, args...))
	if !r.warned[text] {
		r.warned[text] = true
		r.printLine(text)
	}
}

// print prints an object that exists, unless it is printed when it has finished. An error names the object, because it
// exists.
func (r *results) print(o create.Outcome, problem, operation string) error {
	if o.Object == nil {
		return nil
	}
	r.namespaces[o.Document.Namespace] = true
	if r.printer.fullObject && r.follower.Awaits(o.Document.Mapping) {
		return nil
	}
	err := r.printer.print(o.Object, operation)
	if err != nil && !r.flags.kubectlOutput() {
		err = ownErrorf(problem, o.Document.Reference(o.Object.GetName()), err)
	}
	return err
}

func (r *results) existing(o create.Outcome) error {
	r.namespaces[o.Document.Namespace] = true
	if len(o.Changes) == 0 || !r.flags.strict {
		r.await(o)
	}
	if o.Err != nil {
		return ownErrorf("%s exists, but it can't be read: %v", o.Document.Reference(o.Name), o.Err)
	}
	if err := r.compare(o); err != nil {
		return err
	}
	operation := strings.Replace(r.printer.operation, "created", "exists", 1)
	if o.State != "" {
		operation = fmt.Sprintf("exists (%s)", o.State)
	}
	if len(o.Changes) > 0 {
		operation += ", differs"
	}
	return r.print(o, "%s exists, but it can't be printed: %v", operation)
}

// compare notes an object that differs from its document. With --fail-on-difference, compare returns an error.
func (r *results) compare(o create.Outcome) error {
	if len(o.Changes) == 0 {
		return nil
	}
	object, fields := o.Document.Argument(o.Name), strings.Join(o.Changes, ", ")
	if len(o.ChangedBy) > 0 {
		fields += ", changed since by " + terminal.OneLine(strings.Join(o.ChangedBy, " and "))
	}
	r.differing = append(r.differing, fmt.Sprintf("%s (%s)", object, fields))
	if r.flags.strict {
		return ownErrorf("%s exists, and differs from the input in %s", object, fields)
	}
	return nil
}

// failure is the error of an object that failed, in kubectl's words.
func (r *results) failure(d *create.Document, err error) error {
	if !r.flags.kubectlOutput() {
		err = explainBoth(err, d.Object)
	}
	return cmdutil.AddSourceToErr("creating", d.Source, err)
}

// explainBoth corrects the server's error for a conflict of an object with a name and a generateName. In this case, the
// server reports that it could not generate a name.
func explainBoth(err error, object *unstructured.Unstructured) error {
	if object.GetGenerateName() == "" || object.GetName() == "" || !apierrors.IsAlreadyExists(err) {
		return err
	}
	return apistatus.Explain(err, " (the object has a name and a generateName, and the server uses the name)")
}

// unknown prints the line of an object with an unknown outcome at once, because a killed run could
// not print it later. A dry run counts it as a failure. So does a run in kubectl's words, which
// prints kubectl's error.
func (r *results) unknown(o create.Outcome) error {
	r.warnOfFixedName(o.Document)
	if r.dryRun == cmdutil.DryRunServer || r.flags.kubectlOutput() {
		return r.failure(o.Document, o.Err)
	}
	r.printLine(terminal.Errorf(textOutcomeUnknown, o.Document.Argument(likelyName(o)), apistatus.Brief(o.Err)))
	return nil
}

// await hands an object to the follower, which waits for it. If the format shows whole objects, the object is printed
// when the wait has ended.
func (r *results) await(o create.Outcome) {
	if o.Object == nil {
		return
	}
	// After a lost response, the creator of the object can be another run with the key.
	isOurs := o.Outcome == protocol.Created && (!o.Reread || r.flags.keys.Key == "")
	object, awaited := r.follower.Add(follow.Created{
		Mapping: o.Document.Mapping, Namespace: o.Document.Namespace, Name: o.Name,
		Stored: o.Object, Input: o.Document.Object, Ours: isOurs,
	})
	if awaited && r.printer.fullObject {
		r.unprinted[object] = o.Object
	}
}
