// Package reconcile runs controllers that create objects for many purposes of an owner, on a real API server. The
// package injects faults. Caches lag, responses are lost, processes are killed, two leaders run, and other clients
// take names. In the end it counts the objects. A Scenario is a set of faults. A controller creates with pkg/once or
// with generateName and the cache. Each controller is a process (process.go) behind its own proxy (instance.go).
package reconcile

import (
	"context"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// ways are the ways to create an object, by name.
var ways = map[string]func(p *process, ctx context.Context, owner, object *corev1.Secret) error{
	"once": (*process).once, "dynamic": (*process).dynamic, "generate": (*process).generate,
}

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

// A Scenario is a set of faults.
type Scenario struct {
	// Rate is the share of requests for the objects that get a fault.
	Rate float64
	// Behind: the cache of a process sees no new object after the first create, until the process has reconciled
	// twice or sends no more creates.
	Behind bool
	// Kills is how many processes are killed after the server has stored an object and before they receive the
	// response.
	Kills int
	// Leaders is how many processes reconcile at the same time.
	Leaders int
	// OtherClients: other clients take names that are sent, and free them a moment later.
	OtherClients bool
	// Rounds is how often each process reconciles without an error.
	Rounds int
}

// scenarios has all scenarios by name. "all" is the worst one.
var scenarios = map[string]Scenario{
	"calm":   {Leaders: 1, Rounds: 1},
	"behind": {Leaders: 1, Rounds: 3, Behind: true},
	"all":    {Leaders: 2, Rounds: 3, Rate: 0.25, Behind: true, Kills: 5, OtherClients: true},
}

// landLate is a load balancer that gives up on a request, which the server then carries out.
var landLate = faultproxy.NamedFault{
	Name:    "504, and carried out after that",
	Fault:   faultproxy.RefuseSecondEarly(http.StatusGatewayTimeout, "upstream request timeout", 300*time.Millisecond),
	Carried: true, WritesOnly: true,
}

// faults are the faults of the proxy, without the one that waits until a client gives up: client-go has no timeout.
func faults() []faultproxy.NamedFault {
	return append(faultproxy.FaultsBut("carried out after the deadline"), landLate)
}
