package cmd

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/klog/v2"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// creation is one run of the command: what has become of the objects so far.
type creation struct {
	*createOptions
	ctx context.Context

	mu                                  sync.Mutex // guards what follows, and the streams
	seen, created, failed, notAttempted int
	unknown                             []string // a line for each
	warned                              map[string]bool
}

// visit creates one object. The order of what it does is kubectl's.
func (c *creation) visit(info *resource.Info, err error) error {
	if err != nil {
		return err
	}
	c.seen++
	if err := util.CreateOrUpdateAnnotation(c.CreateAnnotation, info.Object, scheme.DefaultJSONEncoder()); err != nil {
		return cmdutil.AddSourceToErr("creating", info.Source, err)
	}
	if err := c.Recorder.Record(info.Object); err != nil {
		klog.V(4).Infof("error recording current command: %v", err)
	}
	object := info.Object.(*unstructured.Unstructured)
	generated := object.GetName() == "" && object.GetGenerateName() != ""
	create := c.createNamed
	switch {
	case c.DryRunStrategy == cmdutil.DryRunClient:
		create = c.print
	case generated && c.DryRunStrategy == cmdutil.DryRunNone:
		create = c.createGenerated
	}
	if generated {
		return c.copies(info, create)
	}
	return create(info)
}

// copies creates --count objects of one document, several at a time.
func (c *creation) copies(info *resource.Info, create func(*resource.Info) error) error {
	errs := make([]error, c.count)
	var copies errgroup.Group
	copies.SetLimit(copiesInFlight)
	for i := range errs {
		copies.Go(func() error {
			duplicate := *info
			duplicate.Object = info.Object.DeepCopyObject()
			errs[i] = create(&duplicate)
			return nil
		})
	}
	_ = copies.Wait()
	return utilerrors.NewAggregate(errs)
}

// createNamed is kubectl's own create.
func (c *creation) createNamed(info *resource.Info) error {
	if c.ctx.Err() != nil {
		return c.settle(info, once.Result{Outcome: once.NotAttempted})
	}
	object, err := resource.
		NewHelper(info.Client, info.Mapping).
		DryRun(c.DryRunStrategy == cmdutil.DryRunServer).
		WithFieldManager(c.fieldManager).
		WithFieldValidation(c.ValidationDirective).
		Create(info.Namespace, true, info.Object)
	if err != nil {
		return c.settle(info, once.Result{Outcome: once.Failed, Err: explainBoth(err, info.Object.(*unstructured.Unstructured))})
	}
	stored, ok := object.(*unstructured.Unstructured)
	if !ok { // a list, say: as kubectl, print what was sent
		stored = info.Object.(*unstructured.Unstructured)
	}
	return c.settle(info, once.Result{Outcome: once.Created, Object: stored})
}

// createGenerated creates the object exactly once, under a name picked here.
func (c *creation) createGenerated(info *resource.Info) error {
	object := info.Object.(*unstructured.Unstructured)
	id := once.NewID()
	engine := once.Engine{
		Attempts:     c.attempts,
		RetryTimeout: c.retryTimeout,
		Settle:       settleTime,
		Notify:       func(n once.Notice) { c.notify(info, n) },
	}
	result := engine.Create(c.ctx, once.Object{
		GenerateName: object.GetGenerateName(),
		ID:           id,
		Server: once.NewServer(info.Client, info.Mapping, info.Namespace, object, id, metav1.CreateOptions{
			FieldManager:    c.fieldManager,
			FieldValidation: c.ValidationDirective,
		}),
	})
	c.warn(info, result)
	return c.settle(info, result)
}

func (c *creation) print(info *resource.Info) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.PrintObj(info.Object)
}

func (c *creation) notify(info *resource.Info, n once.Notice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintln(c.ErrOut, oneLine(fmt.Sprintf("%s: %v; %s", once.Reference(info.Mapping, n.Name), n.Reason, n.Action)))
}

// settle prints what the server stored, counts the result, and makes the error
// of one that failed.
func (c *creation) settle(info *resource.Info, result once.Result) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	printed := c.printStored(info, result)
	switch result.Outcome {
	case once.Created:
		c.created++
	case once.NotAttempted:
		c.notAttempted++
	case once.Failed:
		c.failed++
		return utilerrors.NewAggregate([]error{printed, cmdutil.AddSourceToErr("creating", info.Source, result.Err)})
	case once.Unknown:
		object := once.Reference(info.Mapping, result.Name)
		if info.Namespaced() {
			object += " -n " + info.Namespace
		}
		c.unknown = append(c.unknown, oneLine(fmt.Sprintf("%s: outcome unknown: %v", object, result.Err)))
	}
	return printed
}

// printStored prints the object that the server stored, if it said. One that
// cannot be printed is named in the error, for it is there.
func (c *creation) printStored(info *resource.Info, result once.Result) error {
	if result.Object == nil {
		return nil
	}
	_ = info.Refresh(result.Object, true) // as kubectl: what cannot be read off the answer stays
	if err := c.PrintObj(info.Object); err != nil {
		return fmt.Errorf("%s was created, but cannot be printed: %w", once.Reference(info.Mapping, result.Object.GetName()), err)
	}
	return nil
}

// warn says, once for each resource, where the promise is weaker than it
// should be.
func (c *creation) warn(info *resource.Info, result once.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	resource := info.Mapping.Resource.GroupResource().String()
	if result.Unmarked && result.Object != nil {
		c.warnOnce("%s come back without the annotation %s: something removes it; had an answer been lost, the object could not have been recognised", resource, once.Annotation)
	}
	if result.Unverified {
		c.warnOnce("conflicts of %s cannot be read back (needs get on %s): another name is tried on trust that no proxy repeated the request", resource, resource)
	}
}

func (c *creation) warnOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !c.warned[text] {
		c.warned[text] = true
		fmt.Fprintln(c.ErrOut, "Warning:", printable(text))
	}
}

// finish makes the command's error of what failed (err) and of what is not
// known or was not done.
func (c *creation) finish(err error) error {
	if all := utilerrors.Aggregate(nil); errors.As(err, &all) {
		err = utilerrors.Flatten(all) // copies' errors are listed as documents' are
	}
	lines := c.unknown
	if c.notAttempted > 0 {
		lines = append(lines, fmt.Sprintf("interrupted: %d created, %d failed, %d unknown, %d not attempted", c.created, c.failed, len(c.unknown), c.notAttempted))
	}
	switch {
	case len(c.unknown) > 0:
		return &exitError{code: exitUnknown, err: err, lines: lines}
	case c.notAttempted > 0:
		return &exitError{code: exitInterrupted, err: err, lines: lines}
	case err == nil && c.seen == 0:
		return errors.New("no objects passed to create")
	}
	return err
}

// explainBoth corrects the server's words for a conflict of an object with a
// name and a generateName, which say that a name could not be generated.
func explainBoth(err error, object *unstructured.Unstructured) error {
	if object.GetGenerateName() == "" || object.GetName() == "" || !apierrors.IsAlreadyExists(err) {
		return err
	}
	return once.Explain(err, " (the object has a name and a generateName: the name wins, and generateName is ignored)")
}
