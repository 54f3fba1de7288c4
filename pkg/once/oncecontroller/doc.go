// Package oncecontroller is pkg/once for controllers that are written with
// controller-runtime: it creates what an owner has for a purpose exactly once,
// however stale the manager's cache is, and whatever becomes of an answer, of
// the process or of the lease of its leader.
//
//	creator, err := oncecontroller.New(mgr)
//	…
//	func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
//		…
//		job := … // with generateName, like "demo-"
//		_, err := r.creator.Create(ctx, owner, "backup", job)
//		return reconcile.Result{}, err
//	}
//
// Any error may be returned to the work queue: the next reconcile goes on where
// this one ended, in whichever process. errors.Is knows those of pkg/once.
//
// The manager's registry has what has become of creates
// (genname_once_creates_total, by kind and outcome) and what went wrong on the
// way (genname_once_retries_total, by kind and action). The latter is logged,
// too, at V(1), by the logger of the reconcile.
//
// In a test, use a real API server (envtest), or that of package oncetest:
//
//	server := oncetest.NewServer()
//	c, err := cluster.New(server.Config())
//	creator, err := oncecontroller.New(c)
//
// controller-runtime's fake client is refused. What is at stake here are lost
// answers, repeated requests and names that are taken, of which it knows none.
package oncecontroller
