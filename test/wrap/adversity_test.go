package wrap

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// An adversity is a program, and the fault of its requests. internal/intercept has those that don't depend on a real
// server or on HTTP/2.
type adversity struct {
	name    string
	fault   faultproxy.Fault // of each create
	program func()

	stdout  string
	objects int
	stderr  string
}

const created = `201 demo-\w+\n`

var adversities = []adversity{
	{
		name: "16 creates on one connection lose their responses", fault: faultproxy.DropResponse,
		program: func() {
			c := newClient()
			fmt.Println(c.get("/version"))
			lines := make(chan string, 16)
			for range 16 {
				go func() { lines <- c.post(object, patience) }()
			}
			for range 16 {
				fmt.Println(<-lines)
			}
			fmt.Println(c.connections.Load(), "connection")
		},
		stdout: `200 \n(` + created + `){16}1 connection\n`, objects: 16,
	},
	{
		name: "almost 3 MiB", program: func() { fmt.Println(newClient().post(large(3<<20-2<<10), patience)) },
		stdout: "422 Invalid\n",
	},
	{
		name: "3 MiB", program: func() { fmt.Println(newClient().post(large(3<<20), patience)) },
		stdout: "422 Invalid\n",
		stderr: `Warning: wrap: a create of configmaps passed through unprotected, because its body has more than 3 MiB\n`,
	},
	{
		name: "abandoned 9 times, and repeated at once", fault: after(3 * time.Second),
		program: func() {
			c := newClient()
			for range 9 {
				c.post(object, 200*time.Millisecond)
			}
			fmt.Println(c.post(object, patience))
		},
		stdout: created, objects: 1,
	},
}

func TestAdversities(t *testing.T) {
	t.Parallel()
	for _, a := range adversities {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			ns := harness.Namespace(t, server)
			s := shell(t, faultproxy.New(t, server.Admin(), harness.First(1000, a.fault)()).Config, ns)
			s.Env = append(s.Env, asProgram+"="+a.name)
			s.Run("kubectl", "genname", "wrap", "--", os.Args[0]).Expect(t, 0, a.stdout, a.stderr)
			harness.ExpectConfigMaps(t, server, ns, a.objects)
		})
	}
}

// large returns an object of a size in bytes.
func large(size int) string {
	return strings.Replace(object, `"b"`, `"`+strings.Repeat("x", size-len(object)+1)+`"`, 1)
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
