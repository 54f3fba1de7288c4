// Package census counts the generated names that exist, by resource, namespace and effective
// prefix. It lists metadata only and drops objects at once, so that its memory grows neither
// with the objects nor with the prefixes. It owns the resource types, the pages and their
// size, faults, and the decision to list again or to divide a list. Package decode reads
// pages, and package namepools counts their objects. It knows no probabilities and prints
// nothing.
//
// # How it counts
//
// Servers list in the order of "namespace/name". A stem is a name without its last five characters. It
// is complete as soon as names no longer start with it. The creator of its newest name is known by
// then, and so is whether a client generated its names. Other prefixes are counted in sweeps, which
// are further walks over the same list. One sweep counts the prefixes that only objects with other
// names have as generateName. A server that doesn't sort needs several. Objects that no sweep has
// counted are among [Summary].Uncounted.
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
// by page. A tally is the count of one name pool.
//
// # Guarantees
//
// The name pools of a list are handed over in a [Batch], which is committed when the list has
// been read to its end. So every name pool that counts is complete, and none counts twice. A
// list that fails gives a [Skipped] and no name pools. Without faults the counts of one list
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
