// Package duplicates finds groups of objects that were probably meant to be one object. The objects of
// a group have the same type, namespace, effective prefix, owners and content, and were created
// shortly one after the other. The package owns the steps from the objects of a cluster to graded
// groups. It only reads, keeps no content, and prints nothing.
//
// # How it finds groups
//
// The first pass reads metadata and keeps 24 bytes for each recent object (survey.go). Objects of one
// prefix and the same owners that are close in time are candidates. The second pass reads each
// candidate, and keeps a hash of the content that its creator wrote (content.go, compare.go).
// Candidates with equal hashes are a group and get a grade (grade.go). Groups that may get a high
// grade are read again, with their owners (inspect.go).
package duplicates
