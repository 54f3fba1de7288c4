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

// Way is how a controller creates what it does not see: what it looks at first,
// and what it sends.
type Way struct {
	Name, Title string
	// uncached: it lists from the server, and not from the cache.
	uncached bool
	// readYourWrites: the client waits until the cache has what it has written.
	readYourWrites bool
	// expects: nothing is done until the cache has what was created, as with the
	// expectations of kube-controller-manager.
	expects bool
	create  func(p *process, ctx context.Context, owner, object *corev1.Secret) error
}

// Ways are all of them.
var Ways = []Way{
	{Name: "once", Title: "`pkg/once`", create: (*process).once},
	{Name: "generate", Title: "`generateName`, if the cache has none", create: (*process).generate},
	{
		Name: "read-your-writes", Title: "the same, by controller-runtime's read-your-writes client",
		readYourWrites: true, create: (*process).generate,
	},
	{Name: "expectations", Title: "the same, with expectations", expects: true, create: (*process).generate},
	{Name: "uncached", Title: "`generateName`, if an uncached list has none", uncached: true, create: (*process).generate},
	{
		Name: "fixed", Title: "a fixed name, and on a conflict an uncached read that compares the owner",
		create: (*process).fixed,
	},
}

// once needs to know nothing else.
func (p *process) once(ctx context.Context, owner, object *corev1.Secret) error {
	id, err := once.ForOwner(owner, object.Labels[purposeLabel])
	if err != nil {
		return err
	}
	_, err = p.creator.Create(ctx, object, id)
	return err
}

// generate has the server pick a name.
func (p *process) generate(ctx context.Context, _, object *corev1.Secret) error {
	return p.client.Create(ctx, object)
}

// fixed derives the name from the purpose, and does not take anybody's object
// for the owner's.
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
		return fmt.Errorf("the name %q is another's", object.Name)
	}
	return nil
}
