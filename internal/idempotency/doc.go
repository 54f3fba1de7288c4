// Package idempotency makes a run of creates repeatable. From the user's key it derives the
// creation IDs of all objects of the run. It finds the objects that earlier runs with the same key
// created, so that a run creates only the rest. It owns the derivation (key.go) and the listing
// (find.go). It creates nothing, never prints, and never sends the key itself.
package idempotency
