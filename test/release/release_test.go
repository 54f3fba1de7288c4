// Package release tests the files that users download. The package builds a release of this platform, and checks its
// parts. "make release-snapshot" does the same for all platforms.
package release

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

const root = "../../"

var given = flag.String("dist", "", "directory of the release to test; without it one is made, of this platform only")

// release is a directory that goreleaser wrote.
type release struct {
	dir       string
	version   string
	commit    string
	archives  []archive
	platforms int // expected number of platforms
}

// archive is one archive of a release. Its fields have goreleaser's names.
type archive struct{ name, os, arch string }

func (a archive) isOurs() bool { return a.os == runtime.GOOS && a.arch == runtime.GOARCH }

func (a archive) program() string {
	if a.os == "windows" {
		return "kubectl-genname.exe"
	}
	return "kubectl-genname"
}

// made returns the release under test.
var made = sync.OnceValues(func() (release, error) {
	if *given != "" {
		dir, err := filepath.Abs(*given)
		if err != nil {
			return release{}, err
		}
		return read(dir, 6)
	}
	temp, err := os.MkdirTemp("", "genname-release-")
	if err != nil {
		return release{}, err
	}
	dir := filepath.Join(temp, "dist")
	if err := snapshot(temp, dir); err != nil {
		return release{}, err
	}
	return read(dir, 1)
})

func theRelease(t *testing.T) release {
	t.Helper()
	r, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// snapshot builds a release of this platform with the usual configuration.
func snapshot(temp, dir string) error {
	config, err := os.ReadFile(root + ".goreleaser.yaml")
	if err != nil {
		return err
	}
	for all, ours := range map[string]string{
		"goos: [linux, darwin, windows]": "goos: [" + runtime.GOOS + "]",
		"goarch: [amd64, arm64]":         "goarch: [" + runtime.GOARCH + "]",
	} {
		if !bytes.Contains(config, []byte(all)) {
			return fmt.Errorf(".goreleaser.yaml does not have %q", all)
		}
		config = bytes.Replace(config, []byte(all), []byte(ours), 1)
	}
	path := filepath.Join(temp, "goreleaser.yaml")
	if err := os.WriteFile(path, append(config, "\ndist: "+dir+"\n"...), 0o600); err != nil {
		return err
	}
	// As in the Makefile: without a remote, goreleaser drops the commit.
	remote := []string{
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=remote.origin.url",
		"GIT_CONFIG_VALUE_0=https://github.com/kubectl-genname/kubectl-genname",
	}
	_, err = run(remote, "go", "tool", "-modfile=tools/release/go.mod", "goreleaser", "release",
		"--snapshot", "--clean", "--skip=sbom", "--config="+path)
	return err
}

// read reads the archives from the lists that goreleaser writes.
func read(dir string, platforms int) (release, error) {
	r := release{dir: dir, platforms: platforms}
	var metadata struct{ Version, Commit string }
	var artifacts []struct {
		Name, Type   string
		Goos, Goarch string
	}
	for file, into := range map[string]any{"metadata.json": &metadata, "artifacts.json": &artifacts} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return r, err
		}
		if err := json.Unmarshal(data, into); err != nil {
			return r, fmt.Errorf("%s: %w", file, err)
		}
	}
	r.version, r.commit = metadata.Version, metadata.Commit
	for _, a := range artifacts {
		if a.Type == "Archive" {
			r.archives = append(r.archives, archive{a.Name, a.Goos, a.Goarch})
		}
	}
	return r, nil
}

// run runs a program in the repository's directory and returns its stdout. run adds env to the environment.
func run(env []string, program string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}
