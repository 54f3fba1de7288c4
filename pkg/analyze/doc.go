// Package analyze is the mathematics of Kubernetes metadata.generateName: how likely creates are to meet a name that
// exists, with and without retries, and what to expect over many of them (KEP-4420). It owns the probability model and
// nothing else: it counts no objects, reads no clock, prints nothing and knows no Kubernetes type. All results are
// float64 with a relative error below 1e-13 or exact integers, at any size an int64 holds; no call depends on the number
// of names or creates but through a logarithm. docs/mathematics.md in this repository derives the formulas.
//
// The model: k of the N names of a name space exist. A create draws up to t of them, independently and uniformly, and
// takes the first that is free; it fails (a conflict) if all t are taken, which has probability (k/N)^t. A create that
// succeeds makes it k+1.
//
// Counts out of range are clamped: a negative number of names or creates is none, and more names than the space has is
// all of them. A float64 out of range, or NaN, is an error.
package analyze
