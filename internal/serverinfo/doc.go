// Package serverinfo finds out what an API server does when a generated name is
// taken: how many names it tries per create, and how that is known. It asks
// /version, /metrics and for the APIServices, changes nothing, and never guesses.
//
// The versions and what decides in each are in docs/reference/server-versions.md.
package serverinfo
