package create

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// account is what has become of the objects of a run.
type account struct {
	created, unchanged, failed, unknown, notAttempted int
}

func (a account) String() string {
	return fmt.Sprintf("%d created, %d unchanged, %d failed, %d unknown, %d not attempted",
		a.created, a.unchanged, a.failed, a.unknown, a.notAttempted)
}

// printer prints objects in the format that the user asked for.
type printer struct {
	created   func(runtime.Object) error
	unchanged func(runtime.Object) error
	whole     bool // the format shows more of an object than its name
}

func (o *options) newPrinter() (printer, error) {
	p := printer{created: o.PrintObj, unchanged: o.PrintObj}
	format := *o.PrintFlags.OutputFormat
	p.whole = format != "" && format != "name" || *o.PrintFlags.TemplatePrinterFlags.TemplateArgument != ""
	if format != "" || p.whole {
		return p, nil
	}
	flags := *o.PrintFlags.NamePrintFlags
	flags.Operation = "unchanged"
	unchanged, err := flags.ToPrinter("")
	p.unchanged = func(object runtime.Object) error { return unchanged.PrintObj(object, o.Out) }
	return p, err
}

func (c *creation) count(change func(*account)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.account)
	c.showProgress()
}

// showProgress shows the account so far. The caller holds mu.
func (c *creation) showProgress() {
	if c.progress != nil {
		c.progress.Say(c.account.String())
	}
}

// say writes a line on stderr. The caller holds mu.
func (c *creation) say(text string) {
	if c.progress != nil {
		c.progress.Line(text)
		return
	}
	fmt.Fprintln(c.ErrOut, text)
}

func (c *creation) notify(d *document, n once.Notice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.say(terminal.OneLine(fmt.Sprintf("%s: %v; %s", d.reference(n.Name), once.Brief(n.Reason), n.Action)))
}

// reference is the object under name; where the server picks it, under its
// prefix.
func (d *document) reference(name string) string {
	if name == "" {
		name = d.object.GetName() + d.object.GetGenerateName()
	}
	return once.Reference(d.Mapping, name)
}

// settle prints what the server stored, counts the result, and makes the error
// of one that failed.
func (c *creation) settle(d *document, result once.Result) error {
	c.warnOf(d, result)
	c.mu.Lock()
	defer c.mu.Unlock()
	printed := c.print(d, result)
	defer c.showProgress()
	switch result.Outcome {
	case once.Created:
		c.account.created++
	case once.NotAttempted:
		c.account.notAttempted++
	case once.Failed:
		c.account.failed++
		d.refused = d.refused || refusesAll(result.Err)
		c.renamed[d.Mapping.Resource] = c.renamed[d.Mapping.Resource] || result.Object != nil
		return utilerrors.NewAggregate(errorsOf(printed, c.failure(d, result)))
	case once.Unknown:
		return utilerrors.NewAggregate(errorsOf(printed, c.unknown(d, result)))
	}
	return printed
}

// refusesAll tells of an answer that equal objects would get too.
func refusesAll(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	code := answer.Status().Code
	return code >= 400 && code < 500 && code != http.StatusConflict && code != http.StatusTooManyRequests
}

// failure is the error of an object that failed, in kubectl's words.
func (c *creation) failure(d *document, result once.Result) error {
	err := result.Err
	if !c.flags.kubectlsWords() {
		err = explainBoth(err, d.object)
	}
	return cmdutil.AddSourceToErr("creating", d.Source, err)
}

// unknown says the line of an object whose outcome is not known, at once: a
// run that is killed must not keep it. For a dry run it is a failure; and who
// asked for kubectl's words gets those.
func (c *creation) unknown(d *document, result once.Result) error {
	if c.DryRunStrategy == cmdutil.DryRunServer {
		c.account.failed++
		return c.failure(d, result)
	}
	object := d.reference(result.Name)
	if d.Namespaced() {
		object += " -n " + d.Namespace
	}
	c.account.unknown++
	if c.flags.kubectlsWords() {
		return c.failure(d, result)
	}
	c.say(terminal.OneLine(fmt.Sprintf("%s: outcome unknown: %v", object, once.Brief(result.Err))))
	return nil
}

// print prints the object that the server stored, if it said. One that cannot
// be printed is named in the error, for it is there. When stdout is gone,
// nothing more is created, for nobody would see it.
func (c *creation) print(d *document, result once.Result) error {
	if result.Object == nil {
		return nil
	}
	err := c.printer.created(result.Object)
	if out, ok := c.Out.(*output.CheckedWriter); ok && out.Err() != nil {
		err = out.Err()
		c.stop()
	}
	if err != nil && !c.flags.kubectlsWords() {
		err = fmt.Errorf("%s was created, but cannot be printed: %w", d.reference(result.Object.GetName()), err)
	}
	return err
}

// warnOf says, once for each resource, where the promise is weaker than it
// should be.
func (c *creation) warnOf(d *document, result once.Result) {
	resource := d.Mapping.Resource.GroupResource().String()
	if result.Unmarked && result.Object != nil {
		c.warnOnce("%s come back without the annotation %s: something removes it; had an answer been lost, the object could not have been recognised", resource, once.Annotation)
	}
	if result.Unverified {
		c.warnOnce("conflicts of %s cannot be read back (needs get on %s): another name is tried on trust that no proxy repeated the request", resource, resource)
	}
}

func (c *creation) warnOnce(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if !c.warned[text] {
		c.warned[text] = true
		c.say("Warning: " + terminal.Printable(text))
	}
}

// finish makes the command's error of what failed (err) and of what is not
// known or was not done.
func (c *creation) finish(err error) error {
	if c.progress != nil {
		c.progress.End()
	}
	if all := utilerrors.Aggregate(nil); errors.As(err, &all) {
		err = utilerrors.Flatten(all) // copies' errors are listed as documents' are
	}
	lines := c.closing()
	if c.note != "" {
		lines = append(lines, c.note)
	}
	switch {
	case c.account.unknown > 0:
		return &exitcode.Error{Code: exitcode.Unknown, Err: err, Lines: lines}
	case c.interrupted.Err() != nil && len(lines) > 0:
		return &exitcode.Error{Code: exitcode.Interrupted, Err: err, Lines: lines}
	case err == nil && c.seen == 0:
		return errors.New("no objects passed to create")
	case len(lines) > 0:
		return &exitcode.Error{Code: exitcode.Failed, Err: err, Lines: lines}
	}
	return err
}

// closing says, if not all was done, what was, why no more, and how to go on.
func (c *creation) closing() []string {
	if c.account.notAttempted == 0 && !c.unread && !c.unsaid {
		return c.howToGoOn()
	}
	why := "stopped after a failure"
	switch {
	case c.account.notAttempted == 0 && !c.unread:
		why = "not all were created"
	case c.interrupted.Err() != nil:
		why = "interrupted"
	case c.ctx.Err() != nil:
		why = "stopped because the results cannot be written"
	case c.unreachable.Load():
		why = "stopped because the server does not answer"
	}
	lines := []string{why + ": " + c.account.String()}
	if c.unread {
		lines[0] += "; the rest of the input was not read"
	}
	return append(lines, c.howToGoOn()...)
}

// howToGoOn is what to do about a run that has left objects open.
func (c *creation) howToGoOn() []string {
	there := c.account.created + c.account.unknown
	switch open := c.account.unknown + c.account.notAttempted; {
	case open == 0 && !c.unread, c.flags.kubectlsWords():
		return nil
	case c.key != "":
		return []string{"to go on, run the same command again: what is there stays unchanged"}
	case there > 0:
		return []string{fmt.Sprintf("do not just run it again: that would create up to %d a second time. A run that has an --idempotency-key from its start can be repeated", there)}
	}
	return nil
}

// explainBoth corrects the server's words for a conflict of an object with a
// name and a generateName, which say that a name could not be generated.
func explainBoth(err error, object *unstructured.Unstructured) error {
	if object.GetGenerateName() == "" || object.GetName() == "" || !apierrors.IsAlreadyExists(err) {
		return err
	}
	return once.Explain(err, " (the object has a name and a generateName: the name wins, and generateName is ignored)")
}

// errorsOf are those that are not nil.
func errorsOf(errs ...error) (present []error) {
	for _, err := range errs {
		if err != nil {
			present = append(present, err)
		}
	}
	return present
}
