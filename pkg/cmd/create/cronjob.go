package create

import (
	"bytes"
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"
	kubectlcreate "k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// runInfix follows the name of the CronJob in the generateName of its Jobs. A CronJob's name has at most
// 52 bytes, so the generateName has at most 57, and a generated name contains all of them.
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
	job, err := o.jobFrom(fromPattern.FindStringSubmatch(o.flags.from)[1])
	if err != nil {
		return nil, err
	}
	if o.flags.keys.Key != "" {
		o.voice.Line(terminal.Warningf("the history limits of %s delete its finished Jobs, also those of --from. "+
			"If they have deleted the Job, a later run with this key creates it again.", o.flags.from))
	}
	return b.FilenameParam(false, &resource.FilenameOptions{}).Stream(bytes.NewReader(job), o.flags.from), nil
}

// jobFrom returns the Job that "kubectl create job --from" would create, but with a generateName. jobFrom uses a
// client dry run of kubectl's own command, which sends only the GET of the CronJob.
func (o *options) jobFrom(cronJob string) (encoded []byte, err error) {
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
	if apierrors.IsNotFound(err) {
		return nil, apistatus.Explain(err, fmt.Sprintf(".\nTo list the CronJobs:\n  kubectl get %s",
			reference.In("cronjobs", o.namespace)))
	}
	return encoded, err
}
