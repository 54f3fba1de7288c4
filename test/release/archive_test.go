package release

import (
	"archive/zip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// thirdParty is the file with the licenses of the linked modules.
const thirdParty = "THIRD_PARTY_LICENSES"

// largest is the maximum size of the program in bytes.
const largest = 64 << 20

// caskPage matches a man page of the Homebrew cask, which has no patterns.
var caskPage = regexp.MustCompile(`(?m)^ +- (man/\S+)$`)

// All archives have the same files with the commit's date, so that builds are reproducible. Each checksum is the
// published one. The cask has all man pages.
func TestArchives(t *testing.T) {
	r := theRelease(t)
	if len(r.archives) != r.platforms {
		t.Fatalf("%d archives for %d platforms: %v", len(r.archives), r.platforms, r.archives)
	}
	committed, err := run(nil, "git", "log", "-1", "--format=%ct", r.commit)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"LICENSE", "README.md", thirdParty,
		"completions/_kubectl-genname", "completions/kubectl-genname.bash", "completions/kubectl-genname.fish", "completions/kubectl-genname.ps1",
	}
	cask := caskPage.FindAllStringSubmatch(file(t, root+".goreleaser.yaml"), -1)
	for _, page := range cask {
		want = append(want, page[1])
	}
	for _, a := range r.archives {
		t.Run(a.os+"_"+a.arch, func(t *testing.T) {
			dir := r.unpack(t, a)
			if pages, err := filepath.Glob(filepath.Join(dir, "man", "*")); err != nil || len(pages) == 0 || len(pages) != len(cask) {
				t.Errorf("%d man pages, and the cask in .goreleaser.yaml has %d: %v", len(pages), len(cask), err)
			}
			for _, name := range append(want, a.program(), a.shim()) {
				info, err := os.Stat(filepath.Join(dir, name))
				if err != nil || info.Size() == 0 {
					t.Errorf("%s is missing or empty: %v", name, err)
					continue
				}
				if a.os == "windows" { // a .zip has no time zone and no modes
					continue
				}
				if strings.TrimSpace(committed) != strconv.FormatInt(info.ModTime().Unix(), 10) {
					t.Errorf("%s is of %s, not of the commit's date %s", name, info.ModTime(), committed)
				}
				if (name == a.program() || name == a.shim()) && info.Mode()&0o111 == 0 {
					t.Errorf("%s is not executable", name)
				}
			}
			program := file(t, filepath.Join(dir, a.program()))
			if len(program) > largest {
				t.Errorf("the program has %d bytes, more than %d", len(program), largest)
			}
			licenses := file(t, filepath.Join(dir, thirdParty))
			for _, module := range linked(t, program) {
				if !strings.Contains(licenses, "\n"+module+" LICENSE") {
					t.Errorf("%s has no license of %s, which is linked in", thirdParty, module)
				}
			}
		})
	}
}

// linked returns the versions of Go and of the modules in a program's build information.
func linked(t *testing.T, program string) []string {
	t.Helper()
	info, err := buildinfo.Read(strings.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	modules := []string{"go " + info.GoVersion}
	for _, m := range info.Deps {
		modules = append(modules, m.Path+" "+m.Version)
	}
	if len(modules) < 50 {
		t.Errorf("only %d modules are linked in: %q", len(modules), modules)
	}
	return modules
}

// The Debian package installs the same files, with the shim as a link. Only CI is sure to have the tool to unpack it.
func TestDebianPackage(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("not tested: there is no dpkg-deb to look into the package")
	}
	r := theRelease(t)
	packages, err := filepath.Glob(filepath.Join(r.dir, "*.deb"))
	if err != nil || len(packages) == 0 {
		t.Fatalf("no package: %v", err)
	}
	for _, path := range packages {
		list, err := run(nil, "dpkg-deb", "--contents", path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"./usr/bin/kubectl-genname\n", "./usr/bin/kubectl_complete-genname -> kubectl-genname\n",
			"./usr/share/man/man1/kubectl-genname-create.1\n", "./usr/share/bash-completion/completions/kubectl-genname\n",
			"./usr/share/doc/kubectl-genname/copyright\n", "./usr/share/doc/kubectl-genname/" + thirdParty + "\n",
		} {
			if !strings.Contains(list, want) {
				t.Errorf("%q is not in\n%s", want, list)
			}
		}
	}
	if packages, _ := filepath.Glob(filepath.Join(r.dir, "*.rpm")); len(packages) == 0 {
		t.Error("there is no .rpm")
	}
}

func (a archive) shim() string {
	if a.os == "windows" {
		return "kubectl_complete-genname.cmd"
	}
	return "kubectl_complete-genname"
}

// unpack unpacks an archive into a directory, and compares its checksum with the published one.
func (r release) unpack(t *testing.T, a archive) (dir string) {
	t.Helper()
	path, dir := filepath.Join(r.dir, a.name), t.TempDir()
	checksums := file(t, filepath.Join(r.dir, "checksums.txt"))
	if line := sum([]byte(file(t, path))) + "  " + a.name + "\n"; !strings.Contains(checksums, line) {
		t.Errorf("%q is not in checksums.txt:\n%s", line, checksums)
	}
	if !strings.HasSuffix(a.name, ".zip") {
		if _, err := run(nil, "tar", "-xzf", path, "-C", dir); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	reader, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.CopyFS(dir, reader), reader.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func sum(data []byte) string {
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:])
}
