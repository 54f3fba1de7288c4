package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	. "github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest" //nolint:revive,staticcheck // reads like a list of faults
)

// A client is a published client on the page about lost responses.
type client struct {
	name    string
	version []string // the command that prints the version
	program []string
	objects schema.GroupVersionResource // that it creates
}

// wrapped is the client under kubectl genname wrap. A client of this repository names its objects itself, so it has no
// use for wrap.
func (c client) wrapped() (under client, ok bool) {
	c.program = append([]string{"programs/wrapped"}, c.program...)
	return c, !slices.Equal(c.version, ownVersion)
}

var ownVersion = []string{"echo", "this repository"}

var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	roles      = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}
	workflows  = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}
)

// The command lines that are Go modules. Tekton's tkn isn't among them: v0.42.0 requires github.com/tektoncd/hub v1.22.2,
// which the module proxy refused.
var (
	helm = module{path: "helm.sh/helm/v4", version: "v4.3.1", program: "helm"}
	argo = module{path: "github.com/argoproj/argo-workflows/v3", version: "v3.7.0", program: "argo"}
)

// clients are the clients of the page. The programs are below test/conformance, built into dir.
func clients(dir string) []client {
	required := func(name, dir string) []string {
		return []string{"go", "list", "-C", dir, "-m", "-f", "{{.Version}}", name}
	}
	const collection = "/usr/lib/python3/dist-packages/ansible_collections/kubernetes/core/MANIFEST.json"
	return []client{
		{"kubectl create", []string{"kubectl", "version", "--client"}, []string{"programs/kubectl"}, configMaps},
		{"helm install --server-side=false", []string{"echo", helm.version}, []string{"programs/helm"}, configMaps},
		{"argo submit", []string{"echo", argo.version}, []string{"programs/argo"}, workflows},
		{"kubernetes.core.k8s (Ansible)", []string{"sed", "-n", `s/.*"version": "\(.*\)",/\1/p`, collection}, []string{"programs/ansible"}, configMaps},
		{"client-go", required("k8s.io/client-go", "."), []string{filepath.Join(dir, "client-go")}, configMaps},
		{"controller-runtime", required("sigs.k8s.io/controller-runtime", "programs/controller-runtime"), []string{filepath.Join(dir, "controller-runtime")}, configMaps},
		{"kubernetes (Python)", []string{"/usr/bin/python3", "-c", "import kubernetes; print(kubernetes.__version__)"}, []string{"programs/python-kubernetes"}, configMaps},
		{"@kubernetes/client-node", []string{"node", "-p", `require("./programs/javascript/package.json").dependencies["@kubernetes/client-node"]`}, []string{"programs/javascript/main.js"}, configMaps},
		{"kubectl genname create", ownVersion, []string{"programs/kubectl-genname"}, configMaps},
		{"pkg/once", ownVersion, []string{filepath.Join(dir, "once")}, configMaps},
		{"clients/python", ownVersion, []string{"../../clients/python/conformance"}, configMaps},
	}
}

// histories are the faults of the page, in creates of a resource. Each fault loses the response to a create, or refuses
// a create.
func histories(resource string) []testCase {
	create := func(fault Fault) func(server) {
		return func(s server) { s.Next("create", resource, fault) }
	}
	busy := apierrors.NewServiceUnavailable("the server is currently unable to handle the request")
	busy.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
	return []testCase{
		{name: "The connection is lost after the object was stored", setup: create(DropResponse), runs: once(settled)},
		{name: "504 of the API server, and the object was stored", setup: create(AfterStore(GatewayTimeout)), runs: once(settled)},
		{name: "502 of a proxy, and the object was stored", setup: create(AfterStore(Respond(http.StatusBadGateway, "text/html", "<html>bad gateway</html>"))), runs: once(settled)},
		{name: "503 with Retry-After, and the object was stored", setup: create(AfterStore(Refuse(busy))), runs: once(settled)},
		{name: "429 with Retry-After, and nothing was stored", setup: create(TooManyRequests(1)), runs: once(done)},
		{name: "504, and the object is stored a second later", setup: create(StoreLate(time.Second, GatewayTimeout)), runs: once(settled)},
	}
}

// generated is the part of the page that this program writes.
var generated = regexp.MustCompile(`(?s)(<!-- clients: begin -->\n).*(<!-- clients: end -->)`)

// writePage runs each client in each history, on the server of $KUBECONFIG, and writes the tables into the page.
func writePage(page string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if !generated.Match(text) {
		return fmt.Errorf("%s has no place for the tables", page)
	}
	dir, err := os.MkdirTemp("", "clients")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := buildPrograms(dir); err != nil {
		return err
	}
	if err := os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		return err
	}
	var tables bytes.Buffer
	broken, err := writeTables(&tables, clients(dir))
	if err != nil {
		return err
	}
	// The test TestScript repeats a script with argo under wrap with a key, as CI does.
	scripted := command("go", "test", "-count=1", "../wrap", "-run", "TestScript", "-args", "-submit="+filepath.Join(dir, argo.program)+" submit -o name")
	return errors.Join(broken, scripted, os.WriteFile(page, generated.ReplaceAll(text, append([]byte("${1}"), append(tables.Bytes(), "${2}"...)...)), 0o644)) //nolint:gosec // a page
}

func buildPrograms(dir string) error {
	var failures []error
	for _, name := range []string{"once", "client-go", "controller-runtime"} {
		failures = append(failures, command("go", "build", "-C", filepath.Join("programs", name), "-o", filepath.Join(dir, name), "."))
	}
	for _, m := range []module{helm, argo} {
		failures = append(failures, m.build(dir))
	}
	crd := filepath.Join(dir, argo.program+"-source", "manifests/base/crds/minimal/argoproj.io_workflows.yaml")
	failures = append(failures, command("kubectl", "apply", "-f", crd),
		command("kubectl", "wait", "--for=condition=Established", "-f", crd))
	return errors.Join(failures...)
}

// A module is the Go module of a published command line.
type module struct{ path, version, program string }

// build builds the program into dir with the versions that the module has chosen. For that, it copies the module to
// DIR/PROGRAM-source.
func (m module) build(dir string) error {
	downloaded, err := exec.Command("go", "mod", "download", "-json", m.path+"@"+m.version).Output()
	if err != nil {
		return fmt.Errorf("download %s@%s: %w", m.path, m.version, err)
	}
	var cached struct{ Dir string }
	if err := json.Unmarshal(downloaded, &cached); err != nil {
		return err
	}
	source := filepath.Join(dir, m.program+"-source")
	if err := os.CopyFS(source, os.DirFS(cached.Dir)); err != nil {
		return err
	}
	// The program argo embeds the web interface, which isn't in the module.
	page := filepath.Join(source, "ui", "dist", "app", "index.html")
	if err := errors.Join(os.MkdirAll(filepath.Dir(page), 0o700), os.WriteFile(page, nil, 0o600)); err != nil {
		return err
	}
	return command("go", "build", "-C", source, "-mod=mod", "-o", filepath.Join(dir, m.program), "./cmd/"+m.program)
}

// command runs a program. Its output is part of the error.
func command(name string, args ...string) error {
	if output, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, output)
	}
	return nil
}

// writeTables returns the broken promises of wrap apart from an error of the measurement.
func writeTables(out *bytes.Buffer, all []client) (broken, err error) {
	fmt.Fprintln(out, "\n| client | version |\n|---|---|")
	for _, c := range all {
		version, err := exec.Command(c.version[0], c.version[1:]...).Output()
		if err != nil {
			return nil, fmt.Errorf("the version of %s: %w", c.name, err)
		}
		first, _, _ := strings.Cut(string(version), "\n")
		fmt.Fprintf(out, "| %s | %s |\n", c.name, strings.TrimPrefix(first, "Client Version: "))
	}
	for i, h := range histories("") {
		fmt.Fprintf(out, "\n### %s\n\n| client | POSTs | objects | reports | under wrap: POSTs, objects, reports | last line of its error |\n|---|--:|--:|---|---|---|\n", h.name)
		rows, unkept, failures := make([]string, len(all)), make([]error, len(all)), make([]error, len(all))
		var group sync.WaitGroup // programs mostly wait
		for n, c := range all {
			group.Go(func() { rows[n], unkept[n], failures[n] = c.row(i) })
		}
		group.Wait()
		if err := errors.Join(failures...); err != nil {
			return nil, err
		}
		broken = errors.Join(broken, errors.Join(unkept...))
		out.WriteString(strings.Join(rows, ""))
	}
	return broken, nil
}

// ownObject follows exists on the page if a client found the object that it had created.
const ownObject = " (found its own object)"

// row plays a history of the page without wrap and under it, and returns a row of the table.
func (c client) row(i int) (row string, broken, err error) {
	r, err := c.play(i)
	if err != nil {
		return "", nil, err
	}
	reports := r.claims[0]
	if reports == exists { // no other run has the key
		reports += ownObject
	}
	cell, broken, err := c.underWrap(i)
	return fmt.Sprintf("| %s | %d | %d | %s | %s | %s |\n", c.name, r.posts, r.objects, reports, cell, quoted(r)), broken, err
}

// play plays a history of the page.
func (c client) play(i int) (result, error) {
	open, err := on(os.Getenv("KUBECONFIG"))
	if err != nil {
		return result{}, err
	}
	history := histories(c.objects.Resource)[i]
	history.resource = c.objects
	r := history.play(c.program, open)
	if len(r.claims) == 0 {
		err = fmt.Errorf("%s: %s", c.name, strings.Join(r.problems, "; "))
	}
	return r, err
}

// underWrap plays a history of the page under wrap. It returns a cell of the table. The promise is broken unless
// exactly one object exists and the client reports it as created, or if a create bypassed the proxy.
func (c client) underWrap(i int) (cell string, broken, err error) {
	under, ok := c.wrapped()
	if !ok {
		return "", nil, nil
	}
	r, err := under.play(i)
	if err != nil {
		return "", nil, err
	}
	cell = fmt.Sprintf("%d, %d, %s", r.posts, r.objects, r.claims[0])
	if r.objects != 1 || r.claims[0] != created || r.unnamed > 0 {
		broken = fmt.Errorf("%s under wrap, %s: %s, and %d POSTs without a name: %s; %s",
			c.name, histories("")[i].name, cell, r.unnamed, r.report, strings.Join(r.problems, "; "))
	}
	return cell, broken, nil
}

// changing matches the parts of an error that differ in each run.
var changing = regexp.MustCompile(`\S*/conformance\d+/|127\.0\.0\.1:\d+|once-[a-z0-9]{5,10}|\d{2}:\d{2}:\d{2}[.\d]*|[0-9a-f]{8}-[0-9a-f-]{27}`)

// quoted returns the error of a client that reports a failure, as a cell of a table.
func quoted(r result) string {
	line := changing.ReplaceAllString(r.report, "…")
	if r.claims[0] != failed || line == "" {
		return ""
	}
	const most = 72
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return "`" + strings.NewReplacer("|", `\|`, "`", "'").Replace(line) + "`"
}
