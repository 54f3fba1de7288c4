package create

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// waiting has the objects of a run's wait, and their ends.
type waiting struct {
	checks  *waitChecks // nil without --wait
	objects []wait.Object
	whole   map[wait.Object]*unstructured.Unstructured // whole objects as they were created, if the format needs them

	ended     map[wait.Outcome]int
	suspended map[wait.Object]bool // running objects that are suspended
	shown     int                  // objects whose end without success was printed
	running   []string             // unfinished objects as arguments of kubectl
	runOn     []apitypes.UID       // their UIDs
	logs      *logStreams          // nil without --logs

	logsUnread bool // an interrupt has ended the logs

	pods  awaitedPods // Pods of the objects
	why   podReasons
	began time.Time
}

// awaits reports whether the run waits for the document's objects.
func (w *waiting) awaits(d *create.Document) bool {
	return w.checks != nil && w.checks.waitsFor(d.Mapping)
}

// await notes an object to wait for. An object that was found on the server might have finished or be suspended. A
// watch from its version on would not report this, so the object then has no version.
func (r *results) await(o create.Outcome) {
	d, object := o.Document, o.Result.Object
	if object == nil || !r.waiting.awaits(d) {
		return
	}
	awaited := wait.Object{
		Mapping: d.Mapping, Namespace: d.Namespace, Name: cmp.Or(object.GetName(), o.Result.Name), UID: object.GetUID(),
	}
	if status, _ := finished.Of(object); len(r.flags.waitFor) == 0 && !status.Done() && !status.Suspended {
		awaited.Version = object.GetResourceVersion()
	}
	label := idempotency.Key(r.flags.key).RunLabel()
	if r.flags.key != "" && object.GetLabels()[exactlyonce.RunLabel] == label {
		awaited.Selector = exactlyonce.RunLabel + "=" + label
	}
	r.waiting.objects = append(r.waiting.objects, awaited)
	if r.waiting.whole == nil {
		r.waiting.whole = map[wait.Object]*unstructured.Unstructured{}
	}
	if r.showsWhole() {
		r.waiting.whole[awaited] = object
	}
	r.waiting.pods.add(awaited, d.Object)
}

// conclude waits for the objects, and ends the run. With --fail-on-difference, it does not wait if an object differs,
// and prints the objects as they were created.
func (r *results) conclude() error {
	r.warnDiffering()
	if r.flags.strict && len(r.differing) > 0 {
		for _, object := range r.waiting.objects {
			r.printWhole(object, r.waiting.whole[object])
		}
		return r.finish()
	}
	if err := r.wait(); err != nil {
		return err
	}
	return r.finish()
}

// wait waits for the objects.
func (r *results) wait() error {
	if len(r.waiting.objects) == 0 {
		return nil
	}
	config, err := r.conn.ToRESTConfig()
	if err != nil {
		return err
	}
	config.Timeout = 0 // it would end watches; the transport limits other requests
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	condition, err := conditions(r.flags.waitFor)
	if err != nil {
		return err
	}
	if err := r.waiting.start(config); err != nil {
		return err
	}
	r.voice.ShowProgress()
	r.voice.SetText(r.waiting.progress())
	r.streamLogs()
	r.takeAll(r.events(wait.Run(r.ctx, wait.Config{
		Client: client, For: condition, Whole: r.showsWhole(),
		Timeout: r.flags.waitTimeout, RetryTimeout: r.flags.retryTimeout,
	}, r.waiting.objects)))
	if r.waiting.unfinished() > 0 {
		r.waiting.why.recheck(r.ctx)
	}
	r.waiting.logs.drain(r.waiting.runOn)
	r.warnOfUnreadLogs()
	return nil
}

// events queues the events of the wait, because the reader of stdout can block takeAll. It notes failures for giveUp.
func (r *results) events(all iter.Seq[wait.Event]) <-chan wait.Event {
	in, events := queue[wait.Event]()
	go func() {
		defer close(in)
		for event := range all {
			if e, is := event.(wait.Ended); is && e.Outcome == wait.Failed {
				r.failed.Store(e.Object, endOf(e))
			}
			in <- event
		}
	}()
	return events
}

// warnOfUnreadLogs warns that an interrupt has ended the logs of objects that have ended.
func (r *results) warnOfUnreadLogs() {
	if r.waiting.logs == nil || !r.interrupted() || r.waiting.unfinished() > 0 {
		return
	}
	r.waiting.logsUnread = true
	var commands []string
	for _, o := range r.waiting.pods.owners {
		argument := "pod/" + o.Name
		if o.Job {
			argument = "job/" + o.Name
		}
		commands = append(commands, "  kubectl logs "+reference.In(argument, o.Namespace))
	}
	if more := len(commands) - maxShown; more > 0 {
		commands = append(commands[:maxShown], fmt.Sprintf("  (%d more)", more))
	}
	r.warn("interrupted before all logs were read, so lines may be missing:")
	r.printLine(terminal.Printable(strings.Join(commands, "\n")))
}

// start prepares the wait.
func (w *waiting) start(config *rest.Config) (err error) {
	w.ended, w.suspended, w.began = map[wait.Outcome]int{}, map[wait.Object]bool{}, time.Now()
	w.why.last, w.why.ended = map[apitypes.UID]pods.Reason{}, map[apitypes.UID]bool{}
	w.why.sources = pods.Sources(w.pods.owners)
	w.why.client, err = typedcore.NewForConfig(config)
	return err
}

// takeAll prints the events of the wait, and why nothing runs.
func (r *results) takeAll(events <-chan wait.Event) {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	w, second, report := &r.waiting, time.NewTicker(time.Second), time.NewTicker(reportEvery)
	defer second.Stop()
	defer report.Stop()
	reasons := w.why.list(ctx)
	for {
		select {
		case event, more := <-events:
			if !more {
				return
			}
			r.takeWait(event)
		case all := <-reasons:
			w.why.note(all)
		case <-report.C:
			if line := w.report(); line != "" && !terminal.IsTerminal(r.ErrOut) {
				r.printLine(line)
			}
		case <-second.C:
		}
		r.voice.SetText(w.progress())
	}
}

// takeWait handles one event of the wait.
func (r *results) takeWait(event wait.Event) {
	w := &r.waiting
	switch e := event.(type) {
	case wait.Suspension:
		w.suspended[e.Object] = e.Suspended
		if e.Suspended {
			r.printLine(fmt.Sprintf("%s is suspended. The wait goes on until it is resumed and has "+
				"finished.", nameOf(e.Object)))
		}
	case wait.Retry:
		r.warn(fmt.Sprintf("can't read %s: %v. Retrying for up to "+
			"%s.", nameOf(e.Object), apistatus.Brief(e.Err), r.flags.retryTimeout))
	case wait.Ended:
		if w.ended[e.Outcome]++; e.Outcome != wait.OutOfTime && e.Outcome != wait.Interrupted {
			w.why.end(e.Object.UID)
		}
		r.printEnd(e)
		w.suspended[e.Object] = e.Status.Suspended
		r.printFinal(e)
	}
}

// printEnd prints how the wait for an object has ended, unless it has succeeded.
func (r *results) printEnd(e wait.Ended) {
	switch e.Outcome {
	case wait.Succeeded:
		return
	case wait.OutOfTime, wait.Interrupted:
		argument := argumentOf(e.Object)
		if e.Status.Suspended {
			argument += "  # suspended"
		}
		r.waiting.running, r.waiting.runOn = append(r.waiting.running, argument), append(r.waiting.runOn, e.Object.UID)
		return
	}
	if r.waiting.shown++; r.waiting.shown <= maxShown {
		r.waiting.logs.afterwards(func() {
			line, more := endOf(e), ""
			if e.Outcome == wait.Failed && e.Status.State == finished.Failed {
				more = r.afterFailure(e)
			}
			r.printLine(terminal.Printable(line + more))
			r.failed.CompareAndSwap(e.Object, line, "")
		})
	}
}

// endOf returns the line about an object that has ended without success, and the next command.
func endOf(e wait.Ended) string {
	name, get := nameOf(e.Object), "\n  kubectl get "+argumentOf(e.Object)
	switch {
	case e.Outcome == wait.Failed && e.Status.State == finished.Succeeded:
		return terminal.Errorf("%s has succeeded without meeting --for", name) + get + " -o yaml"
	case e.Outcome == wait.Failed:
		return terminal.Errorf("%s has failed", name) + why(e)
	case e.Outcome == wait.Deleted:
		return terminal.Errorf("%s was deleted before its result was known", name)
	case e.Outcome == wait.Replaced:
		return terminal.Errorf("%s was deleted before its result was known, and another object has its name", name) +
			get
	}
	return terminal.Errorf("the wait for %s ended without a result: %v", name, apistatus.Brief(e.Err)) + get
}

// why returns the reason and the message of a failure, as far as they are known.
func why(e wait.Ended) string {
	text := ""
	if e.Status.Reason != "" {
		text = fmt.Sprintf(" (%s)", e.Status.Reason)
	}
	if e.Status.Message != "" {
		text += ": " + e.Status.Message
	}
	return strings.TrimRight(terminal.Printable(strings.ReplaceAll(text, "\n", " ")), " ")
}

// printFinal prints an object when the wait for it ends, if the format shows whole objects. An object that
// has not finished is printed as it was created.
func (r *results) printFinal(e wait.Ended) {
	if !r.showsWhole() {
		return
	}
	if e.Final == nil {
		e.Final = r.waiting.whole[e.Object]
	}
	delete(r.waiting.whole, e.Object)
	if terminal.IsTerminal(r.Out) { // the line with the counts must not be in between
		r.voice.End()
		defer r.voice.ShowProgress()
	}
	r.printWhole(e.Object, e.Final)
}

// printWhole prints an object whose print was deferred to the end of the wait.
func (r *results) printWhole(object wait.Object, stored *unstructured.Unstructured) {
	if !r.showsWhole() {
		return
	}
	err := r.printer.created(stored)
	if out, ok := r.Out.(*output.CheckedWriter); ok && out.Err() != nil {
		r.stop(errNotWritten)
	}
	if err != nil {
		err = ownError(fmt.Sprintf(textNotPrinted, nameOf(object), err))
		r.errs = append(r.errs, placed{2 * r.end.Documents, err})
	}
}

// nameOf names an object in a sentence.
func nameOf(o wait.Object) string { return terminal.OneLine(reference.Name(o.Mapping, o.Name)) }

// argumentOf names an object in a command.
func argumentOf(o wait.Object) string { return reference.Argument(o.Mapping, o.Namespace, o.Name) }

// counts returns the numbers of objects that have ended so far, by outcome.
func (w *waiting) counts() string {
	suspended := 0
	for _, is := range w.suspended {
		if is {
			suspended++
		}
	}
	text := fmt.Sprintf("%d succeeded, %d failed, %d running", w.ended[wait.Succeeded], w.ended[wait.Failed], w.left())
	for _, more := range []struct {
		format string
		count  int
	}{
		{" (%d suspended)", suspended},
		{", %d deleted", w.ended[wait.Deleted] + w.ended[wait.Replaced]},
		{", %d unknown", w.ended[wait.Abandoned]},
	} {
		if more.count > 0 {
			text += fmt.Sprintf(more.format, more.count)
		}
	}
	return text
}

// left is the number of objects that have not ended.
func (w *waiting) left() int {
	left := len(w.objects)
	for outcome, n := range w.ended {
		if outcome != wait.OutOfTime && outcome != wait.Interrupted {
			left -= n
		}
	}
	return left
}

// unfinished is the number of objects that were still running at the end.
func (w *waiting) unfinished() int { return w.ended[wait.OutOfTime] + w.ended[wait.Interrupted] }

// failed reports whether an object has failed.
func (w *waiting) failed() bool { return w.ended[wait.Failed] > 0 }

// succeeded reports whether all objects have.
func (w *waiting) succeeded() bool { return w.ended[wait.Succeeded] == len(w.objects) }

// waitClosing returns the lines about the end of the wait, and the advice.
func (e *ending) waitClosing() []string {
	w := e.waiting
	if w.ended == nil {
		return nil
	}
	if w.succeeded() {
		return []string{fmt.Sprintf("Waited for %s: %s.", humanize.Count(len(w.objects), "object"), w.counts())}
	}
	var lines []string
	if n := w.shown - maxShown; n > 0 {
		lines = append(lines, terminal.Errorf("%d more objects failed, were deleted, or could not be read", n))
	}
	lines = append(lines, e.aboutRunning()...)
	return append(lines, terminal.Errorf("%s: %s", e.whyNot(), w.counts()))
}

// aboutRunning names the unfinished objects, and the command to wait for them again.
func (e *ending) aboutRunning() []string {
	n := e.waiting.unfinished()
	if n == 0 {
		return nil
	}
	slices.Sort(e.waiting.running)
	running, why := e.waiting.running, reasonLines(e.waiting.why.now)
	lines := []string{"These objects go on running:"}
	for _, argument := range running[:min(len(running), maxShown)] {
		lines = append(lines, "  kubectl get --watch "+argument)
		if len(why) == 0 {
			lines = append(lines, "  kubectl describe "+argument)
		}
	}
	if more := len(running) - maxShown; more > 0 {
		lines = append(lines, fmt.Sprintf("  (%d more)", more))
	}
	lines = append(lines, why...)
	if e.flags.key != "" {
		return append(lines, "Run the same command again. It creates nothing twice, and goes on waiting.")
	}
	if e.Again == 0 {
		return lines
	}
	return append(lines, "Don't run the command again to go on waiting. It would create the objects a second "+
		"time.", textUseKey)
}

// whyNot is why not all objects have succeeded.
func (e *ending) whyNot() string {
	w := e.waiting
	switch {
	case w.failed():
		return "not all objects succeeded"
	case w.ended[wait.Interrupted] > 0 && e.interrupted:
		return textInterrupted
	case w.ended[wait.Interrupted] > 0:
		return textNotWritten
	case w.ended[wait.OutOfTime] > 0:
		return fmt.Sprintf("not all objects finished within --wait-timeout=%s", e.flags.waitTimeout)
	}
	return "not all results are known"
}
