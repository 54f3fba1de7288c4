package kustomize_test

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
	"golang.org/x/text/encoding/unicode"

	"github.com/kubectl-genname/kubectl-genname/internal/kustomize"
)

// casesDir contains a directory with a kustomization for each case.
const casesDir = "../../test/kustomize/cases"

var update = flag.Bool("update", false, "write what came as what is wanted")

// As in kubectl, a file has the same objects in UTF-16 as in UTF-8.
func TestUTF16(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: demo-\n"
	text, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(object)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if built, err := kustomize.Build(t.Context(), kustomize.OnDisk(), dir); err != nil || string(built) != object {
		t.Errorf("%s%v, want\n%s", built, err, object)
	}
}

// TestCases builds the directories of cases with a file want.yaml or want.err: the expected objects or error. The first
// line of a kustomization describes the case. test/kustomize builds the other directories, and compares them with the
// library of kubectl.
func TestCases(t *testing.T) {
	wants, err := filepath.Glob(casesDir + "/*/want.*")
	if err != nil || len(wants) == 0 {
		t.Fatalf("%d cases: %v", len(wants), err)
	}
	for _, file := range wants {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			objects, err := kustomize.Build(context.Background(), kustomize.OnDisk(), dir)
			message := ""
			if err != nil {
				message = strings.ReplaceAll(err.Error(), absolute(t, casesDir), "/cases") + "\n"
			}
			compare(t, filepath.Join(dir, "want.yaml"), string(objects))
			compare(t, filepath.Join(dir, "want.err"), message)
		})
	}
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

// compare compares a text with the content of a file. If the file doesn't exist, the text must be
// empty.
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
