// Package analyze is the mathematics of Kubernetes metadata.generateName: how
// likely creates are to meet a name that exists, with and without retries, and
// what to expect over many of them (KEP-4420). It owns the probability model
// and nothing else: it counts no objects, reads no clock, prints nothing and
// knows no Kubernetes type. docs/internals/mathematics.md in this repository derives the
// formulas.
//
// The model: k of the N names of a name space exist. A create draws up to t of
// them, independently and uniformly, and takes the first that is free; it fails
// (a conflict) if all t are taken, which has probability (k/N)^t. A create that
// succeeds makes it k+1.
//
// Numbers of creates are integers and exact. Everything else is a float64 with a
// relative error below 1e-14 (only a Probability's Complement has one of 1e-14 +
// L*1e-15, for the hazard L), at any size that an int64 holds. The cost of a
// call grows with the logarithm of the numbers of names and creates, and with
// the number of attempts up to a bound: tenths of a millisecond at most, and some
// milliseconds for a Room or Threshold whose bound is hit to the last bit.
//
// Counts out of range are clamped: a negative number of names or creates is
// none, and more names than the space has is all of them. A float64 out of
// range, or NaN, is an error. No call panics or returns NaN.
package analyze
