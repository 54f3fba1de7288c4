// Package oncecr creates objects exactly once with a client of
// controller-runtime.
//
//	creator := oncecr.New(mgr.GetClient(), mgr.GetAPIReader())
//	…
//	func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
//		…
//		id, err := once.ForOwner(owner, "backup")
//		…
//		result, err := r.creator.Create(ctx, job, id) // job has generateName, and no name
//		return reconcile.Result{}, err
//	}
//
// Requests pass through the manager's client, with its interceptors, field owner
// and rate limits. The second argument of New reads without the cache. Package
// once describes IDs, results and errors.
package oncecr
