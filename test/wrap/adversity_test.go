package wrap

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// An adversity is a program, and what happens to its requests.
type adversity struct {
	name    string
	args    []string // of wrap
	choose  func() func(*http.Request) faultproxy.Fault
	user    string // without the permission get, or the administrator
	program func()

	stdout  string
	objects int
	stderr  string
	code    int
}

const (
	created  = `201 demo-\w+\n`
	givenUp  = `Warning: wrap: configmap/demo-\w+ -n [\w-]+ was created after its program had given up\. Delete it if nothing uses it:\n  kubectl delete configmap/demo-\w+ -n [\w-]+\n`
	mayExist = `Warning: wrap: configmap/demo-\w+ -n [\w-]+ might exist\. Check it:\n  kubectl get configmap/demo-\w+ -n [\w-]+\n`
)

// adversities has the response, the number of objects and the last lines of each.
var adversities = []adversity{
	{
		name: "16 creates on one connection lose their responses", choose: each(faultproxy.DropResponse),
		program: func() {
			c := newClient("h2")
			fmt.Println(c.get("/version"))
			lines := make(chan string, 16)
			for range 16 {
				go func() { lines <- c.post(strings.NewReader(object)) }()
			}
			for range 16 {
				fmt.Println(<-lines)
			}
			fmt.Println(c.connections.Load(), "connection")
		},
		stdout: `200 \n(` + created + `){16}1 connection\n`, objects: 16,
	},
	{
		name: "chunked", choose: harness.First(1, faultproxy.DropResponse),
		program: func() {
			c := newClient("http/1.1")
			fmt.Println(c.post(struct{ io.Reader }{strings.NewReader(object)}))
		},
		stdout: created, objects: 1,
	},
	{
		name: "a body after 100-continue", choose: harness.First(1, faultproxy.DropResponse),
		program: func() {
			c := newClient("http/1.1")
			c.header.Set("Expect", "100-continue")
			fmt.Println(c.post(strings.NewReader(object)), c.continued.Load())
		},
		stdout: `201 demo-\w+ true\n`, objects: 1,
	},
	{
		name: "almost 3 MiB", program: func() { fmt.Println(newClient("h2").post(strings.NewReader(large(3<<20 - 2<<10)))) },
		stdout: "422 Invalid\n",
	},
	{
		name: "3 MiB", program: func() { fmt.Println(newClient("h2").post(strings.NewReader(large(3 << 20)))) },
		stdout: "422 Invalid\n", stderr: tooLarge,
	},
	{
		name: "30 MiB", program: func() { fmt.Println(newClient("h2").post(strings.NewReader(large(30 << 20)))) },
		stdout: "(413 RequestEntityTooLarge|error)\n", stderr: tooLarge,
	},
	{
		name: "broken off", program: func() {
			c := newClient("http/1.1")
			fmt.Println(c.post(io.MultiReader(strings.NewReader(object[:20]), failing{})))
			fmt.Println(c.get("/version"))
		},
		stdout: `error\n200 \n`,
	},
	{
		name: "reviews, tokens, evictions and bindings", program: subresources,
		stdout: "201 a serviceaccounts\n201 p pods\n201  subjectaccessreviews\n201 a serviceaccounts/a/token\n201  pods/p/binding\n201  pods/p/eviction\n",
	},
	{
		name: "without the permission get", choose: harness.First(1, faultproxy.DropResponse), user: "creator",
		program: func() { fmt.Println(newClient("h2").post(strings.NewReader(object))) },
		stdout:  "504 Timeout\n", objects: 1, stderr: mayExist, code: 4,
	},
	{
		name: "lost responses, and a client that repeats its create", args: []string{"--retry-timeout=1s"}, choose: untilMended(faultproxy.DropResponse),
		program: repeats, stdout: `504 Timeout\n` + created, objects: 1,
	},
	{
		name: "a balancer that repeats a 503, and a client that repeats its create", args: []string{"--retry-timeout=1s"},
		choose:  untilMended(faultproxy.Respond(503, http.Header{"Retry-After": {"1"}, "Content-Type": {"text/plain"}}, "busy")),
		program: repeats, stdout: `504 Timeout\n` + created, objects: 1,
	},
	{
		name: "abandoned at 1 s, stored at 3 s, repeated at 2 s", choose: harness.First(1, after(3*time.Second)),
		program: func() {
			c := newClient("h2")
			fmt.Println(c.within(time.Second).post(strings.NewReader(object)))
			time.Sleep(time.Second)
			fmt.Println(c.post(strings.NewReader(object)))
		},
		stdout: `error\n` + created, objects: 1,
	},
	{
		name: "abandoned 9 times, and repeated at once", choose: each(after(3 * time.Second)),
		program: func() {
			c := newClient("h2")
			for range 9 {
				c.within(200 * time.Millisecond).post(strings.NewReader(object))
			}
			fmt.Println(c.post(strings.NewReader(object)))
		},
		stdout: created, objects: 1,
	},
	{
		name: "abandoned, deleted, repeated", choose: harness.First(1, after(2*time.Second)),
		program: func() {
			c := newClient("h2")
			fmt.Println(c.within(time.Second).post(strings.NewReader(object)))
			before := c.await()
			c.send(http.MethodDelete, c.collection+"/"+before, nil)
			line := c.post(strings.NewReader(object))
			fmt.Println(line, strings.HasSuffix(line, before))
		},
		stdout: `error\n201 demo-\w+ false\n`, objects: 1,
	},
	{
		name: "abandoned, repeated when it is no longer kept", choose: harness.First(1, after(2*time.Second)),
		args: []string{"--retry-timeout=3s"},
		program: func() {
			c := newClient("h2")
			fmt.Println(c.within(time.Second).post(strings.NewReader(object)))
			c.await()
			time.Sleep(4 * time.Second)
			fmt.Println(c.post(strings.NewReader(object)))
		},
		stdout: `error\n` + created, objects: 2, stderr: givenUp,
	},
	{
		name: "another user of the machine", program: otherUser,
		stdout: "the kubeconfig can't be read\n401 Unauthorized\n401 Unauthorized\n" + created, objects: 1,
	},
}

const tooLarge = `Warning: wrap: a create of configmaps passed through unprotected, because its body has more than 3 MiB\n`

func TestAdversities(t *testing.T) {
	t.Parallel()
	for _, a := range adversities {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			ns := harness.Namespace(t, server)
			user := server.Admin()
			if a.user != "" {
				user = server.User(a.user)
				harness.Grant(t, server, ns, a.user, []string{"create"}, "configmaps")
			}
			choose := func(*http.Request) faultproxy.Fault { return nil }
			if a.choose != nil {
				choose = a.choose()
			}
			s := shell(t, faultproxy.New(t, user, choose).Config, ns)
			s.Env = append(s.Env, asProgram+"="+a.name)
			began := time.Now()
			r := s.Run("kubectl", append(append([]string{"genname", "wrap"}, a.args...), "--", os.Args[0])...)
			r.Expect(t, a.code, a.stdout, a.stderr)
			if found := harness.ConfigMaps(t, server, ns); len(found) != a.objects || time.Since(began) > 100*time.Second {
				t.Errorf("%d objects after %s, want %d before the end of --retry-timeout", len(found), time.Since(began), a.objects)
			}
		})
	}
}

// large returns an object of a size in bytes.
func large(size int) string {
	return strings.Replace(object, `"b"`, `"`+strings.Repeat("x", size-len(object)+1)+`"`, 1)
}

// failing is a body that breaks off.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func each(fault faultproxy.Fault) func() func(*http.Request) faultproxy.Fault {
	return harness.First(1000, fault)
}

// after sends the request after some time.
func after(d time.Duration) faultproxy.Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(d)
			next.ServeHTTP(w, r)
		})
	}
}

// mended is the path of a request after which there are no more faults.
const mended = "/mended"

func untilMended(fault faultproxy.Fault) func() func(*http.Request) faultproxy.Fault {
	return func() func(*http.Request) faultproxy.Fault {
		var over atomic.Bool
		return func(r *http.Request) faultproxy.Fault {
			if r.URL.Path == mended {
				over.Store(true)
			}
			if over.Load() || !strings.HasSuffix(strings.TrimSuffix(r.URL.Path, "/"), "configmaps") && !strings.Contains(r.URL.Path, "configmaps/demo-") {
				return nil
			}
			return fault
		}
	}
}

// repeats repeats its create once, when the server works again.
func repeats() {
	c := newClient("h2")
	fmt.Println(c.post(strings.NewReader(object)))
	c.get(mended)
	fmt.Println(c.post(strings.NewReader(object)))
}

// subresources sends creates of objects without generated names.
func subresources() {
	c := newClient("h2")
	for _, each := range []struct{ in, path, body string }{
		{"namespaced", "serviceaccounts", `{"metadata":{"name":"a"}}`},
		{"namespaced", "pods", `{"metadata":{"name":"p"},"spec":{"serviceAccountName":"a","containers":[{"name":"c","image":"i"}]}}`},
		{"/apis/authorization.k8s.io/v1/", "subjectaccessreviews", `{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"user":"u","nonResourceAttributes":{"path":"/","verb":"get"}}}`},
		{"namespaced", "serviceaccounts/a/token", `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{}}`},
		{"namespaced", "pods/p/binding", `{"kind":"Binding","apiVersion":"v1","metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`},
		{"namespaced", "pods/p/eviction", `{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"p"}}`},
	} {
		prefix := strings.Replace(each.in, "namespaced", strings.TrimSuffix(c.collection, "configmaps"), 1)
		line := c.send(http.MethodPost, prefix+each.path, strings.NewReader(each.body))
		fmt.Println(line, each.path)
	}
}

// otherUser gives up the user, and then has no access to the kubeconfig. Only the token counts.
func otherUser() {
	c := newClient("h2")
	if os.Getuid() == 0 {
		if err := syscall.Setuid(65534); err != nil {
			fail(err)
		}
		if _, err := os.ReadFile(os.Getenv("KUBECONFIG")); os.IsPermission(err) {
			fmt.Println("the kubeconfig can't be read")
		}
	} else {
		fmt.Println("the kubeconfig can't be read") // TestKubeconfig checks its mode
	}
	token := c.header.Get("Authorization")
	for _, given := range []string{"", token[:len(token)-1] + "x", token} {
		c.header.Set("Authorization", given)
		fmt.Println(c.post(strings.NewReader(object)))
	}
}
