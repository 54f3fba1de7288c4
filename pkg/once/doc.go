// Package once creates objects, each exactly once: it picks the name itself,
// sends the POST, and follows the object until its outcome is certain or can no
// longer be known, and then says which. It owns these rules, what an answer of
// the server means, and the marks by which an object is known again. It never
// reads files and never prints.
//
//	creator, err := once.NewForConfig(config)
//	result, err := creator.Create(ctx, job, once.For(owner, "worker-3"))
//	if errors.Is(err, once.ErrUnknown) { … } // it may be there, under result.Name
//
// The argument why it neither loses nor duplicates an object, and what no
// client can promise, is in
// https://github.com/kubectl-genname/kubectl-genname/blob/main/docs/exactly-once.md.
package once
