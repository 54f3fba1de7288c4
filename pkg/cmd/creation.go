package cmd

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/pkg/keyed"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// settleTime is how long a create in flight may still take after Ctrl-C.
const settleTime = 5 * time.Second

// creation is one run of the command: what is in flight, and what has become
// of the objects so far.
type creation struct {
	*createOptions
	interrupted context.Context                        // done when the user interrupts
	ctx         context.Context                        // done then, and when there is no use in going on
	stop        context.CancelFunc                     // says so
	unreadable  map[schema.GroupVersionResource]string // why names cannot be picked here, if they cannot
	seen        int                                    // objects of the input
	note        string                                 // for the end
	unread      bool                                   // an interrupt left part of it

	// Of a run with a key:

	key      keyed.Key
	numbers  map[equal]int
	places   []keyed.Place                // where objects of the input go
	existing map[inPlace][]keyed.Existing // what has been created before, there

	lane        lane // of the documents in flight
	inFlight    errgroup.Group
	unreachable atomic.Bool // the server did not answer for as long as an object is pursued

	mu       sync.Mutex // guards what follows, and the streams
	account  account
	unknowns []string // a line for each object whose outcome is not known
	failures []error  // of the documents in flight
	warned   map[string]bool
	printer  printer
}

// lane is what documents in flight at the same time have in common; none for
// one that waits for those before it, and lets those after it wait.
type lane struct {
	resource  schema.GroupVersionResource
	namespace string
}

var alone lane

func (o *createOptions) newCreation(ctx context.Context) (*creation, error) {
	printer, err := o.newPrinter()
	if err != nil {
		return nil, err
	}
	c := &creation{
		createOptions: o, interrupted: ctx, key: keyed.Key(o.flags.key), numbers: map[equal]int{}, printer: printer,
		unreadable: map[schema.GroupVersionResource]string{}, warned: map[string]bool{},
	}
	c.ctx, c.stop = context.WithCancel(ctx)
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

// create starts to create the copies of a document, and waits for them unless
// the next document may overlap. The error is of what has ended.
func (c *creation) create(d *document) error {
	var ended error
	next := c.laneOf(d)
	if next == alone || next != c.lane {
		ended = c.wait()
	}
	c.lane = next
	for i := range d.copies {
		if c.hopeless(d) {
			c.count(func(a *account) { a.notAttempted += d.copies - i })
			break
		}
		c.inFlight.Go(func() error {
			if c.hopeless(d) { // by now
				c.count(func(a *account) { a.notAttempted++ })
				return nil
			}
			c.collect(d, c.createCopy(d, i))
			return nil
		})
	}
	if next == alone {
		return utilerrors.NewAggregate(errorsOf(ended, c.wait()))
	}
	return ended
}

// laneOf tells which other documents may be in flight with d.
func (c *creation) laneOf(d *document) lane {
	if !d.generated || !c.flags.set.Changed("concurrency") || c.DryRunStrategy != cmdutil.DryRunNone {
		return alone
	}
	return lane{d.Mapping.Resource, d.Namespace}
}

// hopeless tells whether another copy shall not be tried: one before it has
// failed, nobody answers, or the user has had enough.
func (c *creation) hopeless(d *document) bool {
	return c.ctx.Err() != nil || c.unreachable.Load() || d.failed.Load()
}

// wait waits for what is in flight.
func (c *creation) wait() error {
	_ = c.inFlight.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	errs := c.failures
	c.failures = nil
	return utilerrors.NewAggregate(errs)
}

// collect keeps the error of one of the document's copies, unless another copy
// has failed in the same words.
func (c *creation) collect(d *document, err error) {
	if err == nil {
		return
	}
	d.failed.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(d.errors, err.Error()) {
		d.errors = append(d.errors, err.Error())
		c.failures = append(c.failures, err)
	}
}

// createCopy creates one object, unless it is there or shall only be shown.
func (c *creation) createCopy(d *document, n int) error {
	mark := c.mark(d, n)
	if c.DryRunStrategy == cmdutil.DryRunClient {
		return c.show(d, mark)
	}
	if existing, there := c.there(d, mark); there {
		return c.leave(d, existing)
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
	return c.settle(d, result)
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

// leave prints an object that an earlier run has created.
func (c *creation) leave(d *document, existing keyed.Existing) error {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(d.object.GroupVersionKind())
	object.SetName(existing.Name)
	object.SetNamespace(d.Namespace)
	if c.printer.whole {
		stored, err := resource.NewHelper(d.Client, d.Mapping).Get(d.Namespace, existing.Name)
		if err != nil {
			c.count(func(a *account) { a.failed++ })
			return cmdutil.AddSourceToErr("reading what is there already of", d.Source, err)
		}
		object = stored.(*unstructured.Unstructured)
	}
	c.count(func(a *account) { a.unchanged++ })
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.printer.unchanged(object)
}
