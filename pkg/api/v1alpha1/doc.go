// Package v1alpha1 is the machine-readable output of kubectl genname, the
// kinds AuditReport, CollisionReport, DuplicateReport, LintReport and VersionReport of
// genname.dev/v1alpha1.
//
// Fields are a promise to scripts: numbers are numbers, probabilities are from
// 0 to 1, and null stands for an unknown or infinite value.
package v1alpha1
