// Package scripts tests the steps of pipelines, with a script instead of the plugin.
package scripts

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

const root = "../../"

// hostile is a value that a shell, GitLab, Tekton or the kubelet might execute or replace.
const hostile = `$(touch PWN)'"; touch PWN #` + "`touch PWN` $(GENNAME_IDEMPOTENCY_SECRET) *  \\"

// A step is the script of a job in a CI system, and the environment that its host gives the script.
type step struct {
	script string
	env    []string
}

// decode reads a file of the repository, or a part of it, and refuses unknown fields.
func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatal(err)
	}
}

// gitlab returns the script of the component. Like GitLab, it puts inputs into single values of the decoded YAML.
func gitlab(t *testing.T, given map[string]string, secret string) step {
	t.Helper()
	text, err := os.ReadFile(root + "templates/create.yml")
	if err != nil {
		t.Fatal(err)
	}
	header, body, _ := bytes.Cut(text, []byte("\n---\n"))
	var component struct {
		Spec struct {
			Inputs map[string]struct {
				Description, Type string
				Default           any
			}
		}
	}
	decode(t, header, &component)
	var jobs map[string]struct {
		Stage, Image string
		Variables    map[string]string
		Script       []string
	}
	decode(t, body, &jobs)
	job := jobs["genname-create"]
	if len(jobs) != 1 || len(job.Script) != 1 || strings.Contains(job.Script[0], "$[[") {
		t.Fatalf("the script contains an input, or is not the only one: %+v", jobs)
	}
	inputs := regexp.MustCompile(`\$\[\[ inputs\.([a-z]+) \]\]`)
	result := step{script: job.Script[0]}
	for name, value := range job.Variables {
		result.env = append(result.env, name+"="+inputs.ReplaceAllStringFunc(value, func(reference string) string {
			name := inputs.FindStringSubmatch(reference)[1]
			input, declared := component.Spec.Inputs[name]
			value, is := given[name]
			switch {
			case !declared || !is && input.Default == nil:
				t.Errorf("the input %s is not declared, or is missing", name)
			case !is:
				value = fmt.Sprint(input.Default)
			}
			return value
		}))
	}
	if secret != "" {
		result.env = append(result.env, "GENNAME_IDEMPOTENCY_SECRET="+secret)
	}
	return result
}

// tekton returns the script of the Task. Tekton replaces params in all fields, and the kubelet replaces earlier
// variables in the values of later ones.
func tekton(t *testing.T, given map[string]string, secret string) step {
	t.Helper()
	text, err := os.ReadFile(root + "deploy/tekton/create.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var task struct {
		APIVersion, Kind string
		Metadata         any
		Spec             struct {
			Description string
			Workspaces  any
			Params      []struct {
				Name, Description string
				Default           *string
			}
			Steps []struct {
				Name, Image, WorkingDir, Script string
				Env                             []corev1.EnvVar
			}
		}
	}
	decode(t, text, &task)
	if len(task.Spec.Steps) != 1 || strings.Contains(task.Spec.Steps[0].Script, "$(") {
		t.Fatalf("the script contains a param, or is not the only one: %+v", task.Spec.Steps)
	}
	var params, known []string
	for _, param := range task.Spec.Params {
		value, is := given[param.Name]
		if !is && param.Default != nil {
			value = *param.Default
		}
		params = append(params, "$(params."+param.Name+")", value)
	}
	result := step{script: task.Spec.Steps[0].Script}
	for _, variable := range task.Spec.Steps[0].Env {
		value := strings.NewReplacer(params...).Replace(variable.Value)
		if strings.Contains(variable.Value, "$(params.") && !slices.Contains(params, variable.Value) {
			t.Errorf("the param in %s is not declared", variable.Value)
		}
		value = strings.NewReplacer(known...).Replace(value)
		if variable.ValueFrom != nil {
			if value = secret; value == "" {
				continue
			}
		}
		known = append(known, "$("+variable.Name+")", value)
		result.env = append(result.env, variable.Name+"="+value)
	}
	return result
}

// printsArguments is a program that prints its arguments in lines, and in the last line the secret.
const printsArguments = `printf '%s\n' "$@" "key: $GENNAME_IDEMPOTENCY_KEY" "secret: ${GENNAME_IDEMPOTENCY_SECRET-none}"`

// The GitLab component and the Tekton Task run create with their inputs. They execute nothing in the inputs, and print
// no secret. If the inputs require a secret that is missing, the step fails.
func TestPipelineSteps(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("s", 32)
	for _, host := range []struct {
		name      string
		step      func(*testing.T, map[string]string, string) step
		secret    map[string]string // the inputs that require a secret
		unasked   string            // the secret that create gets although the inputs require none
		forgotten string
	}{
		{"gitlab", gitlab, map[string]string{"secret": "true"}, secret, "GENNAME_IDEMPOTENCY_SECRET: set this CI/CD variable"},
		{"tekton", tekton, map[string]string{"secretName": "a"}, "none", "GENNAME_IDEMPOTENCY_SECRET: the Secret of the param secretName does not exist"},
	} {
		for _, test := range []struct {
			title, secret, wait, logs, namespace string
			asks                                 bool
			want, gets, printed                  string
		}{
			{title: "defaults", gets: "none"},
			{title: "wait", wait: "true", namespace: hostile, want: "--namespace=" + hostile + "\n--wait\n", gets: "none"},
			{title: "logs", logs: "true", want: "--wait\n--logs\n", gets: "none"},
			{title: "wait and logs", wait: "true", logs: "true", want: "--wait\n--logs\n", gets: "none"},
			{title: "secret", secret: secret, asks: true, gets: secret},
			{title: "a secret that was not asked for", secret: secret, gets: host.unasked},
			{title: "no secret", asks: true, printed: host.forgotten},
		} {
			t.Run(host.name+" "+test.title, func(t *testing.T) {
				t.Parallel()
				inputs := map[string]string{"image": "x", "stage": "x", "file": "a b/" + hostile, "key": hostile, "namespace": test.namespace}
				for name, value := range map[string]string{"wait": test.wait, "logs": test.logs} {
					if value != "" {
						inputs[name] = value
					}
				}
				if test.asks {
					for name, value := range host.secret {
						inputs[name] = value
					}
				}
				got, dir, failed := runStep(t, host.step(t, inputs, test.secret))
				want := "create\n--filename=a b/" + hostile + "\n" + test.want + "key: " + hostile + "\nsecret: " + test.gets + "\n"
				if test.printed == "" && (failed || got != want) || test.printed != "" && (!failed || !strings.Contains(got, test.printed)) {
					t.Errorf("failed %t, and printed\n%s\nwant\n%s%s", failed, got, want, test.printed)
				}
				if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
					t.Errorf("the script executed an input: %v %v", files, err)
				}
			})
		}
	}
	unclear := tekton(t, map[string]string{"file": "a", "key": "k", "wait": "yes"}, "")
	if got, _, failed := runStep(t, unclear); !failed || !strings.Contains(got, "must be true or false") {
		t.Errorf("failed %t, and printed\n%s", failed, got)
	}
}

// programs writes programs into a directory, and returns the directory.
func programs(t *testing.T, texts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runStep runs a script with a program that prints its arguments, in an empty directory.
func runStep(t *testing.T, s step) (printed, dir string, failed bool) {
	t.Helper()
	bin := programs(t, map[string]string{"kubectl-genname": "#!/bin/bash\n" + printsArguments + "\n", "script": s.script})
	command := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(bin, "script"))
	command.Dir, command.Env = t.TempDir(), slices.Concat(os.Environ(), []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, s.env)
	out, err := command.CombinedOutput()
	return string(out), command.Dir, err != nil
}

// Targets beside each other print one after the other. If one fails, the others still end, and the error names it.
func TestBeside(t *testing.T) {
	const fails = "#!/bin/bash\n" + `echo "make ${*: -1}"; case "${*: -1}" in $BAD) exit 2 ;; esac` + "\n"
	bin := programs(t, map[string]string{"make": fails})
	for bad, ending := range map[string]string{"none": "", "a": "error: failed: a\n", "[bc]": "error: failed: b c\n"} {
		command := exec.CommandContext(t.Context(), root+".ci/beside", "a", "b", "c")
		command.Env = append(os.Environ(), "MAKE="+filepath.Join(bin, "make"), "BAD="+bad)
		out, err := command.CombinedOutput()
		if want := "make a\n== b\nmake b\n== c\nmake c\n" + ending; string(out) != want || (err != nil) != (bad != "none") {
			t.Errorf("%s: %v, and it printed\n%s", bad, err, out)
		}
	}
}
