package release

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/kustomize"
)

const (
	image       = "ghcr.io/kubectl-genname/kubectl-genname"
	imageDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// recorder prints the arguments of a program into a file.
const recorder = `#!/bin/bash
echo "$(basename "$0") $*" >> "$RECORD"
[ "$1 $2" != "buildx build" ] || {
	echo {} > image.json
	[ -n "$NO_DIGEST" ] || echo '{"containerimage.digest": "` + imageDigest + `"}' > image.json
}
`

// publisher is the job that publishes a release, with docker, cosign and gh that only record their arguments.
type publisher struct {
	dir, record string
	env         []string
}

func newPublisher(t *testing.T, r release) publisher {
	t.Helper()
	p := publisher{dir: t.TempDir()}
	p.record = filepath.Join(p.dir, "record")
	bin := t.TempDir()
	for _, name := range []string{"docker", "cosign", "gh"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(recorder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(p.dir, "dist"), os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	p.env = []string{
		"DIST=" + filepath.Join(p.dir, "dist"), "RECORD=" + p.record, "GITHUB_OUTPUT=" + filepath.Join(p.dir, "output"),
		"PLATFORMS=linux/" + runtime.GOARCH, "PATH=" + bin + ":" + os.Getenv("PATH"),
	}
	return p
}

// deployed returns the name and the tag of the image in deploy/exporter and in deploy/prune, which is the same. The
// chart has the same version.
func deployed(t *testing.T, repository string) (name, tag string) {
	t.Helper()
	for _, directory := range []string{"deploy/exporter/base", "deploy/prune"} {
		var kustomization struct {
			Images []struct{ Name, NewTag string }
		}
		text := file(t, filepath.Join(repository, directory, "kustomization.yaml"))
		if err := yaml.Unmarshal([]byte(text), &kustomization); err != nil || len(kustomization.Images) != 1 {
			t.Fatalf("%v: %d images in\n%s", err, len(kustomization.Images), text)
		}
		image := kustomization.Images[0]
		if name != "" && (image.Name != name || image.NewTag != tag) {
			t.Errorf("%s has the image of %s:%s, and deploy/exporter %s:%s", directory, image.Name, image.NewTag, name, tag)
		}
		name, tag = image.Name, image.NewTag
	}
	if chart := file(t, filepath.Join(repository, "deploy/chart/Chart.yaml")); !strings.Contains(chart, "\nversion: "+strings.TrimPrefix(tag, "v")+"\n") {
		t.Errorf("the chart has not the version %s:\n%s", tag, chart)
	}
	return name, tag
}

func file(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The job pushes the programs of the archives as an image, and signs it. The manifests of the release have its digest,
// and the signed checksums cover them.
func TestPublish(t *testing.T) {
	r := theRelease(t)
	if runtime.GOOS != "linux" {
		t.Skip("the image has programs for Linux")
	}
	p := newPublisher(t, r)
	tag := "v" + r.version
	if _, err := run(p.env, "packaging/publish", "image", tag, r.commit); err != nil {
		t.Fatal(err)
	}
	dist := filepath.Join(p.dir, "dist")
	for _, want := range []string{
		"docker buildx build .* --target shell --platform .* --push .* --tag " + image + ":" + regexp.QuoteMeta(tag) + "-shell ",
		"docker buildx build .* --target bare --platform linux/" + runtime.GOARCH + " --push .* --tag " + image + ":" + regexp.QuoteMeta(tag) + " .*--label=org.opencontainers.image.version=" + regexp.QuoteMeta(tag) + " ",
		"cosign sign --yes " + image + "@" + imageDigest + " " + image + "@" + imageDigest,
		"cosign sign-blob --yes --bundle=checksums.txt.sigstore.json checksums.txt",
	} {
		if record := file(t, p.record); !regexp.MustCompile("(?m)^" + want).MatchString(record) {
			t.Errorf("no %q in\n%s", want, record)
		}
	}
	if output := file(t, filepath.Join(p.dir, "output")); output != "digest="+imageDigest+"\nshell-digest="+imageDigest+"\n" {
		t.Errorf("the outputs are %q", output)
	}
	for _, copied := range regexp.MustCompile(`(?m)^COPY (?:--\S+ )?(\S+) `).FindAllStringSubmatch(file(t, root+"packaging/image/Dockerfile"), -1) {
		data := file(t, filepath.Join(dist, "context", strings.ReplaceAll(copied[1], "$TARGETPLATFORM", "linux/"+runtime.GOARCH)))
		if program := filepath.Base(copied[1]) == "kubectl-genname"; program && *given == "" && data != file(t, filepath.Join(r.unpack(t, r.archives[0]), "kubectl-genname")) {
			t.Errorf("%s is not the program of the archive", copied[1])
		}
	}
	p.checkManifests(t, "kubectl-genname_"+tag+"_deploy")
	if _, err := run(p.env, "packaging/publish", "draft", tag); err != nil {
		t.Fatal(err)
	}
	record := file(t, p.record)
	for _, want := range []string{"--prerelease", "genname.yaml", "checksums.txt.sigstore.json", "_deploy.tar.gz", r.archives[0].name, "gh release edit " + tag + " --draft=false\n"} {
		if !strings.Contains(record, want) {
			t.Errorf("no %q in\n%s", want, record)
		}
	}
}

// checkManifests builds the manifests of the archive.
func (p publisher) checkManifests(t *testing.T, name string) {
	t.Helper()
	archive := filepath.Join(p.dir, "dist", name+".tar.gz")
	data := file(t, archive)
	if line := sum([]byte(data)) + "  " + name + ".tar.gz\n"; !strings.Contains(file(t, filepath.Join(p.dir, "dist/checksums.txt")), line) {
		t.Errorf("checksums.txt has no %q", line)
	}
	if _, err := run(p.env, "tar", "-xzf", archive, "-C", p.dir); err != nil {
		t.Fatal(err)
	}
	built, err := kustomize.Build(t.Context(), filesys.MakeFsOnDisk(), filepath.Join(p.dir, name, "deploy/exporter"))
	if err != nil || !strings.Contains(string(built), "image: "+image+"@"+imageDigest+"\n") {
		t.Errorf("%v: the manifests have another image:\n%s", err, built)
	}
}

// Without a digest nothing is signed.
func TestPublishWithoutDigest(t *testing.T) {
	p := newPublisher(t, theRelease(t))
	p.env = append(p.env, "NO_DIGEST=1")
	if out, err := run(p.env, "packaging/publish", "image", "v1.0.0", "a"); err == nil || !strings.Contains(err.Error(), "error: docker printed no digest") {
		t.Errorf("%v, %s, want that docker printed no digest", err, out)
	}
	if record := file(t, p.record); strings.Contains(record, "cosign") {
		t.Errorf("something was signed:\n%s", record)
	}
}
