package create

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// settleTime is how long a create in flight may still take after Ctrl-C.
const settleTime = 5 * time.Second

// creation is one run of the command: what is in flight, and what has become
// of the objects so far.
type creation struct {
	*options
	interrupted context.Context                        // done when the user interrupts
	ctx         context.Context                        // done then, and when there is no use in going on
	stop        context.CancelFunc                     // says so
	unreadable  map[schema.GroupVersionResource]string // why names cannot be picked here, if they cannot
	seen        int                                    // objects of the input
	note        string                                 // for the end
	unread      bool                                   // an interrupt left part of it

	// Of a run with a key:

	key      idempotency.Key
	numbers  map[equal]int
	places   []idempotency.Place                // where objects of the input go
	existing map[inPlace][]idempotency.Existing // what has been created before, there

	lane        lane // of the documents in flight
	inFlight    errgroup.Group
	unreachable atomic.Bool // the server did not answer for as long as an object is pursued

	progress *terminal.Progress // on a terminal that does not show the results themselves

	mu       sync.Mutex // guards what follows, and the streams
	account  account
	failures []error // of the documents in flight
	unsaid   bool    // copies failed in the same way as another one
	warned   map[string]bool
	renamed  map[schema.GroupVersionResource]bool // types whose objects were stored under other names
	printer  printer
}

func (o *options) newCreation(ctx context.Context) (*creation, error) {
	printer, err := o.newPrinter()
	if err != nil {
		return nil, err
	}
	c := &creation{
		options: o, interrupted: ctx, key: idempotency.Key(o.flags.key), numbers: map[equal]int{}, printer: printer,
		unreadable: map[schema.GroupVersionResource]string{}, warned: map[string]bool{}, renamed: map[schema.GroupVersionResource]bool{},
	}
	c.ctx, c.stop = context.WithCancel(ctx)
	if !terminal.IsTerminal(o.Out) {
		c.progress = terminal.StartProgress(o.ErrOut)
	}
	c.inFlight.SetLimit(o.flags.concurrency)
	if o.flags.suffixLength != names.SuffixLength {
		c.warnOnce("names will end in %d random characters: whatever takes a generated name apart by its last 5, kubectl genname audit too, does not know them", o.flags.suffixLength)
	}
	return c, nil
}

// inOrder creates one object of the input after the other.
func (c *creation) inOrder(objects *resource.Result) error {
	err := visit(c.ctx, objects, c.take)
	if errors.Is(err, errNotRead) {
		c.unread = true
		err = utilerrors.FilterOut(err, func(err error) bool { return errors.Is(err, errNotRead) })
	}
	return utilerrors.NewAggregate(errorsOf(err, c.wait()))
}

// take creates the next object of the input.
func (c *creation) take(info *resource.Info, err error) error {
	if err != nil {
		return err
	}
	c.seen++
	d, err := c.document(info)
	if err != nil {
		return err
	}
	return c.create(d)
}

// createCopy creates one object, unless it is there or shall only be shown.
func (c *creation) createCopy(d *document, n int) error {
	mark := c.mark(d, n)
	if c.DryRunStrategy == cmdutil.DryRunClient {
		return c.show(d, mark)
	}
	if existing, there := c.there(d, mark); there {
		if left, err := c.leave(d, existing); left {
			return err
		}
	}
	attempts := c.flags.attempts
	if c.DryRunStrategy == cmdutil.DryRunServer { // nothing is stored: as kubectl
		attempts = 1
	}
	engine := once.Engine{
		Attempts:     attempts,
		RetryTimeout: c.flags.retryTimeout,
		Settle:       settleTime,
		Notify:       func(n once.Notice) { c.notify(d, n) },
	}
	result := engine.Create(c.ctx, once.Object{
		Name:         d.object.GetName(),
		GenerateName: d.object.GetGenerateName(),
		SuffixLength: c.flags.suffixLength,
		ID:           mark.ID,
		Repeated:     c.key != "",
		Server:       once.NewServer(d.Client, d.Mapping, d.Namespace, d.object, mark, c.createOptionsOf()),
	})
	if result.Unreachable && !c.answers(d) {
		c.unreachable.Store(true)
	}
	return c.settle(d, result)
}

// answers asks the server for its version, when it did not answer for one
// object: it may be that object that does not get through.
func (c *creation) answers(d *document) bool {
	var status apierrors.APIStatus
	err := d.Client.Get().AbsPath("/version").MaxRetries(0).Timeout(settleTime).Do(c.ctx).Error()
	return err == nil || errors.As(err, &status)
}

func (c *creation) createOptionsOf() metav1.CreateOptions {
	options := metav1.CreateOptions{FieldManager: c.fieldManager, FieldValidation: c.ValidationDirective}
	if c.DryRunStrategy == cmdutil.DryRunServer {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return options
}

// show prints what would be created.
func (c *creation) show(d *document, mark once.Mark) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.printer.created(c.stamped(d.object, mark))
}

// leave prints an object that an earlier run has created. One that is shown
// whole is read for that; one that is gone by then is false.
func (c *creation) leave(d *document, existing idempotency.Existing) (left bool, err error) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(d.object.GroupVersionKind())
	object.SetName(existing.Name)
	object.SetNamespace(d.Namespace)
	if c.printer.whole {
		var stored runtime.Object
		stored, err = resource.NewHelper(d.Client, d.Mapping).Get(d.Namespace, existing.Name)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		object, _ = stored.(*unstructured.Unstructured)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account.unchanged++
	if err != nil {
		return true, fmt.Errorf("%s is there, but cannot be shown: %w", d.reference(existing.Name), err)
	}
	return true, c.printer.unchanged(object)
}
