//go:build unix

package manifest_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/manifest"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// Every command with -k refuses a kustomization that needs much memory, or that would hang.
func TestUntrustedKustomization(t *testing.T) {
	pipe := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(pipe, "kustomization.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	const cases = "../../../../test/kustomize/cases/"
	for dir, want := range map[string]string{
		cases + "aliases": "excessive aliasing", cases + "aliases-inline": "excessive aliasing",
		cases + "aliases-cycle": "contains itself", pipe: "not a regular file",
	} {
		builder := resource.NewBuilder(genericclioptions.NewConfigFlags(false))
		_, err := manifest.FilenameParam(t.Context(), builder, false, &resource.FilenameOptions{Kustomize: dir})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}
