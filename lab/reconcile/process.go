package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncecr"
)

const (
	ownerName    = "owner"
	purposeLabel = "purpose"
	// inFlight is the number of creates that a reconcile has in flight.
	inFlight = 8
	// pause is the time from one reconcile to the next one.
	pause = 200 * time.Millisecond
)

// task is the task of a process.
type task struct {
	Way, Kubeconfig, Namespace string
	Purposes, Rounds           int
}

// taskVariable is the environment variable with the task of a process, in JSON.
const taskVariable = "GENNAME_RECONCILE"

// Process runs the controller, if this program was started as one, and then never returns. TestMain calls it first.
func Process() {
	text := os.Getenv(taskVariable)
	if text == "" {
		return
	}
	if err := run(signals.SetupSignalHandler(), text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is a controller.
type process struct {
	task
	client client.Client // reads from the cache
	rounds int

	creator        *oncecr.Creator
	dynamicCreator *once.Creator
}

func run(ctx context.Context, text string) error {
	p := &process{}
	if err := json.Unmarshal([]byte(text), &p.task); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	log.SetLogger(logr.Discard())
	mgr, err := manager.New(config, manager.Options{
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{p.Namespace: {}}},
	})
	if err != nil {
		return err
	}
	p.client = mgr.GetClient()
	p.creator = oncecr.New(mgr.GetClient(), mgr.GetAPIReader())
	dynamicClient, err := dynamic.NewForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return err
	}
	p.dynamicCreator = once.New(once.Dynamic(dynamicClient, mgr.GetRESTMapper()))
	isOwner := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() == ownerName })
	err = builder.ControllerManagedBy(mgr).
		For(&corev1.Secret{}, builder.WithPredicates(isOwner)).
		WithOptions(controller.Options{RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
			10*time.Millisecond, time.Second)}).
		Complete(p)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// Reconcile creates the missing objects, and prints the number of failed purposes on stdout for the trial. Reconcile
// requeues the request until the process has done its rounds.
func (p *process) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	again := reconcile.Result{RequeueAfter: pause}
	owner := &corev1.Secret{}
	if err := p.client.Get(ctx, req.NamespacedName, owner); err != nil || p.rounds >= p.Rounds {
		return reconcile.Result{}, err
	}
	there, err := p.there(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	errs := make([]error, p.Purposes)
	var group errgroup.Group
	group.SetLimit(inFlight)
	for i := range p.Purposes {
		if purpose := strconv.Itoa(i); !there.Has(purpose) {
			group.Go(func() error {
				errs[i] = p.createFor(ctx, owner, purpose)
				return nil
			})
		}
	}
	_ = group.Wait()
	failed := 0
	for _, err := range errs {
		if err != nil {
			failed++
		}
	}
	if failed == 0 {
		p.rounds++
	}
	fmt.Println(failed)
	return again, errors.Join(errs...)
}

// there returns the purposes that have an object in the cache.
func (p *process) there(ctx context.Context) (sets.Set[string], error) {
	var list corev1.SecretList
	err := p.client.List(ctx, &list, client.InNamespace(p.Namespace), client.HasLabels{purposeLabel})
	purposes := sets.New[string]()
	for _, object := range list.Items {
		purposes.Insert(object.Labels[purposeLabel])
	}
	return purposes, err
}

func (p *process) createFor(ctx context.Context, owner *corev1.Secret, purpose string) error {
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		GenerateName: owner.Name + "-", Namespace: owner.Namespace, Labels: map[string]string{purposeLabel: purpose},
	}}
	if err := controllerutil.SetControllerReference(owner, object, p.client.Scheme()); err != nil {
		return err
	}
	return ways[p.Way](p, ctx, owner, object)
}
