// Package create is the run of creates. It takes documents from an iterator, and reports the outcome
// of each object as an event. Reading runs ahead of the creates. Copies and neighboring documents
// overlap as far as the order allows. The package owns this order, the circuit breakers, the choice
// between client and server naming, and the creation IDs. It also compares a run with a key with the
// objects of earlier runs. pkg/once creates a single object once. The package knows no flags and no
// streams. It needs no lock, because only the goroutine that takes the events accesses the state of a
// run.
package create
