// Package assess says what counts of generated names mean: it puts the
// mathematics of pkg/analyze to the populations that internal/census counted, and
// makes the reports of pkg/api. It is pure: no cluster, no clock, no printing.
package assess
