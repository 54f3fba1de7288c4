// Package once creates objects for controllers, each exactly once, on the
// Kubernetes client that the controller already has.
//
// A create can be repeated safely if its object has one name that follows from
// an ID. The Creator sends a POST. If the name exists, it reads the object from
// the server and compares the ID.
//
//	id, err := once.ForOwner(owner, "worker-3")
//	creator := once.New(once.Dynamic(client, mapper)) // controller-runtime: package oncecr
//	result, err := creator.Create(ctx, job, id)       // job has generateName, and no name
//
// If Create returns an error, return it and reconcile again. A later call with
// the same ID finds the object or creates it, in this process or in another one.
// Only [IsPermanent] errors need another reaction: return reconcile.TerminalError.
//
// Set the owner as the controller of the object. Create then finds its object even if a webhook removed the
// annotations, and returns [ErrNotControlled] for an object of another owner.
//
// Cost: one POST. Create sends a GET only after a conflict, a refusal or a lost response, and for each former secret.
// It never lists and needs no cache.
//
// Don't use this package for an object with a fixed name: server-side apply is as
// safe, and simpler. After the object was deleted, the next call creates it
// again. This includes a Job with ttlSecondsAfterFinished, so record in the
// status of its owner that it has finished.
//
// Trust: without a secret, a user who can create objects of the type and read the
// owner can create the object first, with its owner and digest. Create then returns
// Found with the other user's content. [WithSecret] prevents this, unless a former secret
// is [NoSecret] or known to that user. An object that
// was deleted can be created again by anyone who read it, also with a secret. An ID
// that callers store contains no secret.
//
// The ServiceAccount needs the permissions create and get on the type. The guide is
// https://github.com/kubectl-genname/kubectl-genname/blob/main/docs/guides/controllers.md.
package once
