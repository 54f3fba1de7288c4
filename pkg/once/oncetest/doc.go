// Package oncetest tests code that creates objects: it injects faults into requests,
// records them, and finds duplicates. The code under test can use any client.
//
// In memory, nothing has to be started:
//
//	server := oncetest.NewServer()
//	server.Next("create", "jobs", oncetest.DropResponse) // of the next create
//	server.Always("watch", "jobs", oncetest.StaleRead(time.Hour)) // the cache lags
//	client := kubernetes.NewForConfigOrDie(server.Config()) // or a manager
//	… // run your code
//	for _, violation := range server.Check(creationOf, nil) {
//		t.Error(violation) // with all requests
//	}
//
// On envtest, kind or any other server, the same faults wrap the transport, and
// Faults.CheckList checks the objects that you list in the end:
//
//	var faults oncetest.Faults
//	faults.Random("create", "jobs", seed, 0.25)
//	config.Wrap(faults.Wrap)
//
// The server in memory responds as kube-apiserver does to create, get, list, watch,
// update and delete: names, conflicts, uids, times, and the words of errors. It
// doesn't validate, set defaults, run controllers or webhooks, or know users. It
// refuses patches, apply and protobuf. Test on a real server if your code needs those.
//
// A Server can be used in a bubble of testing/synctest, too. The same requests in the
// same order get the same responses, because uids and generated names come from counters.
package oncetest
