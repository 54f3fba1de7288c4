package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// Versions of the programs. The go.mod files of their modules pin the same versions.
const (
	ServerVersion       = "v1.34.4"
	NewestServerVersion = "v1.37.1"
	KubectlVersion      = "v1.37.2"
)

// ServerVersions are the kube-apiservers that Build can build, oldest first. They differ in the reaction to a
// conflict, or in how they read lists. All but ServerVersion have their go.mod and go.sum in the directory versions.
// In the directory servers, "go list -mod=mod -modfile=FILE -deps PACKAGES" writes a go.sum that has only what the build
// needs.
var ServerVersions = []string{"v1.30.14", ServerVersion, NewestServerVersion}

// Binaries are the paths of the programs of a control plane, and of the reference kubectl.
type Binaries struct {
	APIServer string
	Etcd      string
	Kubectl   string
}

// program is one command to build.
type program struct {
	name    string
	dir     string // with all sources, relative to this package
	pkg     string // package, relative to dir
	modules string // directory of go.mod and go.sum, relative to dir; empty for dir
	version string // stamped into k8s.io/component-base/version; empty for none
	takes   string // on two cores, with an empty build cache
}

var (
	apiServer = program{
		name: "kube-apiserver", dir: "servers", pkg: "./kube-apiserver",
		version: ServerVersion, takes: "4 minutes",
	}
	etcd = program{name: "etcd", dir: "servers", pkg: "./etcd", takes: "10 seconds"}
	// kubectl is of the main module, because the plugin has the libraries of the same version.
	kubectl = program{
		name: "kubectl", dir: "kubectl", pkg: ".", modules: "../../..", version: KubectlVersion, takes: "1 minute",
	}
)

// at returns the program in another version.
func (p program) at(version string) program {
	if p.version != version {
		p.version, p.modules = version, filepath.Join("..", "versions", p.dir, version)
	}
	return p
}

// Build returns the paths of the programs that a control plane with these options runs. Build first builds the
// programs that are not in the user's cache directory, and prints that on log. This takes 5–6 minutes on two cores. A
// program is cached under a hash of all its inputs. A fresh clone therefore finds it, and a stale program is never
// used.
func Build(ctx context.Context, log io.Writer, options ...Option) (Binaries, error) {
	var b Binaries
	all := together(options)
	for _, p := range []struct {
		program
		path *string
	}{{apiServer.at(all.version), &b.APIServer}, {etcd, &b.Etcd}, {kubectl, &b.Kubectl}} {
		path, err := p.build(ctx, log)
		if err != nil {
			return Binaries{}, fmt.Errorf("build %s: %w", p.name, err)
		}
		*p.path = path
	}
	return b, nil
}

func (p program) build(ctx context.Context, log io.Writer) (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "test", "controlplane", p.dir)
	path, err := p.cachePath(dir)
	if err != nil {
		return "", err
	}
	return path, p.ensure(ctx, log, dir, path)
}

// building is held during a build, because parallel tests of a process need the same program.
var building sync.Mutex

// ensure builds the program into path if it is missing.
func (p program) ensure(ctx context.Context, log io.Writer, dir, path string) error {
	building.Lock()
	defer building.Unlock()
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	start := time.Now()
	fmt.Fprintf(log, "building %s (once, about %s on two cores)\n", strings.TrimSpace(p.name+" "+p.version), p.takes)
	if err := p.compile(ctx, dir, path); err != nil {
		return err
	}
	fmt.Fprintf(log, "built %s in %s\n", p.name, time.Since(start).Round(time.Second))
	return nil
}

// compile builds into a temporary file and renames it, so that the file at path is always complete. The temporary file
// has the number of the process, because several processes can build the same program.
func (p program) compile(ctx context.Context, dir, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer func() { _ = os.Remove(part) }() // of a failed build
	args := append([]string{"build", "-o", part, "-modfile=" + filepath.Join(dir, p.modules, "go.mod")}, p.flags()...)
	cmd := exec.CommandContext(ctx, "go", append(args, p.pkg)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return os.Rename(part, path)
}

func (p program) flags() []string {
	ldflags := []string{"-s", "-w"}
	if p.version != "" {
		major, rest, _ := strings.Cut(strings.TrimPrefix(p.version, "v"), ".")
		minor, _, _ := strings.Cut(rest, ".")
		for _, setting := range []string{
			"gitVersion=" + p.version, "gitMajor=" + major, "gitMinor=" + minor, "gitTreeState=clean",
		} {
			ldflags = append(ldflags, "-X=k8s.io/component-base/version."+setting)
		}
	}
	return []string{"-trimpath", "-buildvcs=false", "-ldflags=" + strings.Join(ldflags, " ")}
}

// repository returns the directory of the main module, which it finds once. (Tests run in the directory of their
// package.)
var repository = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/kubectl-genname/kubectl-genname").Output()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
})

func (p program) cachePath(dir string) (string, error) {
	cache, err := testenv.Cache()
	if err != nil {
		return "", err
	}
	hash, err := p.hash(dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "control-plane", hash, p.name), nil
}

// hash covers the program's sources, go.mod and go.sum, the flags, the platform and the version of Go. go.mod and
// go.sum cover the sources of every dependency.
func (p program) hash(dir string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, p.name, p.pkg, p.flags(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	var err error
	for _, name := range []string{".", filepath.Join(p.modules, "go.mod"), filepath.Join(p.modules, "go.sum")} {
		err = errors.Join(err, write(h, filepath.Join(dir, name)))
	}
	return hex.EncodeToString(h.Sum(nil))[:16], err
}

// write writes dir, which is a file, or all files below it with their paths.
func write(h io.Writer, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(h, "%s %d\n%s", rel, len(data), data)
		return err
	})
}
