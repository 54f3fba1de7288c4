// Package exactlyonce creates objects, each exactly once. It owns the transport of
// the command, the meaning of responses for the state machine of
// pkg/once/protocol, and the annotations and labels by which it recognizes
// objects. It never reads files and never prints.
//
// docs/internals/create-protocol.md explains why it neither loses nor duplicates an
// object, and the limits of any client. Controllers use pkg/once.
package exactlyonce
