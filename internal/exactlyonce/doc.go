// Package exactlyonce creates objects, each exactly once: it picks the name itself,
// sends the POST, and follows the object until its outcome is certain or can no
// longer be known, and then says which. It owns these rules, what an answer of
// the server means, and the marks by which an object is known again. It never
// reads files and never prints.
//
//	creator, err := once.NewForConfig(config, once.WithScheme(scheme.Scheme)) // one in a process
//
//	result, err := creator.Create(ctx, job, once.For(owner, "worker-3"))
//	if err != nil {
//		return err // and reconcile again: under the same ID that makes no second one
//	}
//	err = result.Into(job) // what the server has
//
// A controller needs For; what has no owner in the cluster FromKey, or NewID if
// no other process is to find it. Derived, Untracked, RunLabel, ID.Stamp,
// CanCarry and WithMapping are what kubectl genname needs beside these.
//
// docs/internals/create-protocol.md has the argument why it neither loses nor
// duplicates an object, and the limits of any client. Controllers use pkg/once.
package exactlyonce
