// Package once creates one object exactly once: it picks the name itself,
// sends the POST, and pursues the object until its outcome is certain or can
// no longer be known, and then says which. It owns the rules (table.go), what
// an answer of the server means (answer.go), and the mark by which an object
// is recognised (identity.go). It never reads files and never prints.
//
// The argument why it neither loses nor duplicates an object, and what no
// client can promise, is in docs/exactly-once.md.
package once
