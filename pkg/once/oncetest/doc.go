// Package oncetest is a Kubernetes API server for tests of code that creates
// objects: it keeps objects in memory, injures the requests that it is told to
// injure, remembers all that has happened, and says whether what a client
// reports of its creates is true. It needs no network and starts nothing.
//
//	server := oncetest.NewServer()
//	server.Next(oncetest.LoseAnswer, oncetest.GatewayTimeout) // what the next two creates meet
//	client := kubernetes.NewForConfigOrDie(server.Config())
//	… // what is to be tested
//	for _, violation := range server.Check(creationOf, reports) {
//		t.Error(violation)
//	}
//
// It stands in for kube-apiserver as far as the create of an object matters:
// names, conflicts, uids, times, what is answered and in which words. It is no
// kube-apiserver: it validates and defaults nothing, has no admission but
// Mutate, no updates, patches, watches, subresources, users, rights and
// controllers, speaks JSON only, needs no namespace to exist, and returns a
// list whole whatever its limit. Of what is not stored it has
// SelfSubjectReviews, which tell a client the server's time. What rests on these wants a test on a real
// server.
//
// A Server waits for nothing but time.After (Delay), so it may be used within a
// bubble of testing/synctest. The same requests, one after the other, have the
// same answers: uids and generated names are counted, not drawn.
package oncetest
