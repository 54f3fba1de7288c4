package create

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// errNotWritten is why a run stops whose results can't be written.
var errNotWritten = errors.New("the results cannot be written")

// results prints the outcome of each object of a run, and counts the outcomes. Only one goroutine
// uses it.
type results struct {
	*options
	ctx  context.Context
	stop context.CancelCauseFunc

	printer printer

	totals  func() create.Totals // up to now
	errs    []placed
	printed map[reason]bool
	unsaid  bool // copies failed with the same error as another copy
	warned  map[string]bool

	problems bool // the input could not be read, or not all of it

	changed   []string // existing objects whose spec was changed
	differing []string // existing objects that differ from the input, and their fields

	follower  *follow.Follower                           // nil without --wait
	unprinted map[wait.Object]*unstructured.Unstructured // whole objects as they were created

	unexpected bool            // the key was used for another input
	namespaces map[string]bool // namespaces of the objects
	here       bool            // some of them are where the next command looks
}

// reason is the reason why copies of a document failed, without their names. reason has the number of the document,
// because a run keeps no finished document.
type reason struct {
	document int
	text     string
}

// ownError is an error in words of this command, and not of kubectl's.
type ownError string

func (e ownError) Error() string { return string(e) }

// placed is an error, and where in the input it belongs.
type placed struct {
	at  int
	err error
}

// atEnd is after the input.
const atEnd = math.MaxInt

func (o *options) newResults(
	ctx context.Context, stop context.CancelCauseFunc, follower *follow.Follower, totals func() create.Totals,
) *results {
	r := &results{
		options: o, ctx: ctx, stop: stop, printer: o.newPrinter(), follower: follower, totals: totals,
		printed: map[reason]bool{}, warned: map[string]bool{}, namespaces: map[string]bool{},
		unprinted: map[wait.Object]*unstructured.Unstructured{},
	}
	if !terminal.IsTerminal(o.Out) { // a terminal shows the results themselves
		o.voice.ShowProgress()
	}
	return r
}

// take handles one event.
func (r *results) take(event create.Event) {
	switch e := event.(type) {
	case create.Outcome:
		r.collect(e.Number, commonName(e), r.outcome(e))
	case create.Retry:
		r.printLine(terminal.OneLine(fmt.Sprintf("%s: %v (%s)",
			e.Document.Reference(e.Retry.Name), apistatus.Brief(e.Retry.Reason), action(e.Retry))))
	case create.Searching:
		r.searching(e)
		return
	case create.Warning:
		r.warn(e.Text)
	case create.Problem:
		r.problem(e)
	}
	if r.voice.ShowsProgress() {
		r.voice.SetText(counts(r.totals()))
	}
}

// outcome prints the outcome of an object, and returns its error.
func (r *results) outcome(o create.Outcome) error {
	switch o.Outcome {
	case protocol.Created:
		r.warnOfFixedName(o.Document)
		err := r.print(o.Document, o.Result.Object)
		r.await(o)
		return err
	case protocol.Found:
		if len(o.Changes) == 0 || !r.flags.strict {
			r.await(o)
		}
		return r.printExisting(o)
	case create.Shown:
		return r.printer.created(o.Result.Object)
	case create.Renamed:
		r.await(o)
		r.collect(o.Number, "", r.print(o.Document, o.Result.Object))
		return r.failure(o.Document, o.Err)
	case protocol.Failed:
		return r.failure(o.Document, o.Err)
	case protocol.Unknown:
		return r.unknown(o)
	}
	return nil
}

// commonName returns the name in an error that copies of a document can have in common.
func commonName(o create.Outcome) string {
	switch o.Outcome {
	case create.Shown:
		return o.Result.Object.GetName()
	case protocol.Failed:
		return cmp.Or(o.Result.Name, nameIn(o.Err))
	case protocol.Unknown:
		return o.Result.Name
	}
	return ""
}

// warnOfFixedName warns of --count for an object that is created once.
func (r *results) warnOfFixedName(d *create.Document) {
	if d.Object.GetName() != "" && r.flags.count > 1 {
		r.warn("--count applies to objects with generateName. An object with a fixed name is created once.")
	}
}

// problem records an error that is not about one object.
func (r *results) problem(e create.Problem) {
	r.problems = true
	r.unexpected = r.unexpected || errors.As(e.Err, new(*create.UnexpectedError))
	r.errs = append(r.errs, placed{2*e.After + 1, explain(e.Err)})
}

// nameIn is the name in a response of the server. If the server picks names, it is the last picked
// name.
func nameIn(err error) string {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return ""
	}
	return status.Status().Details.Name
}

// searching prints the progress of the search for objects of a key. Without a terminal, it prints only if the
// search takes long.
func (r *results) searching(e create.Searching) {
	text := fmt.Sprintf("searching for objects of this key: %d of %s read", e.Done, humanize.Count(e.Places, "list"))
	r.voice.SetText(text)
	if e.Late && !r.voice.ShowsProgress() {
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

// warn writes a warning on stderr, once.
func (r *results) warn(text string) {
	if !r.warned[text] {
		r.warned[text] = true
		r.printLine(terminal.Warningf("%s", text))
	}
}

// print prints the object that the server stored, if it is known. If an object can't be printed, the error names
// it, because the object exists. After stdout is closed, the run creates nothing more.
func (r *results) print(d *create.Document, object *unstructured.Unstructured) error {
	if object == nil {
		return nil
	}
	r.noteNamespace(object.GetNamespace())
	if r.showsWhole() && r.follower.Awaits(d.Mapping) { // it is printed when it has finished
		return nil
	}
	err := r.printer.created(object)
	if out, ok := r.Out.(*output.CheckedWriter); ok && out.Err() != nil {
		err = out.Err()
		r.stop(errNotWritten)
	}
	if err != nil && !r.flags.kubectlsWords() {
		err = ownError(fmt.Sprintf(textNotPrinted, d.Reference(object.GetName()), err))
	}
	return err
}

// noteNamespace notes where an object is.
func (r *results) noteNamespace(namespace string) {
	if namespace == r.namespace {
		r.here = true
	} else {
		r.namespaces[namespace] = true
	}
}

// printExisting prints an object that was there.
func (r *results) printExisting(o create.Outcome) error {
	r.noteNamespace(o.Document.Namespace)
	if o.Generation > 0 {
		r.changed = append(r.changed, o.Document.Argument(o.Result.Name))
	}
	if o.Err != nil {
		return ownError(fmt.Sprintf("%s exists, but it can't be read: %v", o.Document.Reference(o.Result.Name), o.Err))
	}
	if err := r.compare(o); err != nil || r.showsWhole() && r.follower.Awaits(o.Document.Mapping) {
		return err
	}
	if err := r.printer.exists(o); err != nil {
		return ownError(fmt.Sprintf("%s exists, but it can't be printed: %v", o.Document.Reference(o.Result.Name), err))
	}
	return nil
}

// compare notes an object that differs from its document. With --fail-on-difference it returns an error.
func (r *results) compare(o create.Outcome) error {
	if len(o.Changes) == 0 {
		return nil
	}
	object, fields := o.Document.Argument(o.Result.Name), strings.Join(o.Changes, ", ")
	if len(o.ChangedBy) > 0 {
		fields += ", changed since by " + terminal.OneLine(strings.Join(o.ChangedBy, " and "))
	}
	r.differing = append(r.differing, fmt.Sprintf("%s (%s)", object, fields))
	if r.flags.strict {
		return ownError(fmt.Sprintf("%s exists, and differs from the input in %s", object, fields))
	}
	return nil
}

// failure is the error of an object that failed, in kubectl's words.
func (r *results) failure(d *create.Document, err error) error {
	if !r.flags.kubectlsWords() {
		r.warnOfAnnotations(err, d.Object)
		err = explainBoth(err, d.Object)
	}
	return cmdutil.AddSourceToErr("creating", d.Source, err)
}

// explainBoth corrects the server's error for a conflict of an object with a name and a
// generateName. The server reports that it could not generate a name.
func explainBoth(err error, object *unstructured.Unstructured) error {
	if object.GetGenerateName() == "" || object.GetName() == "" || !apierrors.IsAlreadyExists(err) {
		return err
	}
	return apistatus.Explain(err, " (the object has a name and a generateName, and the server uses the name)")
}

// warnOfAnnotations warns where annotations are refused that only together with the
// plugin's are too long.
func (r *results) warnOfAnnotations(err error, object *unstructured.Unstructured) {
	size := 0
	for key, value := range object.GetAnnotations() {
		size += len(key) + len(value)
	}
	tooLong := apierrors.IsInvalid(err) && strings.Contains(err.Error(), "metadata.annotations: Too long")
	if tooLong && size <= validation.TotalAnnotationSizeLimitB {
		r.warn(fmt.Sprintf("the object has %d bytes of annotations, and the plugin adds %s. "+
			"Together they are longer than the server allows.", size, exactlyonce.Annotation))
	}
}

// unknown prints the line of an object with an unknown outcome at once, because a killed run could
// not print it later. A dry run counts it as a failure. So does a run in kubectl's words, which
// prints kubectl's error.
func (r *results) unknown(o create.Outcome) error {
	if r.DryRunStrategy == cmdutil.DryRunServer {
		return r.failure(o.Document, o.Err)
	}
	r.warnOfFixedName(o.Document)
	if r.flags.kubectlsWords() {
		return r.failure(o.Document, o.Err)
	}
	r.printLine(terminal.Errorf(textOutcomeUnknown, o.Document.Argument(likelyName(o)), apistatus.Brief(o.Err)))
	return nil
}

// printer prints objects in the format that the user asked for.
type printer struct {
	created func(runtime.Object) error
	exists  func(create.Outcome) error
}

// showsWhole reports whether the format shows more of an object than its name.
func (o *options) showsWhole() bool {
	format := *o.PrintFlags.OutputFormat
	return format != "" && format != "name" || *o.PrintFlags.TemplatePrinterFlags.TemplateArgument != ""
}

func (o *options) newPrinter() printer {
	whole := func(existing create.Outcome) error { return o.PrintObj(existing.Result.Object) }
	switch {
	case o.showsWhole():
		return printer{o.PrintObj, whole}
	case *o.PrintFlags.OutputFormat == "name":
		return printer{o.printName, func(existing create.Outcome) error { return o.printName(existing.Result.Object) }}
	}
	created := o.PrintFlags.NamePrintFlags.Operation // "created", or "created (dry run)"
	return printer{
		created: func(object runtime.Object) error { return o.printLineOf(object, created) },
		exists: func(existing create.Outcome) error {
			operation := strings.Replace(created, "created", "exists", 1)
			if existing.State != "" {
				operation = fmt.Sprintf("exists (%s)", existing.State)
			}
			if len(existing.Changes) > 0 {
				operation += ", differs"
			}
			return o.printLineOf(existing.Result.Object, operation)
		},
	}
}

// printName prints the object for -o name, whose readers take the name as it is. So it refuses a name
// that could write to a terminal, or that would be two lines.
func (o *options) printName(object runtime.Object) error {
	metadata, err := meta.Accessor(object)
	if err == nil && terminal.Escaped(metadata.GetName()) != metadata.GetName() {
		return errors.New("its name has control characters, which -o name doesn't escape. Use -o json")
	}
	return o.PrintObj(object)
}

// printLineOf prints the line of an object as kubectl does. Names can come from a cluster, so it
// escapes control characters.
func (o *options) printLineOf(object runtime.Object, operation string) error {
	flags := *o.PrintFlags.NamePrintFlags
	flags.Operation = operation
	named, err := flags.ToPrinter("")
	if err != nil {
		return err
	}
	var line strings.Builder
	if err := named.PrintObj(object, &line); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.Out, terminal.Escaped(strings.TrimSuffix(line.String(), "\n")))
	return err
}
