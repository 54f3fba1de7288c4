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
// Numbers of creates are integers and exact. Everything else is a float64 with a relative error
// below 1e-14, at any size that an int64 holds. Only a Probability's Complement has an error of
// 1e-14 + L*1e-15, for the hazard L. The cost of a call grows with the logarithm of the numbers of
// names and creates, and with the number of attempts up to a bound. It is tenths of a millisecond
// at most, and some milliseconds for a Room or Threshold whose bound is hit to the last bit.
//
// Counts out of range are clamped. A negative number of names or creates counts as 0, and more
// names than the pool has as all of them. A float64 out of range, or NaN, is an error. No call
// panics or returns NaN.
package analyze
