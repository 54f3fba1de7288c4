package release

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// docker is a fake docker. It records its arguments and the directory that an image is built from.
const docker = `#!/bin/sh
case "$1 $2" in
"buildx inspect") echo "Driver: docker-container" ;;
"buildx build")
	printf '%s\n' "$@" > "$IMAGE_DIR/arguments"
	cp -r . "$IMAGE_DIR/context"
	for argument; do
		case $argument in --iidfile=*) echo sha256:0 > "${argument#--iidfile=}" ;; esac
	done
	;;
*) exit 1 ;; # there is no daemon
esac
`

// recordImages returns the environment in which goreleaser runs this docker.
func recordImages(temp string) ([]string, error) {
	dir := filepath.Join(temp, "image")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(docker), 0o755); err != nil {
		return nil, err
	}
	return []string{"IMAGE_DIR=" + dir, "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}, nil
}

// deployed returns the name and the tag of the image in deploy/exporter.
func deployed(t *testing.T, repository string) (name, tag string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "deploy/exporter/base/kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct {
		Images []struct{ Name, NewTag string }
	}
	if err := yaml.Unmarshal(text, &kustomization); err != nil || len(kustomization.Images) != 1 {
		t.Fatalf("%v: %d images in\n%s", err, len(kustomization.Images), text)
	}
	return kustomization.Images[0].Name, kustomization.Images[0].NewTag
}

// The image is built from the program of the archive and from all files that the Dockerfile
// copies. Its name is the one in the manifests.
func TestImage(t *testing.T) {
	if *given != "" || runtime.GOOS != "linux" {
		t.Skip("needs a release of linux that this test makes itself")
	}
	r := theRelease(t)
	dir := filepath.Join(filepath.Dir(r.dir), "image")
	arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
	if err != nil {
		t.Fatal(err)
	}
	name, _ := deployed(t, root)
	tag := name + ":v" + r.version + "-" + runtime.GOARCH // a snapshot has one tag for each platform
	for _, want := range []string{tag, "linux/" + runtime.GOARCH, "org.opencontainers.image.version=v" + r.version} {
		if !slices.Contains(strings.Split(string(arguments), "\n"), want) {
			t.Errorf("docker gets no %q:\n%s", want, arguments)
		}
	}
	context := filepath.Join(dir, "context")
	dockerfile, err := os.ReadFile(filepath.Join(context, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	copied := regexp.MustCompile(`(?m)^COPY (\S+) `).FindAllStringSubmatch(string(dockerfile), -1)
	for _, source := range copied {
		file := strings.ReplaceAll(source[1], "$TARGETPLATFORM", "linux/"+runtime.GOARCH)
		data, err := os.ReadFile(filepath.Join(context, file))
		if err != nil || len(data) == 0 {
			t.Errorf("%s, which the Dockerfile copies: %d bytes, %v", file, len(data), err)
		}
		if filepath.Base(file) == "kubectl-genname" && !bytes.Equal(data, r.unpack(t, r.archives[0])["kubectl-genname"].data) {
			t.Errorf("%s is not the program of the archive", file)
		}
	}
	if len(copied) != 2 {
		t.Errorf("the Dockerfile copies %q", copied)
	}
}

// The manifests of a release have its image. A snapshot has no image that can be pulled.
func TestDeployedVersion(t *testing.T) {
	r := theRelease(t)
	if strings.Contains(r.version, "-snapshot.") {
		t.Skip("a snapshot: TestReleaseCommit checks the version of a release commit")
	}
	if _, tag := deployed(t, root); tag != "v"+r.version {
		t.Errorf("deploy/exporter has the image of %s, and the release is v%s", tag, r.version)
	}
}
