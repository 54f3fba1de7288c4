package kustomize

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestBroken compares the errors of broken kustomizations with the errors of kubectl's library. The library gets
// names in place of the generateNames.
func TestBroken(t *testing.T) {
	dirs, err := filepath.Glob("cases/broken-*")
	if err != nil || len(dirs) < 10 {
		t.Fatalf("%d cases: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			temporary, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(temporary, "cases")
			for _, needed := range []string{"plain", filepath.Base(dir)} {
				if err := os.CopyFS(filepath.Join(copied, needed), os.DirFS(filepath.Join("cases", needed))); err != nil {
					t.Fatal(err)
				}
			}
			if err := giveNames(copied); err != nil {
				t.Fatal(err)
			}
			_, err = kubectls(filesys.MakeFsOnDisk(), filepath.Join(copied, filepath.Base(dir)))
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
