package reconcile

import (
	"net/http"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// Scenario is what goes wrong.
type Scenario struct {
	Name, Title string
	// Rate is the share of requests for the objects that are injured.
	Rate float64
	// Behind: the cache of a process shows nothing of what is stored from its
	// first create on, until it has reconciled twice or creates nothing more.
	Behind bool
	// Kills is how many processes are killed right after an object was stored,
	// before they hear of it.
	Kills int
	// Leaders is how many processes reconcile at the same time.
	Leaders int
	// Strangers take names that are sent, and free them a moment later.
	Strangers bool
	// Rounds is how often each process is to reconcile without an error.
	Rounds int
}

// Scenarios are all of them, the worst one last.
var Scenarios = []Scenario{
	{Name: "calm", Title: "nothing goes wrong", Leaders: 1, Rounds: 1},
	{Name: "behind", Title: "cache behind", Leaders: 1, Rounds: 3, Behind: true},
	{Name: "lost", Title: "requests and answers lost", Leaders: 1, Rounds: 3, Rate: 0.3},
	{Name: "killed", Title: "process killed", Leaders: 1, Rounds: 3, Kills: 5},
	{Name: "two", Title: "two leaders", Leaders: 2, Rounds: 3},
	{
		Name: "all", Title: "all of it, and strangers",
		Leaders: 2, Rounds: 3, Rate: 0.3, Behind: true, Kills: 5, Strangers: true,
	},
}

// landLate is a load balancer that has given up a request which is carried out
// after all.
var landLate = faultproxy.Injury{
	Name:    "504, and carried out after that",
	Fault:   faultproxy.RefuseSecondEarly(http.StatusGatewayTimeout, "upstream request timeout", 300*time.Millisecond),
	Carried: true, WritesOnly: true,
}

// injuries are those of the proxy, but for the one that waits until a client
// gives up: client-go's never does by itself.
func injuries() []faultproxy.Injury {
	return append(faultproxy.InjuriesBut("carried out after the deadline"), landLate)
}
