// Package report calculates the probabilities for further creates. It applies the mathematics of
// pkg/analyze to populations of names, under each retry policy, and returns the CollisionReport of
// pkg/api/v1alpha1. It sends no request, reads no clock and prints nothing.
package report
