package e2e

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// If truncation at 58 bytes splits a character of the prefix, the plugin makes the name valid before
// it sends it. So it recognizes the name in the response.
func TestCreateSplitCharacter(t *testing.T) {
	t.Parallel()
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {generateName: " + strings.Repeat("r", 57) + "é-}\n"
	harness.As(t, single.Admin()).Run("create", "-f", harness.File(t, "role.yaml", role)).
		Expect(t, 0, `clusterrole.rbac.authorization.k8s.io/r{57}`+harness.Suffix+` created\n`, ``)
}

func TestWarningsAsErrors(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	misspelled := harness.File(t, "f.yaml", configMap+"nope: 1\n")
	warning := `Warning: unknown field "nope"\n`
	u.Run("create", "-n", ns, "-f", misspelled, "--validate=warn").Expect(t, 0, `configmap/demo-`+harness.Suffix+` created\n`, warning)
	u.Run("create", "-n", ns, "-f", misspelled, "--validate=warn", "--warnings-as-errors").Expect(t, 1,
		`configmap/demo-`+harness.Suffix+` created\n`, warning+`error: 1 warning received\n`)
}

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {generateName: demo-}
`

func TestCreate(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	r := harness.As(t, retrying.Admin()).Run("create", "-n", ns, "-f", harness.File(t, "two.yaml", configMap+"---"+configMap))
	r.Expect(t, 0, `(configmap/demo-`+harness.Suffix+` created\n){2}`, ``)
	found := harness.ConfigMaps(t, retrying, ns)
	if len(found) != 2 {
		t.Fatalf("%d objects are there, want 2", len(found))
	}
	for _, cm := range found {
		if cm.GenerateName != "demo-" || !strings.HasPrefix(cm.Annotations[exactlyonce.Annotation], "r1-") {
			t.Errorf("generateName %q, annotations %v", cm.GenerateName, cm.Annotations)
		}
		if manager := cm.ManagedFields[0].Manager; manager != "kubectl-create" {
			t.Errorf("field manager %q, want kubectl's", manager)
		}
	}
}

// Errors of the input have kubectl's words. Objects created before an error stay on stdout. TestParity has more errors.
func TestCreateBadInput(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	admin := harness.As(t, retrying.Admin())
	created := `configmap/demo-` + harness.Suffix + ` created\n`
	for _, test := range []struct {
		name           string
		args           []string
		stdout, stderr string
	}{
		{"stray argument", []string{"x"}, ``, `error: Unexpected args: \[x\]\nSee 'kubectl genname create -h' for help and examples\n`},
		{"no attempts", []string{"--attempts=0", "-f", "-"}, ``, harness.Printed("error: "+"--attempts must be from 1 to %d, not %d", `\d+`, "0")},
		{"too many attempts", []string{"--attempts=100001", "-f", "-"}, ``, harness.Printed("error: "+"--attempts must be from 1 to %d, not %d", "100000", "100001")},
		{"negative time", []string{"--retry-timeout=-1s", "-f", "-"}, ``, harness.Printed("error: "+"--retry-timeout must be 0 or more, not %s", "-1s")},
		{"broken second document", []string{"-f", harness.File(t, "b.yaml", configMap+"---\na: [\n---"+configMap)}, created, `error: error parsing .*b.yaml: error converting YAML to JSON: [^\n]*\n` + partUnused},
		{"unknown kind", []string{"-f", harness.File(t, "u.yaml", strings.ReplaceAll(configMap, "ConfigMap", "Nope")+"---"+configMap)}, created, `error: resource mapping not found for name: "" namespace: "" from ".*u.yaml": no matches for kind "Nope" in version "v1"\nensure CRDs are installed first\n` + partUnused},
		{"invalid generateName", []string{"-f", harness.File(t, "i.yaml", strings.ReplaceAll(configMap, "demo-", "Demo_"))}, ``, harness.Printed("Warning: "+"%s: %s. To fix this, %s (lint rule %s).", "configmap/Demo_") + `The ConfigMap "Demo_` + harness.Suffix + `" is invalid: \n\* metadata.generateName: Invalid value: "Demo_".*`},
		{"no such namespace", []string{"-n", "nonsuch", "-f", harness.File(t, "n.yaml", configMap)}, ``, `Error from server \(NotFound\): error when creating ".*n.yaml": namespaces "nonsuch" not found\n`},
	} {
		t.Run(test.name, func(t *testing.T) {
			admin.T = t
			admin.Run(append([]string{"create", "-n", ns}, test.args...)...).Expect(t, 1, test.stdout, test.stderr)
		})
	}
	t.Run("no kubeconfig", func(t *testing.T) {
		harness.User{T: t, Kubeconfig: "/nonexistent", Context: t.Context()}.Run("create", "-f", "x.yaml").Expect(t, 1, ``, `error: stat /nonexistent: no such file or directory\n`)
	})
}

// Objects from stdin are created. kubectl's builder reads the stdin of the process, so this runs
// through kubectl.
func TestCreateFromStdinThroughKubectl(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	run := func(in string, args ...string) harness.Result {
		cmd := exec.CommandContext(t.Context(), retrying.Binaries.Kubectl, append([]string{"genname"}, args...)...)
		cmd.Env = harness.Environment(t, u.Kubeconfig)
		var stdout, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &stdout, &stderr
		_ = cmd.Run() // the exit code is compared
		return harness.Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	}
	run(configMap, "create", "-n", ns, "-f", "-").Expect(t, 0, `configmap/demo-`+harness.Suffix+` created\n`, ``)
	run("", "create", "-n", ns, "-f", "-").Expect(t, 1, ``, `error: no objects passed to create\n`)
	run("", "report", "--creates=1000000", "--fail-above=0.001%").Expect(t, 3, "A new prefix has no names."+`.*`, harness.Printed("error: the chance that a create fails is above --fail-above %s in %s", "0.001%", "1 row"))
}

// A document is created as soon as its end is known, however long stdin stays open. The writer may
// wait for the result.
func TestCreateFromAPipeThatStaysOpen(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Plugin(t), "create", "-n", ns, "-f", "-")
	cmd.Env = harness.Environment(t, harness.As(t, retrying.Admin()).Kubeconfig)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	created := bufio.NewScanner(stdout)
	document := "# " + strings.Repeat("x", 4096) + configMap + "---\n" // kubectl reads that much to detect JSON
	for i := range 20 {
		if _, err := io.WriteString(stdin, document); err != nil || !created.Scan() {
			t.Fatalf("document %d is not created before the next one comes: %v", i+1, err)
		}
	}
	_ = stdin.Close()
	if created.Scan() {
		t.Errorf("%q comes at the end", created.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// partUnused matches the end of a run without a key that created one object and could not use the rest
// of its input.
var partUnused = harness.Printed("%s. A part of the input could not be used.", strings.TrimSuffix(sum("not all objects were created", 1, 0, 0, 0, 0), `\n`)) +
	theRest("create the rest with the same command and only this input:\n%s", "  the input that could not be used")
