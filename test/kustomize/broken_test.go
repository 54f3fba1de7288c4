// Package kustomize compares -k with the library of kubectl. Objects with generateName give the same result as
// objects with names. The directory cases contains kustomizations. Each has the objects or the error that
// internal/kustomize returns for it.
package kustomize

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// TestBroken compares the errors of broken kustomizations with the errors of kubectl's library. The library gets
// names in place of the generateNames.
func TestBroken(t *testing.T) {
	dirs, err := filepath.Glob("cases/broken-*")
	if err != nil || len(dirs) < 10 {
		t.Fatalf("%d cases: %v", len(dirs), err)
	}
	copied := casesWithNames(t)
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			_, err := kubectls(filesys.MakeFsOnDisk(), filepath.Join(copied, filepath.Base(dir)))
			if err == nil {
				t.Fatal("with names it is not broken")
			}
			want, err2 := os.ReadFile(filepath.Join(dir, "want.err"))
			if err2 != nil {
				t.Fatal(err2)
			}
			got := strings.ReplaceAll(err.Error(), copied, "/cases") + "\n"
			if diff := cmp.Diff(got, string(want)); diff != "" {
				t.Errorf("(-kubectl with names +ours)\n%s", diff)
			}
		})
	}
}

// TestNames builds each case without a file want.yaml or want.err. The objects are those of kubectl's library for names
// in place of the generateNames.
func TestNames(t *testing.T) {
	dirs, err := filepath.Glob("cases/*")
	if err != nil {
		t.Fatal(err)
	}
	copied, built := casesWithNames(t), 0
	for _, dir := range dirs {
		if wants, err := filepath.Glob(filepath.Join(dir, "want.*")); err != nil || len(wants) > 0 {
			continue
		}
		built++
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want, err := kubectls(filesys.MakeFsOnDisk(), filepath.Join(copied, filepath.Base(dir)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := ours(filesys.MakeFsOnDisk(), dir)
			if err != nil || !strings.Contains(got, "generateName: ") {
				t.Fatalf("error %v, want objects with a generateName:\n%s", err, got)
			}
			if diff := cmp.Diff(named(want), named(got)); diff != "" {
				t.Errorf("(-kubectl with names +ours)\n%s", diff)
			}
		})
	}
	if built < 15 {
		t.Errorf("%d cases have no expected objects or error, want 15 or more", built)
	}
}

// casesWithNames copies the cases, with names in place of the generateNames, and returns the directory of the copy.
func casesWithNames(t *testing.T) string {
	t.Helper()
	temporary, err := filepath.EvalSymlinks(t.TempDir())
	copied := filepath.Join(temporary, "cases")
	if err := errors.Join(err, os.CopyFS(copied, os.DirFS("cases")), giveNames(copied)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// giveNames renames all generateNames in a directory to names.
func giveNames(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(content), "generateName:", "name:")), 0o644)
	})
}

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
