package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest" //nolint:revive,staticcheck // reads like a list of faults
)

// A client is a published client on the page about lost responses.
type client struct {
	name    string
	version []string // the command that prints the version
	program []string
}

// clients are the clients of the page. The programs are below test/conformance, built into dir.
func clients(dir string) []client {
	module := func(name, dir string) []string {
		return []string{"go", "list", "-C", dir, "-m", "-f", "{{.Version}}", name}
	}
	return []client{
		{"kubectl create", []string{"kubectl", "version", "--client"}, []string{"programs/kubectl"}},
		{"client-go", module("k8s.io/client-go", "."), []string{filepath.Join(dir, "client-go")}},
		{"controller-runtime", module("sigs.k8s.io/controller-runtime", "programs/controller-runtime"), []string{filepath.Join(dir, "controller-runtime")}},
		{"kubernetes (Python)", []string{"/usr/bin/python3", "-c", "import kubernetes; print(kubernetes.__version__)"}, []string{"programs/python-kubernetes"}},
		{"@kubernetes/client-node", []string{"node", "-p", `require("./programs/javascript/package-lock.json").packages["node_modules/@kubernetes/client-node"].version`}, []string{"programs/javascript/main.js"}},
		{"kubectl genname create", []string{"echo", "this repository"}, []string{"programs/kubectl-genname"}},
		{"pkg/once", []string{"echo", "this repository"}, []string{filepath.Join(dir, "once")}},
		{"clients/python", []string{"echo", "this repository"}, []string{"../../clients/python/conformance"}},
	}
}

// histories are the faults of the page. Each loses the response of a create, or refuses one.
func histories() []testCase {
	busy := apierrors.NewServiceUnavailable("the server is currently unable to handle the request")
	busy.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
	return []testCase{
		{name: "The connection is lost after the object was stored", setup: faults("create", DropResponse), runs: once(settled)},
		{name: "504 of the API server, and the object was stored", setup: faults("create", AfterStore(GatewayTimeout)), runs: once(settled)},
		{name: "502 of a proxy, and the object was stored", setup: faults("create", AfterStore(Respond(http.StatusBadGateway, "text/html", "<html>bad gateway</html>"))), runs: once(settled)},
		{name: "503 with Retry-After, and the object was stored", setup: faults("create", AfterStore(Refuse(busy))), runs: once(settled)},
		{name: "429 with Retry-After, and nothing was stored", setup: faults("create", TooManyRequests(1)), runs: once(done)},
		{name: "504, and the object is stored a second later", setup: faults("create", StoreLate(time.Second, GatewayTimeout)), runs: once(settled)},
	}
}

// generated is the part of the page that this program writes.
var generated = regexp.MustCompile(`(?s)(<!-- clients: begin -->\n).*(<!-- clients: end -->)`)

// writePage runs each client in each history, and writes the tables into the page.
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
	var tables bytes.Buffer
	if err := writeTables(&tables, clients(dir)); err != nil {
		return err
	}
	return os.WriteFile(page, generated.ReplaceAll(text, append([]byte("${1}"), append(tables.Bytes(), "${2}"...)...)), 0o644) //nolint:gosec // a page
}

func buildPrograms(dir string) error {
	var failures []error
	for _, name := range []string{"once", "client-go", "controller-runtime"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), ".")
		cmd.Dir = filepath.Join("programs", name)
		if output, err := cmd.CombinedOutput(); err != nil {
			failures = append(failures, fmt.Errorf("go build of %s: %w\n%s", name, err, output))
		}
	}
	return errors.Join(failures...)
}

func writeTables(out *bytes.Buffer, all []client) error {
	fmt.Fprintln(out, "\n| client | version |\n|---|---|")
	for _, c := range all {
		version, err := exec.Command(c.version[0], c.version[1:]...).Output()
		if err != nil {
			return fmt.Errorf("the version of %s: %w", c.name, err)
		}
		first, _, _ := strings.Cut(string(version), "\n")
		fmt.Fprintf(out, "| %s | %s |\n", c.name, strings.TrimPrefix(first, "Client Version: "))
	}
	for _, h := range histories() {
		fmt.Fprintf(out, "\n### %s\n\n| client | POSTs | objects | reports | last line of its error |\n|---|--:|--:|---|---|\n", h.name)
		for _, c := range all {
			r := h.play(c.program, inMemory)
			if len(r.claims) == 0 {
				return fmt.Errorf("%s: %s", c.name, strings.Join(r.problems, "; "))
			}
			fmt.Fprintf(out, "| %s | %d | %d | %s | %s |\n", c.name, r.posts, r.objects, r.claims[0], quoted(r))
		}
	}
	return nil
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
