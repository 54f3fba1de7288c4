package reconcile

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// Way is how a controller reads and creates objects.
type Way struct {
	Name, Title string
	// uncached: the controller lists from the server, not from the cache.
	uncached bool
	// readYourWrites: reads wait until the cache has the client's own writes.
	readYourWrites bool
	// expects: the reconcile waits until the cache has the created objects, like the
	// expectations of kube-controller-manager.
	expects bool
	create  func(p *process, ctx context.Context, owner, object *corev1.Secret) error
}

// Ways has all ways.
var Ways = []Way{
	{Name: "once", Title: "`pkg/once` with controller-runtime", create: (*process).once},
	{Name: "dynamic", Title: "`pkg/once` with the dynamic client", create: (*process).dynamic},
	{Name: "generate", Title: "`generateName` and the cache", create: (*process).generate},
	{
		Name: "read-your-writes", Title: "read-your-writes",
		readYourWrites: true, create: (*process).generate,
	},
	{Name: "expectations", Title: "expectations", expects: true, create: (*process).generate},
	{Name: "uncached", Title: "uncached list", uncached: true, create: (*process).generate},
	{
		Name: "fixed", Title: "fixed name",
		create: (*process).fixed,
	},
}

// promises reports whether the way promises one object per purpose.
func (w Way) promises() bool { return w.Name == "once" || w.Name == "dynamic" }

// once creates with oncecr.
func (p *process) once(ctx context.Context, owner, object *corev1.Secret) error {
	id, err := once.ForOwner(owner, object.Labels[purposeLabel])
	if err == nil {
		_, err = p.creator.Create(ctx, object, id)
	}
	return err
}

// dynamic creates with the dynamic client.
func (p *process) dynamic(ctx context.Context, owner, object *corev1.Secret) error {
	object.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	id, err := once.ForOwner(owner, object.Labels[purposeLabel])
	if err == nil {
		_, err = p.dynamicCreator.Create(ctx, object, id)
	}
	return err
}

// generate lets the server pick a name.
func (p *process) generate(ctx context.Context, _, object *corev1.Secret) error {
	return p.client.Create(ctx, object)
}

// fixed derives the name from the purpose, and compares the owner of an object that
// exists.
func (p *process) fixed(ctx context.Context, owner, object *corev1.Secret) error {
	object.Name, object.GenerateName = owner.Name+"-"+object.Labels[purposeLabel], ""
	err := p.client.Create(ctx, object)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := p.reader.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	if !metav1.IsControlledBy(object, owner) {
		return fmt.Errorf("the object %q has another owner", object.Name)
	}
	return nil
}
