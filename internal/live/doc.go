// Package live keeps a census true while the cluster changes: it counts once, by
// internal/census, and goes on from the state of each list with a watch of
// metadata. It owns what an event means for a count, the rates, and what happens
// when a watch breaks. It knows no terminal, no probabilities but a chance that its
// user says, and prints nothing.
//
// # What is kept
//
// Of each name space of at least MinCount names a counter: names, creates and
// deletes since it is counted, and decaying rates. All names, in whatever space, are
// in a Count-Min sketch of their type (sketch.go), which never says too few. So the
// memory grows with the spaces that are shown, not with objects or prefixes. A space
// that may have reached MinCount by the sketch is looked up in a list of its
// namespace, and exact from then on (passage.go): what names mean is the census's
// alone, and the same before and after.
//
// # What it promises
//
// Names are those of a census at the state that the watch has reached. A watch that
// breaks is resumed from the last resourceVersion, and loses nothing. Where the
// server does not know what came after that, or is at an earlier state, the type is
// counted again: names are right then, creates and deletes are lower bounds, and the
// gap is told (gap.go). Types that cannot be watched are counted again and again, have
// names but no rates of their own, and are tried again. Types that are removed leave.
//
// Types without prefixes are only asked for their number of objects (quiet.go).
package live
