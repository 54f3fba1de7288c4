package create

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	kubectlcreate "k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// input reads the input in one goroutine.
type input struct {
	options *options
	ctx     context.Context // done when the user interrupts
	yield   func(*create.Document, error) bool
	flush   func() bool // see create.Session.Flush
	encoder runtime.Encoder
	// within returns an error for an object in another namespace than --namespace. within is nil if all namespaces are
	// allowed.
	within  resource.VisitorFunc
	stopped bool // no more documents are taken

	prefixes lint.Prefixes
	texts    *manifest.Texts // nil in kubectl's words

	keyed     bool // nothing is created before all is read
	asked     bool // the server's types were requested again because a type was missing
	typesCome bool // a document that brings types was handed over
}

// askAgain decides whether to request the server's types again for a missing type. Before such a request, the run
// creates the earlier documents, because one of them might add the type. The command requests the types again once, as
// kubectl does, because discovery takes longer than a create. After a document that adds types, the command requests
// them again for each missing type.
func (in *input) askAgain() bool {
	if in.asked && !in.typesCome {
		return false
	}
	in.asked = true
	in.flushAll()
	return !in.stopped
}

// files are the names of -f or -k, as messages have them.
func (o *options) files() (files []string) {
	for _, file := range o.FilenameOptions.Filenames {
		if file == "-" {
			file = "STDIN"
		}
		files = append(files, file)
	}
	if o.FilenameOptions.Kustomize != "" {
		files = append(files, o.FilenameOptions.Kustomize)
	}
	return files
}

// documents is the sequence of documents that the engine reads.
type documents = iter.Seq2[*create.Document, error]

// documents returns the documents of the input, read as kubectl create does. After a document that adds
// types, the input calls flush before it reads the next document, because reading maps and validates a document.
func (o *options) documents(ctx context.Context, flush func() bool) (documents, error) {
	factory := o.conn.Factory
	schema, err := manifest.Validator(factory, o.ValidationDirective)
	if err != nil {
		return nil, err
	}
	namespace, enforce, err := factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	o.namespace = namespace
	in := &input{
		options: o, ctx: ctx, flush: flush, encoder: scheme.DefaultJSONEncoder(), keyed: o.flags.keys.Key != "",
	}
	if !o.flags.kubectlOutput() {
		in.texts = &manifest.Texts{Warn: func(text string) { o.stderr.Line(terminal.Warningf("%s", text)) }}
	}
	if enforce { // the builder would report these errors only after all documents
		in.within = resource.RequireNamespace(namespace)
	}
	builder := resource.NewBuilder(manifest.NewTypes(factory, in.askAgain)).
		Unstructured().
		Schema(schema).
		ContinueOnError().
		NamespaceParam(namespace).DefaultNamespace()
	builder, err = o.addInput(ctx, builder, in.texts)
	if err != nil {
		return nil, err
	}
	objects := builder.
		LabelSelectorParam(o.Selector).
		Flatten().
		Do()
	return func(yield func(*create.Document, error) bool) {
		in.yield = yield
		in.visit(objects)
	}, objects.Err()
}

// awaitServer waits for a server that is unreachable, as other commands do. The requests of reading the input would
// fail at once.
func (o *options) awaitServer(ctx context.Context, config *rest.Config) error {
	if o.flags.kubectlOutput() {
		return nil
	}
	discovered, err := o.conn.Factory.ToDiscoveryClient()
	if err != nil {
		return err
	}
	wait := cluster.ServerWait{For: o.flags.retryTimeout, Print: o.stderr.Line}
	err = cluster.AwaitAny(ctx, config, wait, func() (err error) {
		if o.ValidationDirective == metav1.FieldValidationIgnore {
			_, err = discovered.ServerGroups()
		} else {
			_, err = discovered.OpenAPIV3().Paths() // the validation needs them
		}
		if err != nil {
			discovered.Invalidate()
		}
		return err
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // Session counts the unread documents
	}
	return err
}

// visit passes on the documents in order, and then the errors of reading. visit continues after an unreadable
// document, as kubectl does.
func (in *input) visit(objects *resource.Result) {
	err := objects.Visit(func(info *resource.Info, _ error) error { // the errors are returned at the end
		if in.stopped {
			return create.ErrUnread
		}
		if in.texts != nil {
			in.texts.Read(info.Source)
		}
		in.hand(in.document(info))
		return nil
	})
	if in.texts != nil && in.ctx.Err() == nil {
		in.texts.Read("")
		if err != nil {
			err = in.texts.Explain(in.ctx, err, in.options.files())
		}
	}
	if err != nil && in.ctx.Err() != nil { // here the interrupt is the cause of the error
		err = create.ErrUnread
	}
	if err != nil {
		in.hand(nil, err)
	}
}

func (in *input) hand(document *create.Document, err error) {
	if in.stopped {
		return
	}
	in.stopped = !in.yield(document, err)
	if document != nil && manifest.AddsTypes(document.Mapping) {
		in.typesCome = true
		in.flushAll()
	}
}

// flushAll waits until the documents have been created. A run with a key creates nothing before it has read them all.
func (in *input) flushAll() {
	if !in.keyed && !in.stopped {
		in.stopped = !in.flush()
	}
}

const textNothingAwaited = "the input contains no object that --wait can wait for. " +
	"Without --for, these are Jobs, Pods, and the runs of Tekton, Argo Workflows, JobSet, Kueue, Kubeflow, Ray, " +
	"Volcano and GitHub Actions."

// awaited passes on the documents from the first one on that f can follow, or that adds types. Until then, nothing is
// created. If there is no such document, it passes on the errors, and an error about --wait.
func awaited(ctx context.Context, f *follow.Follower, input documents, keyed bool) documents {
	return func(yield func(*create.Document, error) bool) {
		var held []create.Step
		holds, isEmpty, awaits, failed := true, true, false, false
		for d, err := range input {
			if err == nil && f.Awaits(d.Mapping) {
				if refused := f.Check(ctx, d.Mapping, d.Namespace, d.Object); refused != "" {
					d, err = nil, ownError(refused)
				}
				awaits = awaits || err == nil
			}
			holds = holds && !awaits && (err != nil || keyed || !manifest.AddsTypes(d.Mapping))
			isEmpty, failed = isEmpty && err != nil, failed || err != nil
			held = append(held, create.Step{Document: d, Err: err})
			for !holds && len(held) > 0 {
				if !yield(held[0].Document, held[0].Err) {
					return
				}
				held = held[1:]
			}
		}
		for _, s := range held {
			if s.Err != nil && !yield(nil, s.Err) {
				return
			}
		}
		switch {
		case ctx.Err() != nil:
		case holds && !isEmpty:
			yield(nil, ownError("nothing was created, because "+textNothingAwaited))
		case !holds && !awaits && !failed:
			yield(nil, ownError(textNothingAwaited))
		}
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
	if in.options.flags.kubectlOutput() {
		return
	}
	for _, found := range in.prefixes.Errors(object) {
		in.options.stderr.Line(terminal.Warningf("%s", fmt.Sprintf("%s: %s. To fix this, %s (lint rule %s).",
			reference.Name(mapping, object.GetGenerateName()), found.Message, found.Help, found.Rule.Name)))
	}
}

// runInfix follows the name of the CronJob in the generateName of its Jobs. A name that is derived from a key has 53
// bytes of the generateName, so it contains the whole name of the CronJob, which has at most 52 bytes.
const runInfix = "-run-"

// addInput gives the builder the files, or the Job of --from.
func (o *options) addInput(
	ctx context.Context, b *resource.Builder, texts *manifest.Texts,
) (*resource.Builder, error) {
	if o.flags.from == "" {
		if texts == nil {
			return manifest.FilenameParam(ctx, b, false, &o.FilenameOptions)
		}
		return texts.FilenameParam(ctx, b, o.In, &o.FilenameOptions)
	}
	job, err := o.jobFrom(ctx, fromPattern.FindStringSubmatch(o.flags.from)[1])
	if err != nil {
		return nil, err
	}
	if o.flags.keys.Key != "" {
		o.stderr.Line(terminal.Warningf("the history limits of %s delete its finished Jobs, also those of --from. "+
			"If they have deleted the Job, a later run with this key creates it again.", o.flags.from))
	}
	return b.FilenameParam(false, &resource.FilenameOptions{}).Stream(bytes.NewReader(job), o.flags.from), nil
}

// jobFrom returns the Job that "kubectl create job --from" would create, but with a generateName. jobFrom uses a
// client dry run of kubectl's own command, which sends only the GET of the CronJob.
func (o *options) jobFrom(ctx context.Context, cronJob string) (encoded []byte, err error) {
	kubectls := kubectlcreate.CreateJobOptions{
		From: "cronjobs.v1.batch/" + cronJob, Builder: o.conn.Factory.NewBuilder(),
		Namespace: o.namespace, EnforceNamespace: true, DryRunStrategy: cmdutil.DryRunClient,
		PrintObj: func(object runtime.Object) error {
			object.(*batchv1.Job).GenerateName = cronJob + runInfix
			encoded, err = runtime.Encode(scheme.DefaultJSONEncoder(), object)
			return err
		},
	}
	err = kubectls.Run()
	switch {
	case lacksNamespace(err):
		err = o.suggestNamespace(ctx, err)
	case apierrors.IsNotFound(err):
		err = apistatus.Explain(err, fmt.Sprintf(".\nTo list the CronJobs:\n  kubectl get %s",
			reference.In("cronjobs", o.namespace)))
	}
	return encoded, err
}
