package kustomize

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const remoteJob = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: migrate-, labels: {l: a}}\n"

// repository creates a git repository of the files, and returns its URL.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := dirOf(t, files)
	for _, arguments := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "."},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "files"},
	} {
		git := exec.Command("git", append([]string{"-C", dir}, arguments...)...)
		if output, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, output)
		}
	}
	return "file://" + dir
}

func dirOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// kustomize itself clones a remote base. The plugin reads the clone.
func TestRemoteBase(t *testing.T) {
	url := repository(t, map[string]string{
		"job/kustomization.yaml":   "namePrefix: base-\nresources: [job.yaml, ../more]\n",
		"job/job.yaml":             remoteJob,
		"more/kustomization.yaml":  "resources: [job.yaml]\n",
		"more/job.yaml":            strings.ReplaceAll(remoteJob, "migrate-", "more-"),
		"twice/kustomization.yaml": "resources: [../job, job.yaml]\n",
		"twice/job.yaml":           strings.ReplaceAll(remoteJob, "migrate-", "base-migrate-"),
		"none/kustomization.yaml":  "resources: [cm.yaml]\n",
		"none/cm.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
	})
	top := "namePrefix: top-\nresources: ['" + url + "//job?ref=main']\n"
	patched := top + "patches:\n- target: {name: NAME}\n  patch: '[{\"op\": \"add\", \"path\": \"/metadata/labels/p\", \"value\": \"q\"}]'\n"
	job := "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: top-base-migrate-\n  labels:\n    l: a\n"
	more := strings.ReplaceAll(job, "migrate-", "more-")
	for _, test := range []struct{ about, kustomization, want, message string }{
		{"its objects", top, job + "---\n" + more, ""},
		{"a target by generateName", strings.ReplaceAll(patched, "NAME", "migrate-"), job + "    p: q\n---\n" + more, ""},
		{
			"a target by a generateName that it has given", strings.ReplaceAll(patched, "NAME", "base-migrate-"),
			job + "    p: q\n---\n" + more, "",
		},
		{"a target that matches nothing", strings.ReplaceAll(patched, "NAME", "other"), job + "---\n" + more, ""},
		{
			"without generateName", "resources: ['" + url + "//none?ref=main']\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n", "",
		},
		{
			"two with one generateName", strings.ReplaceAll(top, "//job", "//twice"), "",
			`one Job of a namespace can have the generateName "base-migrate-": build the others apart`,
		},
		{"a branch that is not there", strings.ReplaceAll(top, "main", "nope"), "", "nope"},
	} {
		t.Run(test.about, func(t *testing.T) {
			dir := dirOf(t, map[string]string{"kustomization.yaml": test.kustomization})
			got, err := ours(filesys.MakeFsOnDisk(), dir)
			if got != test.want || (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Errorf("got\n%s\nand %v", got, err)
			}
		})
	}
	t.Run("the root itself", func(t *testing.T) {
		got, err := ours(filesys.MakeFsOnDisk(), url+"//more?ref=main")
		if want := strings.ReplaceAll(more, "top-base-", ""); got != want || err != nil {
			t.Errorf("got\n%s\nand %v", got, err)
		}
	})
}
