// Package audit says what the counts of a census mean: it takes the name spaces
// that internal/census counted, puts the mathematics of pkg/analyze to them, and
// makes the AuditReport of pkg/api/v1alpha1. It talks to no cluster, reads no
// clock and prints nothing.
package audit
