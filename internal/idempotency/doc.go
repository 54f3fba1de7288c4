// Package idempotency makes a run of creates repeatable. From a key that the user
// gives it derives the creation ids of all objects of the run, and it finds
// what earlier runs with the same key have created, so that only the rest is
// created. It owns the derivation (key.go) and the listing (find.go). It creates
// nothing and never prints, and the key itself goes nowhere.
package idempotency
