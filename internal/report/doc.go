// Package report says what to expect of further creates: it puts the mathematics
// of pkg/analyze to populations of names, under each policy for a conflict, and
// makes the CollisionReport of pkg/api/v1alpha1. It talks to no cluster, reads
// no clock and prints nothing.
package report
