package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// firstPost applies the fault to the first POST.
func firstPost(fault faultproxy.Fault) func(*http.Request) faultproxy.Fault {
	var seen atomic.Bool
	return func(r *http.Request) faultproxy.Fault {
		if r.Method == http.MethodPost && !seen.Swap(true) {
			return fault
		}
		return nil
	}
}

// What the plugin says on its way to one object.
const (
	readsBack  = `configmap/demo-[^\n]*; reading it back\n`
	sendsAgain = `configmap/demo-[^\n]*; sending it again in [^\n]*\n`
	notThere   = readsBack + sendsAgain
)

// injured is what the plugin does when an injury happens to the first POST of
// an object.
type injured struct {
	stderr string // of a user who may do everything; the object is created
	// unknown: a user who may create and not get is told that the outcome is
	// unknown.
	unknown bool
	// twice: two objects are there for such a user, as he is warned.
	twice bool
}

var whenInjured = map[string]injured{
	"request dropped":                          {stderr: notThere, unknown: true},
	"answer dropped":                           {stderr: readsBack, unknown: true},
	"reset within the request":                 {stderr: notThere, unknown: true},
	"reset within the answer":                  {stderr: readsBack, unknown: true},
	"answer broken off":                        {stderr: readsBack, unknown: true},
	"carried out after the deadline":           {stderr: readsBack + `(` + sendsAgain + `)?`, unknown: true},
	"repeated and the first answer passed on":  {},
	"repeated and the second answer passed on": {twice: true},
	"429 with Retry-After":                     {stderr: sendsAgain},
	"503 before":                               {stderr: notThere, unknown: true},
	"503 with Retry-After after":               {stderr: readsBack, unknown: true},
	"504 before":                               {stderr: notThere, unknown: true},
	"504 after":                                {stderr: readsBack, unknown: true},
	"etcd timed out before":                    {stderr: notThere, unknown: true},
	"etcd timed out after":                     {stderr: readsBack, unknown: true},
	"webhook not called":                       {stderr: sendsAgain},
	"answer cut in half":                       {stderr: readsBack, unknown: true},
	"another's answer":                         {stderr: readsBack, unknown: true},
	"GOAWAY":                                   {},
	"GOAWAY before":                            {},
	"GOAWAY after":                             {stderr: readsBack, unknown: true},
}

var (
	bothProtocols = []faultproxy.Protocol{faultproxy.HTTP1, faultproxy.HTTP2}
	theUsual      = []faultproxy.Protocol{faultproxy.HTTP2}
)

// eachInjury runs test for all injuries over the protocols, with a proxy that
// injures the first POST. The proxy has passed everything on after finish.
func eachInjury(t *testing.T, protocols []faultproxy.Protocol, user func(namespace string) *rest.Config, test func(t *testing.T, i faultproxy.Injury, namespace string, u user, finish func())) {
	for _, protocol := range protocols {
		for _, injury := range faultproxy.Injuries {
			if injury.HTTP2Only && protocol != faultproxy.HTTP2 {
				continue
			}
			t.Run(protocol.String()+"/"+injury.Name, func(t *testing.T) {
				t.Parallel()
				ns := namespace(t, single)
				proxy, err := faultproxy.Start(protocol, user(ns), firstPost(injury.Fault))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(proxy.Close)
				test(t, injury, ns, as(t, proxy.Config), proxy.Wait)
			})
		}
	}
}

// Whatever happens to the POST of an object or to its answer, one object is
// there in the end. kubectl create reports an error for most of these, and a
// re-run makes a duplicate.
func TestCreateInjuredEndsInOneObject(t *testing.T) {
	admin := func(string) *rest.Config { return single.Admin() }
	eachInjury(t, bothProtocols, admin, func(t *testing.T, i faultproxy.Injury, ns string, u user, finish func()) {
		r := u.run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap), "--request-timeout=3s")
		finish()
		found := configMaps(t, single, ns)
		if len(found) != 1 {
			t.Fatalf("%d objects are there, want 1; the plugin said %+v", len(found), r)
		}
		want, ok := whenInjured[i.Name]
		if !ok {
			t.Fatal("what the plugin does is not in the table")
		}
		r.expect(t, 0, regexp.QuoteMeta("configmap/"+found[0].Name+" created\n"), want.stderr)
	})
}

// An outcome that cannot be known is said, with exit code 4, and not guessed:
// this user may create the object and not read it.
func TestCreateInjuredWithoutReading(t *testing.T) {
	creator := func(ns string) *rest.Config {
		grant(t, single, ns, "creator", []string{"create"}, "configmaps")
		return single.User("creator")
	}
	eachInjury(t, bothProtocols, creator, func(t *testing.T, i faultproxy.Injury, ns string, u user, finish func()) {
		r := u.run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap), "--request-timeout=3s")
		finish()
		found := configMaps(t, single, ns)
		switch want := whenInjured[i.Name]; {
		case want.unknown:
			object := `configmap/demo-` + suffix
			if len(found) == 1 {
				object = "configmap/" + found[0].Name
			}
			r.expect(t, 4, ``, object+`: [^\n]*; reading it back\n`+
				object+` -n `+ns+`: outcome unknown: [^\n]*needs get on configmaps[^\n]*kubectl get `+object+` -n `+ns+`\n`)
			if i.Carried != (len(found) == 1) {
				t.Errorf("%d objects are there", len(found))
			}
		case want.twice:
			r.expect(t, 0, `configmap/demo-`+suffix+` created\n`,
				`configmap/demo-[^\n]*; trying demo-`+suffix+`\nWarning: conflicts of configmaps cannot be read back[^\n]*\n`)
			if len(found) != 2 {
				t.Errorf("%d objects are there", len(found))
			}
		default:
			r.expect(t, 0, `configmap/demo-`+suffix+` created\n`, want.stderr)
			if len(found) != 1 {
				t.Errorf("%d objects are there", len(found))
			}
		}
	})
}

// With a key, a run is repeated to its end: what the injured one created is
// unchanged, and nothing is there twice.
func TestCreateInjuredWithKey(t *testing.T) {
	admin := func(string) *rest.Config { return single.Admin() }
	eachInjury(t, theUsual, admin, func(t *testing.T, i faultproxy.Injury, ns string, u user, finish func()) {
		args := []string{"create", "-n", ns, "-f", file(t, "cm.yaml", configMap), "--idempotency-key=" + ns, "--count=2", "--concurrency=1", "--request-timeout=3s"}
		selector := `the objects of this run: [^\n]*\n`
		u.run(args...).expect(t, 0, `(configmap/demo-`+suffix+` created\n){2}`, whenInjured[i.Name].stderr+selector)
		finish()
		u.run(args...).expect(t, 0, `(configmap/demo-`+suffix+` unchanged\n){2}`, selector)
		if n := len(configMaps(t, single, ns)); n != 2 {
			t.Errorf("%d objects are there, want 2", n)
		}
	})
}

// When the server picks the name, an outcome that is not known cannot be
// settled, and nothing is sent again; what is certain is as with client
// naming. What a proxy repeats is there twice.
func TestCreateInjuredServerNaming(t *testing.T) {
	admin := func(string) *rest.Config { return single.Admin() }
	eachInjury(t, theUsual, admin, func(t *testing.T, i faultproxy.Injury, ns string, u user, finish func()) {
		r := u.run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap), "--naming=server", "--request-timeout=3s")
		finish()
		want, there := whenInjured[i.Name], 1
		switch {
		case want.unknown:
			if !i.Carried {
				there = 0
			}
			r.expect(t, 4, ``, `configmap/demo- -n `+ns+`: outcome unknown: [^\n]*\n`)
		case strings.HasPrefix(i.Name, "repeated"):
			there = 2
			r.expect(t, 0, `configmap/demo-`+suffix+` created\n`, ``)
		default:
			r.expect(t, 0, `configmap/demo-`+suffix+` created\n`, want.stderr)
		}
		if n := len(configMaps(t, single, ns)); n != there {
			t.Errorf("%d objects are there, want %d", n, there)
		}
	})
}

// A run that was thought dead is not, and works beside the one that repeats
// it: each object is there once, and both say of all that they are there.
func TestCreateTwoRunsWithOneKey(t *testing.T) {
	ns := namespace(t, single)
	mix := &faultproxy.Mix{Seed: 1, Rate: 0.1}
	var listed sync.WaitGroup // neither run creates anything before both have looked
	listed.Add(2)
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		switch {
		case r.URL.Query().Has("labelSelector"):
			return func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					next.ServeHTTP(w, r)
					listed.Done()
				})
			}
		case r.Method == http.MethodPost:
			listed.Wait()
			return mix.Choose(r)
		}
		return nil
	})
	args := []string{"create", "-n", ns, "-f", file(t, "cm.yaml", configMap), "--idempotency-key=twice", "--count=60", "--request-timeout=5s"}
	results := make(chan result, 2)
	for range cap(results) {
		u := as(t, proxy.Config)
		go func() { results <- u.run(args...) }()
	}
	for range cap(results) {
		(<-results).expect(t, 0, `(configmap/demo-`+suffix+` (created|unchanged)\n){60}`, `.*`)
	}
	proxy.Wait()
	if n := len(configMaps(t, single, ns)); n != 60 {
		t.Errorf("%d objects are there, want 60", n)
	}
}
