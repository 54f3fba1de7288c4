// Package create is the run of creates. Its Session takes batches of documents, and reports the outcome
// of each object as an event. Reading runs ahead of the creates. Copies and neighboring documents
// overlap as far as the order allows. The package owns this order, the requests, the circuit breakers, the
// choice between client and server naming, and the creation IDs. It also compares a run with a key with the
// objects of earlier runs, and sums up the outcomes. pkg/once creates a single object once. The package
// knows no flags and no streams.
package create
