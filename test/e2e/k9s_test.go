package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
)

// k9sPlugin is a plugin of k9s.
type k9sPlugin struct {
	ShortCut, Command string
	Args              []string
}

// k9sPlugins returns the plugins of deploy/k9s, as text and decoded.
func k9sPlugins(t *testing.T) (any, map[string]k9sPlugin) {
	t.Helper()
	text := []byte(harness.Read(t, harness.Root+"deploy/k9s/plugins.yaml"))
	var file any
	var decoded struct{ Plugins map[string]k9sPlugin }
	if err := errors.Join(yaml.Unmarshal(text, &file), yaml.Unmarshal(text, &decoded)); err != nil {
		t.Fatal(err)
	}
	return file, decoded.Plugins
}

// The plugins conform to the schema of k9s. k9s uses their keys in none of its views.
func TestK9sPluginsConform(t *testing.T) {
	t.Parallel()
	file, plugins := k9sPlugins(t)
	source := harness.Module(t, "github.com/derailed/k9s@v0.51.0", "h1:do0fkB1JuN9uURg6bH99I/6phINeFmaGJcldWn8GwSY=")
	text := harness.Read(t, filepath.Join(source, "internal/config/json/schemas/plugins.json"))
	if err := schema.Conforms([]byte(text), file); err != nil {
		t.Error(err)
	}
	views, err := filepath.Glob(filepath.Join(source, "internal/view/*.go"))
	if err != nil || len(views) == 0 {
		t.Fatalf("%d files: %v", len(views), err)
	}
	used := map[string]bool{}
	for _, path := range views {
		for _, key := range regexp.MustCompile(`ui\.KeyShift([A-Z])\b`).FindAllStringSubmatch(harness.Read(t, path), -1) {
			used["Shift-"+key[1]] = true
		}
	}
	for name, p := range plugins {
		if used[p.ShortCut] || !strings.HasPrefix(p.ShortCut, "Shift-") || len(used) < 5 {
			t.Errorf("%s has the key %s, which k9s uses", name, p.ShortCut)
		}
		used[p.ShortCut] = true
	}
}

// variable matches a variable that k9s replaces in an argument (internal/view/env.go).
var variable = regexp.MustCompile(`\$(!?)([\w\-]+)|\$\{(!?)([\w\-%/: ]+)}`)

// run runs a plugin for an object that is selected in k9s, and returns the output when it contains a text. A stand-in
// for the pager begins each line with a word. If the shell executed a part of a prefix, that would create a file, and
// the test fails.
func (p k9sPlugin) run(t *testing.T, selected map[string]string, has string) {
	t.Helper()
	args := []string{}
	for _, arg := range p.Args {
		args = append(args, variable.ReplaceAllStringFunc(arg, func(name string) string {
			if value, is := selected[strings.Trim(name, "${}")]; is {
				return value
			}
			return name
		}))
	}
	u := harness.As(t, retrying.Admin())
	bin := harness.Program(t, "less", "#!/bin/sh\nexec sed 's/^/paged: /'\n")
	cmd := exec.CommandContext(t.Context(), p.Command, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(harness.Environment(t, u.Kubeconfig), "PATH="+bin+":"+harness.Path(t))
	if p.Command == "kubectl" {
		cmd.Path, cmd.Err = harness.Kubectl(t), nil
	}
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	out := shownOn(terminal)
	out.Until(t, has)
	_ = cmd.Process.Kill() // of a watch
	_ = cmd.Wait()
	_ = terminal.Close()
	if _, err := os.Stat(filepath.Join(cmd.Dir, "PWN")); err == nil {
		t.Errorf("%s executes a prefix", args)
	}
}

// The plugins print the names of the selected type, and the names and the prune plan of the object's prefix. The
// objects have a namespace and a group, or only one of them. One object has a name like an option, and one was deleted.
func TestK9sPluginsRun(t *testing.T) {
	t.Parallel()
	_, plugins := k9sPlugins(t)
	ns := harness.Namespace(t, retrying)
	prefix := ns + "-$(touch PWN)-"
	manifest := harness.File(t, "k9s.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {generateName: "+prefix+
		"}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {generateName: "+prefix+
		"}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: "+ns+"-}\n")
	created := harness.As(t, retrying.Admin()).Run("create", "-n", ns, "-f", manifest, "-o", "name")
	if created.Code != 0 {
		t.Fatal(created.Stderr)
	}
	option := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "--v=9", GenerateName: prefix}}
	if _, err := harness.Clientset(t, retrying).RbacV1().Roles(ns).Create(t.Context(), option, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for typeAndName := range strings.SplitSeq(created.Stdout+"role.rbac.authorization.k8s.io/"+option.Name, "\n") {
		kind, name, _ := strings.Cut(typeAndName, "/")
		resource, group, _ := strings.Cut(strings.ToLower(kind), ".")
		selected := map[string]string{
			"RESOURCE_NAME": resource + "s", "RESOURCE_GROUP": group, "NAME": name, "NAMESPACE": ns, "CONTEXT": "test",
		}
		plan := "is a pattern"
		switch resource {
		case "clusterrole":
			selected["NAMESPACE"] = "-"
		case "configmap":
			plan = "Nothing to delete"
		}
		for plugin, has := range map[string]string{
			"genname-audit": "--min-count", "genname-watch": "1 type watched", "genname-prefix": "Creator:", "genname-prune": plan,
		} {
			plugins[plugin].run(t, selected, has)
		}
	}
	deleted := map[string]string{"RESOURCE_NAME": "configmaps", "RESOURCE_GROUP": "", "NAME": "deleted", "NAMESPACE": ns, "CONTEXT": "test"}
	for _, plugin := range []string{"genname-prefix", "genname-prune"} {
		plugins[plugin].run(t, deleted, "paged: Error from server (NotFound)")
	}
}
