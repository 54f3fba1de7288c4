// Package idempotency finds the objects that earlier runs with the same key created, so that a run
// creates only the rest. It creates nothing, never prints, and never sends the key itself. Package
// derive has the derivation of IDs and names.
package idempotency
