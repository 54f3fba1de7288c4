// Package audit makes the AuditReport of pkg/api/v1alpha1: it takes the name pools that
// internal/census or internal/live counted, and adds the mathematics of pkg/analyze. It talks
// to no cluster, reads no clock and prints nothing.
package audit
