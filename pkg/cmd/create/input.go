package create

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/klog/v2"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/buildinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// document is one object of the input. One with a generated name is created
// as often as --count says.
type document struct {
	*resource.Info
	object    *unstructured.Unstructured
	markable  bool // else the server will refuse it
	generated bool
	byServer  bool // the server picks the name
	copies    int

	// Guarded by creation.mu:

	refused bool // one of the copies, as the others would be
	said    bool // why one of them failed

	// In a run with a key:

	place  idempotency.Place
	digest idempotency.Digest
	first  int // number of the first copy among equal documents
}

// read starts to read the input, as kubectl create does.
func (o *options) read() (*resource.Result, error) {
	factory := o.conn.Factory
	schema, err := factory.Validator(o.ValidationDirective)
	if err != nil {
		return nil, err
	}
	namespace, enforce, err := factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	result := factory.NewBuilder().
		Unstructured().
		Schema(schema).
		ContinueOnError().
		NamespaceParam(namespace).DefaultNamespace().
		FilenameParam(enforce, &o.FilenameOptions).
		LabelSelectorParam(o.Selector).
		Flatten().
		Do()
	return result, result.Err()
}

// document prepares an object as kubectl create does.
func (c *creation) document(info *resource.Info) (*document, error) {
	if err := util.CreateOrUpdateAnnotation(c.CreateAnnotation, info.Object, scheme.DefaultJSONEncoder()); err != nil {
		return nil, cmdutil.AddSourceToErr("creating", info.Source, err)
	}
	if err := c.Recorder.Record(info.Object); err != nil {
		klog.V(4).Infof("error recording current command: %v", err)
	}
	d := &document{Info: info, object: info.Object.(*unstructured.Unstructured), copies: 1}
	d.markable = once.CanCarry(d.object)
	d.generated = d.markable && d.object.GetName() == ""
	if d.generated {
		d.copies = c.flags.count
	}
	var err error
	if d.byServer, err = c.serverNaming(d); err == nil && c.key != "" {
		err = c.number(d)
	}
	return d, err
}

// recordAsPlugin makes --record say "kubectl genname", as it was called.
func (o *options) recordAsPlugin() {
	probe := &unstructured.Unstructured{Object: map[string]any{}}
	if err := o.Recorder.Record(probe); err != nil {
		return
	}
	program, rest, _ := strings.Cut(probe.GetAnnotations()[genericclioptions.ChangeCauseAnnotation], " ")
	if len(os.Args) == 0 || program != filepath.Base(os.Args[0]) {
		return
	}
	_ = o.RecordFlags.CompleteWithChangeCause("kubectl " + buildinfo.Name + " " + rest)
	if recorder, err := o.RecordFlags.ToRecorder(); err == nil {
		o.Recorder = recorder
	}
}

// readGrace is how long reading goes on after an interrupt, so that what is
// not attempted can be counted.
const readGrace = time.Second

// flat is the errors that err is made of.
func flat(err error) []error {
	if all := utilerrors.Aggregate(nil); errors.As(err, &all) {
		return utilerrors.Flatten(all).Errors()
	}
	return errorsOf(err)
}

// errNotRead is the end of an input that an interrupt left unread.
var errNotRead = errors.New("the rest of the input was not read")

// visit calls do for one object after the other, each before the next one is
// read. Reading may hang (stdin, a URL): it does not hold up an interrupt.
func visit(ctx context.Context, objects *resource.Result, do resource.VisitorFunc) error {
	var atWork sync.Mutex // held while an object is created, and guards what follows
	var errs []error      // what do returned, in case the rest is never read
	var abandoned bool
	ended := make(chan error, 1)
	go func() {
		ended <- objects.Visit(func(info *resource.Info, err error) error {
			atWork.Lock()
			defer atWork.Unlock()
			if abandoned {
				return errNotRead
			}
			err = do(info, err)
			errs = append(errs, flat(err)...)
			return err
		})
	}()
	interrupted, patience := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case err := <-ended:
			if ctx.Err() != nil && len(errs) < len(flat(err)) { // what reading says then is the interrupt's
				return utilerrors.NewAggregate(append(errs, errNotRead))
			}
			return err
		case <-interrupted:
			interrupted, patience = nil, time.After(readGrace)
		case <-patience:
			if !atWork.TryLock() {
				patience = time.After(readGrace)
				continue
			}
			defer atWork.Unlock()
			abandoned = true
			return utilerrors.NewAggregate(append(errs, errNotRead))
		}
	}
}
