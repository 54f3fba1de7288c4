package kustomize

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-genname/kubectl-genname/internal/kustomize"
)

var update = flag.Bool("update", false, "write what came as what is wanted")

// TestCases builds each folder of cases, which says in its first line what it
// is about: want.yaml has the objects, want.err the error that came.
func TestCases(t *testing.T) {
	folders, err := filepath.Glob("cases/*/kustomization.yaml")
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d cases: %v", len(folders), err)
	}
	for _, file := range folders {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			objects, err := kustomize.Build(context.Background(), filesys.MakeFsOnDisk(), folder)
			message := ""
			if err != nil {
				message = strings.ReplaceAll(err.Error(), absolute(t, "cases"), "/cases") + "\n"
			}
			compare(t, filepath.Join(folder, "want.yaml"), string(objects))
			compare(t, filepath.Join(folder, "want.err"), message)
		})
	}
}

// TestBroken compares the errors of broken kustomizations with those of
// kubectl's library for the same ones with names.
func TestBroken(t *testing.T) {
	folders, err := filepath.Glob("cases/broken-*")
	if err != nil || len(folders) < 10 {
		t.Fatalf("%d cases: %v", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "cases")
			for _, needed := range []string{"plain", filepath.Base(folder)} {
				if err := os.CopyFS(filepath.Join(copied, needed), os.DirFS(filepath.Join("cases", needed))); err != nil {
					t.Fatal(err)
				}
			}
			if err := giveNames(copied); err != nil {
				t.Fatal(err)
			}
			_, err := kubectls(filesys.MakeFsOnDisk(), filepath.Join(copied, filepath.Base(folder)))
			if err == nil {
				t.Fatal("with names it is not broken")
			}
			want, err2 := os.ReadFile(filepath.Join(folder, "want.err"))
			if err2 != nil {
				t.Fatal(err2)
			}
			got := strings.ReplaceAll(err.Error(), absolute(t, copied), "/cases") + "\n"
			if diff := cmp.Diff(got, string(want)); diff != "" {
				t.Errorf("(-kubectl with names +ours)\n%s", diff)
			}
		})
	}
}

// giveNames makes all generateNames in a folder names.
func giveNames(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
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

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// compare compares a text with what a file has; without the file, it is empty.
func compare(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file)
	switch {
	case *update && got == "":
		err = os.Remove(file)
	case *update:
		want, err = []byte(got), os.WriteFile(file, []byte(got), 0o644)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
