// Package duplicates finds groups of objects that were probably meant to be one:
// of one type, namespace, effective prefix, owner and content, created shortly one
// after the other. It owns the way from the objects of a cluster to graded groups. It
// only reads, keeps no content, and prints nothing.
//
// # How it finds them
//
// One pass over metadata keeps 24 bytes for each object that was created recently
// (survey.go), and leaves the candidates: those of one prefix and one owner that are
// close in time. A second pass reads the candidates, whole and one at a time, and keeps
// a hash of what their creator said (content.go, compare.go). Groups of equal hashes
// get a grade (grade.go). Pairs that may get a high one are read again, with their
// owners (inspect.go).
package duplicates
