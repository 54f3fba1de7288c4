// Package census counts generated names: per resource, namespace and effective
// prefix, the names that exist. It lists metadata only and drops objects at
// once, so that its memory grows neither with the objects nor with the
// prefixes. It owns the way through the lists: which types there are, pages and
// their size, faults, and when a list is begun anew or divided. What a page says
// is read by decode, and what its objects come to is counted by spaces. It knows
// no probabilities and prints nothing.
//
// # How it counts
//
// Servers list in the order of "namespace/name". A stem, a name without its
// last five characters, can therefore be closed as soon as the names no longer
// start with it, and who made the newest of its names, and whether a client's
// own generator did, is known by then. What order cannot settle is counted in
// sweeps, further walks over the same list: prefixes that only objects of other
// names say, in one, and everything of a server that does not sort, in some.
// What they leave is among [Summary].Uncounted.
//
// # How it behaves
//
// Pages aim at a third of a second of the server's time, and are small where
// they are read from etcd (pagesize.go). Few requests are in flight, of those for
// pages of big lists fewer (turn.go). A page is pursued through throttling, errors
// and the server's absence for [Scanner].RetryTimeout, and what has been read of
// its list is not lost (walk.go). [Scanner].Estimate says what a scan would cost.
//
// # Words
//
// A list is one scope, a resource in all namespaces or in one; a walk is one
// reading of a list from its beginning to its end, page by page; a tally is what
// has been counted of one space.
//
// # What it promises
//
// The spaces of a list are handed over in a [Batch], which is committed when
// the list has been read to its end; so every space that counts is complete,
// and none counts twice. A list that fails on its way gives a [Skipped] and no
// spaces. Without faults the counts of one list are of one instant; where they
// cannot be (an expired continue token, a server that does not sort), its
// resource is among [Summary].Inconsistent. Lists of different resources are
// never of the same instant.
//
// A type too big for one list is read namespace by namespace at the
// resourceVersion of a first page, and the number of objects must come to what
// that page said; else it is read again as one list (divide.go). Objects in
// namespaces that came, went, or have no Namespace object are thus never lost.
// A namespace that cannot be read is skipped, and the others are counted.
package census
