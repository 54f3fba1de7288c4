package release

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	pluginmanifest "github.com/kubectl-genname/kubectl-genname/krew"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// manifest contains the fields of a plugin in krew's index.
type manifest struct {
	Metadata struct{ Name string }
	Spec     pluginSpec
}

type pluginSpec struct {
	Version, Homepage, Caveats string

	Platforms []platform
}

type platform struct {
	URI, Sha256, Bin string
	Selector         struct{ MatchLabels struct{ OS, Arch string } }
}

func (r release) manifest(t *testing.T) (path string, m manifest) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "genname.yaml")
	data, err := pluginmanifest.Manifest("v"+r.version, r.sha256)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return path, m
}

// sha256 returns the checksum of an archive. A release of one platform lacks the other archives. Their checksum is
// the checksum of an empty file.
func (r release) sha256(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if errors.Is(err, fs.ErrNotExist) && r.platforms == 1 {
		return sum(nil), nil
	}
	return sum(data), err
}

// The manifest fulfills the requirements of krew's validation, and has the checksum of each archive.
func TestKrewManifest(t *testing.T) {
	r := theRelease(t)
	path, m := r.manifest(t)
	if _, err := krew(t, nil, "validate-krew-manifest", "-skip-install", "-manifest", path); err != nil {
		t.Error(err)
	}
	spec := m.Spec
	if m.Metadata.Name != "genname" || spec.Version != "v"+r.version || spec.Homepage == "" {
		t.Errorf("name %q, version %q, homepage %q, want genname, v%s and any", m.Metadata.Name, spec.Version, spec.Homepage, r.version)
	}
	if len(spec.Platforms) != 6 {
		t.Errorf("%d platforms of 6", len(spec.Platforms))
	}
	for _, a := range r.archives {
		p := spec.platform(t, a)
		data, err := os.ReadFile(filepath.Join(r.dir, a.name))
		if err != nil {
			t.Fatal(err)
		}
		if p.Sha256 != sum(data) || p.Bin != a.program() || !strings.HasSuffix(p.URI, "/"+a.name) {
			t.Errorf("%+v is not of %v", p, a)
		}
	}
}

// krew installs every archive by the manifest, with a license. kubectl runs the installed plugin of this platform,
// which prints the version of the release. After the command in the caveats, or the command in docs/install.md, kubectl
// also completes the plugin's words.
func TestKrewInstalls(t *testing.T) {
	r := theRelease(t)
	path, m := r.manifest(t)
	for _, a := range r.archives {
		t.Run(a.os+"_"+a.arch, func(t *testing.T) {
			home := t.TempDir()
			env := []string{"KREW_ROOT=" + home, "KREW_OS=" + a.os, "KREW_ARCH=" + a.arch, "KREW_NO_UPGRADE_CHECK=1"}
			if _, err := krew(t, env, "krew", "install", "--manifest="+path, "--archive="+filepath.Join(r.dir, a.name)); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(home, "store", "genname", m.Spec.Version, "LICENSE")); err != nil {
				t.Error(err)
			}
			if a.isOurs() && runtime.GOOS != "windows" {
				runInstalled(t, home, r.version, m.Spec.Caveats)
			}
		})
	}
}

func runInstalled(t *testing.T, home, version, caveats string) {
	t.Helper()
	binaries, err := controlplane.Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"KREW_ROOT=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH")}
	out, err := run(env, binaries.Kubectl, "genname", "version", "--client")
	if err != nil || out != "Client Version: v"+version+"\n" {
		t.Errorf("%q, want v%s: %v", out, version, err)
	}
	for _, text := range []string{caveats, file(t, root+"docs/install.md")} {
		link := regexp.MustCompile(`(?m)^\s*ln .*$`).FindString(text)
		if _, err := run(env, "bash", "-c", link); err != nil || link == "" {
			t.Fatalf("%q, want a command with ln that works: %v", link, err)
		}
		out, err = run(env, binaries.Kubectl, "__completeNoDesc", "genname", "completion", "b")
		if err != nil || out != "bash\n:4\n" {
			t.Errorf("%q, want bash: %v", out, err)
		}
		if err := os.Remove(filepath.Join(home, "bin", "kubectl_complete-genname")); err != nil {
			t.Error(err)
		}
	}
	out, err = run(env, binaries.Kubectl, "plugin", "list")
	if err != nil || !strings.Contains(out, filepath.Join(home, "bin", "kubectl-genname")+"\n") {
		t.Errorf("%q, want kubectl-genname: %v", out, err)
	}
}

// krew runs a tool of krew, built from krew's module.
func krew(t *testing.T, env []string, tool string, args ...string) (string, error) {
	t.Helper()
	return run(env, "go", append([]string{"tool", "-modfile=tools/krew/go.mod", tool}, args...)...)
}

// platform returns the platform of the archive.
func (s pluginSpec) platform(t *testing.T, a archive) platform {
	t.Helper()
	for _, p := range s.Platforms {
		if labels := p.Selector.MatchLabels; labels.OS == a.os && labels.Arch == a.arch {
			return p
		}
	}
	t.Fatalf("the manifest has no %s/%s", a.os, a.arch)
	return platform{}
}
