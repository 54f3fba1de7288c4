// Package census reads the objects of a cluster, and counts their names by resource, namespace and
// effective prefix. It lists metadata only and drops objects at once, so that its memory does not grow
// with the objects. It owns the resource types, the pages and their size, faults, and the decision to
// list again or to divide a list. Package decode reads pages, and package pools counts their objects.
// It knows no probabilities and prints nothing.
//
// # Load on the server
//
// A page aims at a third of a second of the server's time, and is small if the server reads
// it from etcd (pagesize.go). Few requests are in flight, and fewer for pages of big lists
// (turn.go). A page is retried for [Scanner].RetryTimeout, and the pages before it are kept
// (walk.go). [Scanner].Estimate returns the cost of a scan.
//
// # Words
//
// A list is one scope: a resource in all namespaces or in one. A walk reads a list once, page
// by page.
//
// # Guarantees
//
// The objects of a list go to a [Visitor], which is committed when the list has been read to its
// end. So every name pool that counts is complete, and no object counts twice. A list that fails
// gives a [Skipped], and its visitor is never committed. Without faults the counts of one list
// are consistent. If they can't be, because a continue token expired or a server doesn't
// sort, its resource is among [Summary].Inconsistent. Lists of different resources are never
// of the same state.
//
// A type that is too big for one list is read namespace by namespace at the resourceVersion
// of a first page. The number of objects must be that of the first page, or the type is read
// again as one list (divide.go). So no object is lost whose namespace was created or deleted
// meanwhile, or has no Namespace object. A namespace that can't be read is skipped, and the
// others are counted.
package census
