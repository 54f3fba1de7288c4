// Package protocol has the rules by which an object is created exactly once. The rules are a state machine without
// I/O, clock or client: a Machine decides which request comes next, and gets an observation of its response. Run is
// the loop around a Machine. The caller of Run sends the requests, and classifies the responses as
// docs/spec/README.md defines.
//
// The package is exported only because pkg/once and the kubectl plugin share it. Before v1, its names can change.
package protocol
