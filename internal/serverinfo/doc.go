// Package serverinfo finds out how many names an API server tries per create, and the source of
// that number. It requests /version, /metrics and the APIServices. It changes nothing, and never
// guesses.
//
// docs/reference/server-versions.md lists the versions, and the source of the number in each.
package serverinfo
