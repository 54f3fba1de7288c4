// Package protocol has the rules by which an object is created exactly once, as
// a state machine without I/O, clock or client. Machine decides which request comes
// next, and takes an observation of its response. Run turns it. The caller sends the
// requests, and reads the responses as docs/spec/README.md defines.
//
// There is no promise of compatibility before v1: the package is exported
// because pkg/once and the kubectl plugin share it.
package protocol
