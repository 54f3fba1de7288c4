// Package exporter turns snapshots of a live engine into Prometheus metrics. It owns the
// choice of the prefixes that have series, and the metrics about the watch itself. It does no
// I/O, and it has no HTTP server.
package exporter
