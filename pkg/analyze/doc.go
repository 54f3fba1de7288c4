// Package analyze is the mathematics of Kubernetes metadata.generateName. It calculates the
// probability that creates meet a name that exists, with and without retries, and the expectation
// over many creates (KEP-4420). It owns the probability model and nothing else. It counts no
// objects, reads no clock, prints nothing and knows no Kubernetes type.
// docs/internals/mathematics.md in this repository derives the formulas.
//
// The model: k of the N names of a name pool exist. A create draws up to t of them, independently
// and uniformly, and takes the first free one. It fails if all t are taken, with
// probability (k/N)^t. A create that succeeds makes it k+1.
//
// Results have a relative error below 1e-9, at any size that an int64 holds. A probability keeps
// its logarithm where it is below the range of a float64. The cost of a call grows with the
// logarithm of the numbers of names and creates, and with the number of attempts up to a bound.
//
// Counts out of range are clamped. A negative number of names or creates counts as 0, and more
// names than the pool has as all of them. A float64 out of range, or NaN, is an error. No call
// panics or returns NaN.
package analyze
