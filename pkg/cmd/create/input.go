package create

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/klog/v2"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/buildinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// input is the input while it is read, by one goroutine.
type input struct {
	options *options
	ctx     context.Context // done when the user interrupts
	yield   func(create.Item, error) bool
	encoder runtime.Encoder
	// within returns an error for an object in another namespace than --namespace. It is nil if all
	// namespaces are allowed.
	within  resource.VisitorFunc
	stopped bool // no more documents are taken

	prefixes lint.Prefixes

	typesCome    bool // by a document that was handed over
	typesMayCome bool // by a document that may not have been created yet
	changed      bool // something was created, and no type was checked again since
}

// documents starts to read the input, as kubectl create does, and returns its documents.
func (o *options) documents(ctx context.Context) (iter.Seq2[create.Item, error], error) {
	factory := o.conn.Factory
	schema, err := o.validator()
	if err != nil {
		return nil, err
	}
	namespace, enforce, err := factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	o.namespace = namespace
	in := &input{options: o, ctx: ctx, encoder: scheme.DefaultJSONEncoder()}
	if enforce { // the builder's own check has its errors after those of all documents
		in.within = resource.RequireNamespace(namespace)
	}
	builder := resource.NewBuilder(newWaitingTypes(factory, in)).
		Unstructured().
		Schema(&waitingValidator{schema, in}).
		ContinueOnError().
		NamespaceParam(namespace).DefaultNamespace()
	builder, err = o.addInput(ctx, builder)
	if err != nil {
		return nil, err
	}
	objects := builder.
		LabelSelectorParam(o.Selector).
		Flatten().
		Do()
	return func(yield func(create.Item, error) bool) {
		in.yield = yield
		in.visit(objects)
	}, objects.Err()
}

// visit hands over the documents in order, and the read errors at the end. It continues after an
// unreadable document, as kubectl does.
func (in *input) visit(objects *resource.Result) {
	err := objects.Visit(func(info *resource.Info, _ error) error { // the errors come at the end
		if in.stopped {
			return create.ErrUnread
		}
		document, err := in.document(info)
		if bringsTypes[info.Mapping.GroupVersionKind.GroupKind()] {
			in.typesCome, in.typesMayCome = true, true
		}
		in.hand(create.Item{Document: document}, err)
		return nil
	})
	if err != nil && in.ctx.Err() != nil { // the error then comes from the interrupt
		err = create.ErrUnread
	}
	if err != nil {
		in.hand(create.Item{}, err)
	}
}

func (in *input) hand(item create.Item, err error) {
	if !in.stopped {
		in.stopped = !in.yield(item, err)
	}
}

// waitForOthers waits until all documents that were handed over have been
// created, and reports whether any was since it was last called.
func (in *input) waitForOthers() bool {
	reached := make(chan bool, 1)
	in.hand(create.Item{Reached: func(changed bool) { reached <- changed }}, nil)
	if in.stopped {
		return false
	}
	select {
	case changed := <-reached:
		changed, in.changed = changed || in.changed, false
		return changed
	case <-in.ctx.Done():
		return false
	}
}

// document prepares an object as kubectl create does.
func (in *input) document(info *resource.Info) (*create.Document, error) {
	if in.within != nil {
		if err := in.within(info, nil); err != nil {
			return nil, err
		}
	}
	if err := util.CreateOrUpdateAnnotation(in.options.CreateAnnotation, info.Object, in.encoder); err != nil {
		return nil, cmdutil.AddSourceToErr("creating", info.Source, err)
	}
	if err := in.options.Recorder.Record(info.Object); err != nil {
		klog.V(4).Infof("error recording current command: %v", err)
	}
	object := info.Object.(*unstructured.Unstructured)
	in.warnOfPrefix(object, info.Mapping)
	return &create.Document{
		Object: object, Mapping: info.Mapping, Namespace: info.Namespace, Source: info.Source,
	}, nil
}

// warnOfPrefix warns of the errors that lint finds in a generateName, once for each.
func (in *input) warnOfPrefix(object *unstructured.Unstructured, mapping *meta.RESTMapping) {
	if in.options.flags.kubectlsWords() {
		return
	}
	for _, found := range in.prefixes.Errors(object) {
		in.options.printLine(messages.Warning + terminal.OneLine(fmt.Sprintf(messages.BadPrefix,
			reference.Name(mapping, object.GetGenerateName()), found.Message, found.Help, found.Rule.Name)))
	}
}

// recordAsPlugin makes --record write "kubectl genname". kubectl's recorder has the command line
// from os.Args, so recordAsPlugin checks that.
func (o *options) recordAsPlugin() {
	recorded := &unstructured.Unstructured{Object: map[string]any{}}
	if err := o.Recorder.Record(recorded); err != nil {
		return
	}
	program, rest, _ := strings.Cut(recorded.GetAnnotations()[genericclioptions.ChangeCauseAnnotation], " ")
	if len(os.Args) == 0 || program != filepath.Base(os.Args[0]) {
		return
	}
	_ = o.RecordFlags.CompleteWithChangeCause("kubectl " + buildinfo.Name + " " + rest)
	if recorder, err := o.RecordFlags.ToRecorder(); err == nil {
		o.Recorder = recorder
	}
}
