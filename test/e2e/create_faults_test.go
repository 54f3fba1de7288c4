package e2e

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {generateName: demo-}
`

// Messages without their reasons.
const (
	readsBack  = "checking whether it exists\n"
	sendsAgain = "sending it again\n"
	rechecks   = "checking for 13s whether it exists\n"
	notThere   = readsBack + sendsAgain
	refusal    = "refused\n"
	unknown    = "error: outcome unknown\n"
	checkAlone = "Check whether the object exists. It may still be created within a minute:\n  kubectl get\n" +
		"If the object does not exist, run the same command again.\n" + useKey
	useKey = "A run with --idempotency-key can be repeated unchanged.\n"
)

// withoutReasons returns a result whose stderr has no reasons of retries, of unknown outcomes and of refusals. These
// reasons are errors of the transport or the server. The warning about the missing permission to get can come at any
// point.
func withoutReasons(r harness.Result) harness.Result {
	var lines strings.Builder
	for line := range strings.Lines(r.Stderr) {
		switch {
		case strings.HasPrefix(line, "configmap/demo-") && strings.HasSuffix(line, ")\n"):
			action := strings.TrimSuffix(line[strings.LastIndex(line, "(")+1:], ")\n")
			action, _, _ = strings.Cut(action, " in ")
			line = action + "\n"
		case strings.HasPrefix(line, "error: outcome unknown: configmap/demo-"):
			line = unknown
		case strings.HasPrefix(line, "  kubectl get configmap/"), strings.HasPrefix(line, "  kubectl get configmap "):
			line = "  kubectl get\n"
		case strings.Contains(line, `error when creating "`):
			line = refusal
		case strings.HasPrefix(line, "Warning: no permission to get configmaps in "):
			line = ""
		}
		lines.WriteString(line)
	}
	r.Stderr = lines.String()
	return r
}

// expected is the expected result of a fault in the first POST of an object.
type expected struct {
	stderr string // the stderr for a user with all permissions, whose object is created
	// unknown: the outcome is unknown for a user who can create and not get.
	unknown bool
	// refused: such a user gets the refusal, and a warning that the first copy may have succeeded. So does
	// a user who lets the server pick the name.
	refused bool
	// twice: if that user creates an object, two objects exist, and the command prints a warning.
	twice bool
}

var expectedOf = map[string]expected{
	"request dropped":                               {stderr: notThere, unknown: true},
	"response dropped":                              {stderr: readsBack, unknown: true},
	"reset within the request":                      {stderr: notThere, unknown: true},
	"reset within the response":                     {stderr: readsBack, unknown: true},
	"response broken off":                           {stderr: readsBack, unknown: true},
	"carried out after the deadline":                {stderr: readsBack, unknown: true},
	"repeated and the first response passed on":     {},
	"repeated and the second response passed on":    {twice: true},
	"stored and a second copy refused by a quota":   {refused: true},
	"stored and a second copy refused by a webhook": {refused: true},
	"stored after a second copy was refused":        {stderr: rechecks, refused: true},
	"401":                                           {stderr: sendsAgain},
	"429 with Retry-After":                          {stderr: sendsAgain},
	"502 before":                                    {stderr: notThere, unknown: true},
	"502 page before":                               {stderr: notThere, unknown: true},
	"502 page after":                                {stderr: readsBack, unknown: true},
	"503 page before":                               {stderr: notThere, unknown: true},
	"503 before":                                    {stderr: notThere, unknown: true},
	"503 with Retry-After after":                    {stderr: readsBack, unknown: true},
	"504 before":                                    {stderr: notThere, unknown: true},
	"504 after":                                     {stderr: readsBack, unknown: true},
	"etcd timed out before":                         {stderr: notThere, unknown: true},
	"etcd timed out after":                          {stderr: readsBack, unknown: true},
	"webhook not called":                            {stderr: sendsAgain},
	"response cut in half":                          {stderr: readsBack, unknown: true},
	"another's response":                            {stderr: readsBack, unknown: true},
	"stored and another object's 201":               {stderr: readsBack, unknown: true},
	"stored and another object's 409":               {stderr: readsBack, unknown: true},
	"another object's 404":                          {},
	"GOAWAY":                                        {},
	"GOAWAY before":                                 {},
	"GOAWAY after":                                  {stderr: readsBack, unknown: true},
}

// faultyUser is a user whose first POST has a fault.
type faultyUser struct {
	harness.User
	faultproxy.NamedFault
	namespace, file string
	proxy           *faultproxy.Proxy
}

// ways are the ways to create an object. Without a list of faults, a way is tested with each fault.
var ways = []struct {
	name   string
	config func(t *testing.T, namespace string) *rest.Config
	test   func(*testing.T, faultyUser)
	faults []string
}{
	{name: "all permissions", config: admin, test: endsInOneObject},
	{name: "no permission to get", config: blindCreator, test: withoutReading},
	{
		name: "key", config: admin, test: withAKey,
		faults: []string{"request dropped", "response dropped", "repeated and the second response passed on"},
	},
	{
		name: "server naming", config: admin, test: serverNaming,
		faults: []string{
			"request dropped", "response dropped", "repeated and the first response passed on",
			"stored and a second copy refused by a quota", "401", "429 with Retry-After", "another object's 404",
		},
	},
}

// client-go logs a response that breaks off, and the plugin reads it again.
func TestBrokenResponsesAreNotLogged(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	var once sync.Once
	proxy, err := faultproxy.Start(faultproxy.HTTP1, single.Admin(), func(r *http.Request) (fault faultproxy.Fault) {
		if strings.HasSuffix(r.URL.Path, "/configmaps") && r.Method == http.MethodGet {
			once.Do(func() { fault = faultproxy.BreakResponse })
		}
		return fault
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	p := startCreate(t, harness.As(t, proxy.Config).Kubeconfig, nil, "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--idempotency-key=k")
	p.ends(0)
	if printed := p.printed(); printed != "" {
		t.Errorf("stderr has %q, want nothing", printed)
	}
}

// Whatever fault hits the POST of an object or its response, one object exists in the end, or the plugin reports that
// it can't know. kubectl create reports an error for most faults, and running it again creates a duplicate. The ways
// alternate between HTTP/1.1 and HTTP/2, so each fault is tested over both.
func TestCreateWithFaults(t *testing.T) {
	t.Parallel()
	for i, fault := range faultproxy.Faults {
		for j, way := range ways {
			// The 404 may be about an object that ours refers to, so it is a refusal (docs/spec/findings.json).
			refused := fault.Name == "another object's 404"
			if way.faults == nil && refused || way.faults != nil && !slices.Contains(way.faults, fault.Name) {
				continue
			}
			protocol := faultproxy.HTTP2
			if (i+j)%2 == 1 && !fault.HTTP2Only {
				protocol = faultproxy.HTTP1
			}
			t.Run(way.name+"/"+fault.Name, func(t *testing.T) {
				t.Parallel()
				ns := harness.Namespace(t, single)
				proxy, err := faultproxy.Start(protocol, way.config(t, ns), harness.First(1, fault.Fault)())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(proxy.Close)
				way.test(t, faultyUser{harness.As(t, proxy.Config), fault, ns, harness.File(t, "cm.yaml", configMap), proxy})
			})
		}
	}
}

func admin(*testing.T, string) *rest.Config { return single.Admin() }

// blindCreator returns a user who can create and not get.
func blindCreator(t *testing.T, namespace string) *rest.Config {
	t.Helper()
	harness.Grant(t, single, namespace, "creator", []string{"create"}, "configmaps")
	return single.User("creator")
}

// create runs the command, and returns when none of its requests is in flight. Late requests arrive within six seconds.
// There is no other deadline, because a busy machine could miss it.
func (u faultyUser) create(flags ...string) harness.Result {
	args := append([]string{"create", "-n", u.namespace, "-f", u.file}, flags...)
	if u.late() {
		args = append(args, "--request-timeout=6s")
	}
	defer u.proxy.Wait()
	return u.Run(args...)
}

// late reports whether the server carries the POST out after the deadline of its request.
func (u faultyUser) late() bool { return strings.HasSuffix(u.Name, "after the deadline") }

const (
	oneCreated = "configmap/demo-xxxxx created\n"
	oneExists  = "configmap/demo-xxxxx exists\n"
	listRun    = "List the objects of this run:\n  kubectl get configmaps -n e2e-xxxxx -l genname.dev/run=v1-id\n"
)

func (u faultyUser) there(t *testing.T, n int) {
	t.Helper()
	harness.ExpectConfigMaps(t, single, u.namespace, n)
}

func endsInOneObject(t *testing.T, u faultyUser) {
	want, ok := expectedOf[u.Name]
	if !ok {
		t.Fatal("what the plugin does is not in the table")
	}
	r := withoutReasons(u.create())
	if u.late() { // the object can be missing once
		r.Stderr = strings.TrimSuffix(r.Stderr, sendsAgain)
	}
	u.there(t, 1)
	r.Prints(t, 0, oneCreated, want.stderr)
}

// An unknown outcome is reported with exit code 4.
func withoutReading(t *testing.T, u faultyUser) {
	r := u.create()
	want := expectedOf[u.Name]
	if n := strings.Count(r.Stderr, "Warning: no permission to get configmaps in "); n > 1 { // 0 if the review failed
		t.Errorf("told %d times that nothing can be read back:\n%s", n, r.Stderr)
	}
	why := strings.Contains(r.Stderr, "needs the permission get")
	if r = withoutReasons(r); why != (want.unknown || want.refused) {
		t.Errorf("the missing permission is a reason: %t", why)
	}
	switch {
	case want.unknown:
		u.there(t, map[bool]int{true: 1}[u.Carried])
		r.Prints(t, 4, "", readsBack+unknown+checkAlone)
	case want.refused:
		u.there(t, 1)
		r.Prints(t, 4, "", unknown+checkAlone)
	case want.twice:
		u.there(t, 2)
		r.Prints(t, 0, oneCreated, "trying demo-xxxxx\nWarning: no permission to get configmaps. A name was taken, so the plugin "+
			"tried another one. If a proxy repeated the first request, two objects exist.\n")
	default:
		u.there(t, 1)
		r.Prints(t, 0, oneCreated, want.stderr)
	}
}

// A run with a key is repeated until it succeeds. It leaves the objects of the run with the fault, and creates no
// duplicate.
func withAKey(t *testing.T, u faultyUser) {
	flags := []string{"--idempotency-key=" + u.namespace, "--count=2", "--concurrency=1"}
	first := oneCreated
	if expectedOf[u.Name].twice { // the conflict with the first copy of the POST looks like that of another run
		first = oneExists
	}
	withoutReasons(u.create(flags...)).Prints(t, 0, first+oneCreated, expectedOf[u.Name].stderr+listRun)
	u.create(flags...).Prints(t, 0, strings.Repeat(oneExists, 2), listRun)
	u.there(t, 2)
}

// If the server picks the name, an unknown outcome can't be settled, and the plugin does not send the request again.
// Known outcomes are the same as with client naming. If a proxy repeats the POST, two objects exist.
func serverNaming(t *testing.T, u faultyUser) {
	r := withoutReasons(u.create("--naming=server"))
	switch want := expectedOf[u.Name]; {
	case u.Name == "another object's 404": // without a creation ID, the response is a refusal, as in kubectl
		u.there(t, 0)
		r.Prints(t, 1, "", refusal)
	case want.unknown:
		u.there(t, map[bool]int{true: 1}[u.Carried])
		r.Prints(t, 4, "", unknown+checkAlone)
	case want.refused, u.Name == "401":
		u.there(t, map[bool]int{true: 1}[u.Carried])
		r.Prints(t, 1, "", refusal)
	case strings.HasPrefix(u.Name, "repeated"):
		u.there(t, 2)
		r.Prints(t, 0, oneCreated, "")
	default:
		u.there(t, 1)
		r.Prints(t, 0, oneCreated, want.stderr)
	}
}

// A run that seemed dead continues in parallel to the run that repeats it. Each object exists once, and both runs
// report all objects. Without faults, only the run that has created an object reports it as created.
func TestCreateTwoRunsWithOneKey(t *testing.T) {
	t.Parallel()
	for name, rate := range map[string]float64{"without faults": 0, "with faults": 0.1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			twoRuns(t, rate)
		})
	}
}

// twoRuns runs the command twice at the same moment, with faults at the rate.
func twoRuns(t *testing.T, rate float64) {
	ns := harness.Namespace(t, single)
	// After two 401s, or a 404 about another object, a create fails. The order of the runs decides which POST gets such
	// a response.
	mix := &faultproxy.Mix{Seed: 1, Rate: rate, Of: faultproxy.FaultsBut("401", "another object's 404")}
	var lists atomic.Int32 // neither run creates anything before both have listed
	bothListed := make(chan struct{})
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		switch {
		case r.URL.Query().Has("labelSelector"):
			return func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					next.ServeHTTP(w, r)
					if lists.Add(1) == 2 {
						close(bothListed)
					}
				})
			}
		case harness.Creates(r):
			<-bothListed
			return mix.Choose(r)
		}
		return nil
	})
	args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--idempotency-key=twice", "--count=60", "--request-timeout=10s"}
	results := make(chan harness.Result, 2)
	for range cap(results) {
		u := harness.As(t, proxy.Config)
		go func() { results <- u.Run(args...) }()
	}
	created := 0
	for range cap(results) {
		r := <-results
		n := strings.Count(r.Stdout, " created\n")
		if r.Code != 0 || n+strings.Count(r.Stdout, " exists\n") != 60 {
			t.Errorf("exit code %d, want 0 and 60 objects: %s%s", r.Code, r.Stdout, r.Stderr)
		}
		created += n
	}
	proxy.Wait()
	if n := len(harness.ConfigMaps(t, single, ns)); n != 60 || rate == 0 && created != n {
		t.Errorf("%d objects are there, and %d were reported as created, want 60", n, created)
	}
}
