// Package create is the run of creates: it takes documents from an iterator and
// reports as events what becomes of each of their objects. Reading runs ahead of
// the creates, and copies and neighboring documents overlap as far as the
// order allows. It owns that order, when it is of no use to go on, who picks the
// names, which ID an object is created under, and what a run with a key finds
// there already; how one object is created once is in pkg/once. It knows no
// flags and no streams, and needs no lock: all it keeps is touched by the
// goroutine that takes the events.
package create
