package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// thirdParty is the file with the licenses of the linked modules.
const thirdParty = "THIRD_PARTY_LICENSES"

// largest is the maximum size of the program in bytes.
const largest = 64 << 20

// entry is a regular file of an archive.
type entry struct {
	data []byte
	mode fs.FileMode
	at   int64 // when it was last modified, in Unix seconds
}

// All archives have the same files with the commit's date, so that builds are reproducible. Each checksum is the
// published one.
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
	for _, a := range r.archives {
		t.Run(a.os+"_"+a.arch, func(t *testing.T) {
			files := r.unpack(t, a)
			for _, name := range append(want, a.program(), a.shim(), "man/kubectl-genname-create.1") {
				if len(files[name].data) == 0 {
					t.Errorf("%s is not in it, or empty; there are %q", name, slices.Sorted(maps.Keys(files)))
				}
			}
			for name, file := range files {
				if a.os != "windows" && strings.TrimSpace(committed) != strconv.FormatInt(file.at, 10) { // no time zone
					t.Errorf("%s is of %d, not of the commit's date %s", name, file.at, committed)
				}
			}
			if size := len(files[a.program()].data); size > largest {
				t.Errorf("the program has %d bytes, more than %d", size, largest)
			}
			if a.os != "windows" && (files[a.program()].mode&0o111 == 0 || files[a.shim()].mode&0o111 == 0) {
				t.Error("the program or its shim is not executable")
			}
			for _, module := range linked(t, files[a.program()].data) {
				if !bytes.Contains(files[thirdParty].data, []byte("\n"+module+" LICENSE")) {
					t.Errorf("%s has no license of %s, which is linked in", thirdParty, module)
				}
			}
		})
	}
}

// linkAsDocumented creates the shim from the program by the command of docs/install.md, for installations without an
// archive.
func linkAsDocumented(t *testing.T, bin, path string) {
	t.Helper()
	page, err := os.ReadFile(root + "docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(bin, "kubectl_complete-genname")); err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`(?m)^ +ln -s .*$`).FindString(string(page))
	if _, err := run([]string{path}, "bash", "-c", link); err != nil || link == "" {
		t.Fatalf("%q: %v", link, err)
	}
}

// linked returns the versions of Go and of the modules in a program's build information.
func linked(t *testing.T, program []byte) []string {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(program))
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

// A program that can run here prints the version of the release. Its shim completes commands.
func TestProgram(t *testing.T) {
	r := theRelease(t)
	ran := false
	for _, a := range r.archives {
		if !a.isOurs() {
			continue
		}
		ran = true
		bin := t.TempDir()
		for name, file := range r.unpack(t, a) {
			if file.mode&0o111 != 0 {
				if err := os.WriteFile(filepath.Join(bin, name), file.data, 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
		if out, err := run(nil, filepath.Join(bin, a.program()), "version", "--client"); err != nil || out != "Client Version: v"+r.version+"\n" {
			t.Errorf("%q %v", out, err)
		}
		path := "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
		if a.os != "windows" {
			linkAsDocumented(t, bin, path)
		}
		if out, err := run([]string{path}, filepath.Join(bin, a.shim()), "completion", ""); err != nil || out != "bash\nzsh\nfish\npowershell\n:4\n" {
			t.Errorf("%q %v", out, err)
		}
	}
	if !ran {
		t.Errorf("no archive is for this platform: %v", r.archives)
	}
}

// The Debian package installs the same files, with the shim as a link. CI has the tool to unpack it.
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
		list, err := run(nil, "dpkg-deb", "--contents", absolute(t, path))
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

// unpack reads an archive and compares its checksum with the published one.
func (r release) unpack(t *testing.T, a archive) map[string]entry {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, a.name))
	if err != nil {
		t.Fatal(err)
	}
	checksums, err := os.ReadFile(filepath.Join(r.dir, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if line := sum(data) + "  " + a.name + "\n"; !bytes.Contains(checksums, []byte(line)) {
		t.Errorf("%q is not in checksums.txt:\n%s", line, checksums)
	}
	files, err := untar(data)
	if strings.HasSuffix(a.name, ".zip") {
		files, err = unzip(data)
	}
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	return files
}

func sum(data []byte) string {
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:])
}

func untar(data []byte) (map[string]entry, error) {
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	files := map[string]entry{}
	for reader := tar.NewReader(plain); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			return nil, errors.New(header.Name + " is no regular file, so that krew cannot unpack it")
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			return nil, err
		}
		files[header.Name] = entry{content, header.FileInfo().Mode(), header.ModTime.Unix()}
	}
}

func unzip(data []byte) (map[string]entry, error) {
	reader, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	files := map[string]entry{}
	for _, f := range reader.File {
		content, err := fs.ReadFile(reader, f.Name)
		if err != nil {
			return nil, err
		}
		files[f.Name] = entry{content, f.Mode(), f.Modified.Unix()}
	}
	return files, nil
}
