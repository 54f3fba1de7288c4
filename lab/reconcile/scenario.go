package reconcile

import (
	"net/http"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// Scenario is a set of faults.
type Scenario struct {
	Name, Title string
	// Rate is the share of requests for the objects that get a fault.
	Rate float64
	// Behind: the cache of a process sees no new object after the first create, until
	// the process has reconciled twice or sends no more creates.
	Behind bool
	// Kills is how many processes are killed after the server has stored an object
	// and before they receive the response.
	Kills int
	// Leaders is how many processes reconcile at the same time.
	Leaders int
	// OtherClients: other clients take names that are sent, and free them a moment later.
	OtherClients bool
	// Rounds is how often each process reconciles without an error.
	Rounds int
}

// Scenarios has all scenarios, the worst one last.
var Scenarios = []Scenario{
	{Name: "calm", Title: "no faults", Leaders: 1, Rounds: 1},
	{Name: "behind", Title: "stale cache", Leaders: 1, Rounds: 3, Behind: true},
	{Name: "faults", Title: "25% faults", Leaders: 1, Rounds: 3, Rate: 0.25},
	{Name: "killed", Title: "5 kills", Leaders: 1, Rounds: 3, Kills: 5},
	{Name: "two", Title: "two processes", Leaders: 2, Rounds: 3},
	{
		Name: "all", Title: "all, and names taken",
		Leaders: 2, Rounds: 3, Rate: 0.25, Behind: true, Kills: 5, OtherClients: true,
	},
}

// landLate is a load balancer that gives up on a request, which the server then carries
// out.
var landLate = faultproxy.NamedFault{
	Name:    "504, and carried out after that",
	Fault:   faultproxy.RefuseSecondEarly(http.StatusGatewayTimeout, "upstream request timeout", 300*time.Millisecond),
	Carried: true, WritesOnly: true,
}

// faults are the faults of the proxy, without the one that waits until a client gives
// up: client-go has no timeout.
func faults() []faultproxy.NamedFault {
	return append(faultproxy.FaultsBut("carried out after the deadline"), landLate)
}
