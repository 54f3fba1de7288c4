package oncecontroller

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// Creator creates objects of owners, each exactly once. It may be used by
// several goroutines.
type Creator struct {
	creator *once.Creator
	scheme  *runtime.Scheme
	options []once.Option
}

// retryTimeout is shorter than that of pkg/once, because the work queue tries
// again, and others wait for the worker.
const retryTimeout = 10 * time.Second

// New returns a Creator for the cluster of a manager. Of that it takes the
// configuration, the scheme and the mapper: its requests share the connections
// of the manager's client, but they pass by the client, and by its cache. So
// what the client is told of field owners, field validation and dry runs is told
// here by once.WithCreateOptions, and an HTTP client that the manager was given
// (cluster.Options.HTTPClient) is not used. Objects are read whole, also with
// once.WithBriefObjects. Creates are followed for 10 s unless
// once.WithRetryTimeout says otherwise, and once.WithEvents takes the place of
// the log and of the counter of retries.
//
// A fake client is refused, and so is one of dry runs.
func New(c cluster.Cluster, options ...once.Option) (*Creator, error) {
	if err := check(reflect.ValueOf(c.GetClient()), map[pointer]bool{}); err != nil {
		return nil, err
	}
	config := c.GetConfig()
	if config.WarningHandler == nil && config.WarningHandlerWithContext == nil { // as the manager's client has it
		config = rest.CopyConfig(config)
		config.WarningHandlerWithContext = log.NewKubeAPIWarningLogger(log.KubeAPIWarningLoggerOptions{})
	}
	defaults := []once.Option{
		once.WithScheme(c.GetScheme()), once.WithMapper(c.GetRESTMapper()), once.WithRetryTimeout(retryTimeout),
	}
	options = append(slices.Clip(options), once.WithWholeObjects())
	creator, err := once.NewForConfig(config, append(defaults, options...)...)
	if err != nil {
		return nil, err
	}
	return &Creator{creator: creator, scheme: c.GetScheme(), options: options}, nil
}

// Create creates object for a purpose of owner (see once.For), and makes it
// what the server has, as client.Client does. An object without an error is on
// the server, once: Result.Outcome says whether it was there before. With an
// error object stays as it is, and Result.Object is what was found, if anything.
//
// Create sets no owner reference (controllerutil.SetControllerReference does).
// owner may come from the cache: all that counts is its UID.
func (c *Creator) Create(
	ctx context.Context, owner client.Object, purpose string, object client.Object,
) (once.Result, error) {
	kind, err := apiutil.GVKForObject(object, c.scheme)
	if err != nil {
		return once.Result{}, err
	}
	if owner.GetUID() == "" {
		return once.Result{}, fmt.Errorf("the owner %q has no UID: it does not come from a server", owner.GetName())
	}
	events := once.WithEvents(func(e once.Event) {
		retries.WithLabelValues(kind.GroupKind().String(), string(e.Action)).Inc()
		log.FromContext(ctx).V(1).Info("Retrying create", "kind", kind.Kind, "purpose", purpose,
			"name", e.Name, "reason", e.Reason.Error(), "action", e.What())
	})
	options := append([]once.Option{events}, c.options...)
	result, err := c.creator.Create(ctx, object, once.For(owner, purpose), options...)
	creates.WithLabelValues(kind.GroupKind().String(), outcomeOf(result, err)).Inc()
	if err != nil {
		return result, fmt.Errorf("create %s %q of %s: %w", kind.Kind, purpose, client.ObjectKeyFromObject(owner), err)
	}
	return result, result.Into(object)
}

// What controller-runtime calls the clients that create nothing.
var (
	fakes   = reflect.TypeFor[client.Client]().PkgPath() + "/fake"
	dryRuns = reflect.TypeOf(client.NewDryRunClient(nil)).Elem()
	readers = reflect.TypeFor[client.Reader]()
)

var (
	errFake = errors.New("a fake client cannot tell whether an object is created exactly once: it loses no answers " +
		"and repeats no requests; in a test, use envtest, or cluster.New with the Config of an oncetest.Server")
	errDryRun = errors.New("the client makes dry runs only, and what is created here does not pass through it: " +
		"use a client that creates, and once.WithCreateOptions for a dry run")
)

// pointer is a pointer that was followed.
type pointer struct {
	to      reflect.Type
	address uintptr
}

// check returns why the client, or one that it wraps, creates nothing. What was
// seen is not looked into again: a client may point back to who wraps it.
func check(c reflect.Value, seen map[pointer]bool) error {
	for c.Kind() == reflect.Interface || c.Kind() == reflect.Pointer {
		if c.Kind() == reflect.Pointer {
			p := pointer{c.Type(), c.Pointer()}
			if seen[p] {
				return nil
			}
			seen[p] = true
		}
		c = c.Elem()
	}
	switch {
	case c.Kind() != reflect.Struct:
		return nil
	case c.Type().PkgPath() == fakes:
		return errFake
	case c.Type() == dryRuns:
		return errDryRun
	}
	for _, field := range c.Fields() {
		if !field.Type().Implements(readers) {
			continue
		}
		if err := check(field, seen); err != nil {
			return err
		}
	}
	return nil
}
