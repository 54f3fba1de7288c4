// Package testenv gives tests an environment of their own, so that what they
// see does not depend on whose machine it is: a home and a folder for temporary
// files, a PATH with the programs that tests may run and no others (no plugins
// of kubectl's above all), and no variable but those named here. It is for tests
// only, and knows nothing of what they test.
package testenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// programs are what tests run of the machine's, if it has them; go comes to
// them. A shell that says "command not found" in a test wants one more.
var programs = []string{
	"awk", "basename", "bash", "cat", "chmod", "cp", "date", "dirname", "dpkg-deb", "env", "false", "fish", "git",
	"grep", "head", "ln", "ls", "mkdir", "mktemp", "mv", "printf", "rm", "sed", "sh", "sleep", "sort", "tail", "tar",
	"touch", "tr", "true", "uname", "uniq", "wc", "xargs", "zsh",
}

// kept are the variables that tests see as they are: what a person asks of
// tests, and what the go command needs to reach the network.
var kept = []string{
	"CI", "GENNAME_SEED", "GOMAXPROCS", "GORACE", "GOTRACEBACK", "RAPID_SEED",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_DIR", "SSL_CERT_FILE",
}

// ofGo are the go command's settings, most of which it would look for in the
// home, or at the side of what is there.
var ofGo = []string{
	"GOCACHE", "GOENV", "GOFLAGS", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOPATH", "GOPRIVATE",
	"GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "GOVCS", "GOWORK",
}

// cacheVariable has what Cache returns.
const cacheVariable = "KUBECTL_GENNAME_CACHE"

// marker holds the id of the process that runs in an environment of its own.
const marker = "GENNAME_TESTENV"

// Run runs the tests of a package in an environment of their own and returns
// their exit code; TestMain calls it first, and os.Exit with what it returns.
// Packages read the environment as soon as they are initialized, so the
// process replaces itself by one that begins with it. Programs that tests
// start inherit it. What they leave in the folders stays there if they fail.
//
// On Windows, where nothing runs that needs a control plane, the environment
// stays as it is.
func Run(tests func() int) int {
	if runtime.GOOS == "windows" {
		return tests()
	}
	switch os.Getenv(marker) {
	case "":
		fmt.Fprintln(os.Stderr, "an environment for tests:", enter())
		return 1
	case strconv.Itoa(os.Getpid()):
		return inside(tests)
	default: // a test started this process
		return tests()
	}
}

// inside runs the tests, and removes the folders if they pass.
func inside(tests func() int) int {
	if err := settle(); err != nil {
		fmt.Fprintln(os.Stderr, "an environment for tests:", err)
		return 1
	}
	code := tests()
	if code == 0 {
		_ = os.RemoveAll(filepath.Dir(os.Getenv("HOME")))
	}
	return code
}

// settle writes what programs should find in the home: git trusts the
// repository, which may be another user's, as in a container, and the go
// command keeps no statistics, which it would write after it has ended.
func settle() error {
	config, err := os.UserConfigDir()
	if err != nil {
		return err
	}
	telemetry := filepath.Join(config, "go", "telemetry")
	return errors.Join(
		os.MkdirAll(telemetry, 0o755),
		os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off"), 0o644),
		os.WriteFile(filepath.Join(os.Getenv("HOME"), ".gitconfig"), []byte("[safe]\n\tdirectory = *\n"), 0o644),
	)
}

// enter starts this program anew, and returns only if it cannot.
func enter() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "genname-test-")
	if err != nil {
		return err
	}
	env, err := environment(folder)
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, env)
}

// environment makes the folders of an environment below folder, and returns its
// variables.
func environment(folder string) ([]string, error) {
	settings, root, err := goSettings()
	if err != nil {
		return nil, err
	}
	home, temporary, bin := filepath.Join(folder, "home"), filepath.Join(folder, "tmp"), filepath.Join(folder, "bin")
	for _, path := range []string{home, temporary, bin} {
		if err := os.Mkdir(path, 0o755); err != nil {
			return nil, err
		}
	}
	cache, err := Cache()
	if err := errors.Join(err, link(bin, root)); err != nil {
		return nil, err
	}
	env := []string{
		marker + "=" + strconv.Itoa(os.Getpid()), cacheVariable + "=" + cache,
		"HOME=" + home, "TMPDIR=" + temporary, "PATH=" + bin,
		"LANG=C.UTF-8", "TERM=xterm", "TZ=UTC",
		"CGO_ENABLED=0", // as make has it: what it has compiled is not compiled again
	}
	for _, name := range kept {
		if value, is := os.LookupEnv(name); is {
			env = append(env, name+"="+value)
		}
	}
	return append(env, settings...), nil
}

// Cache returns the folder in which what takes long to build is kept from one
// run of the tests to the next: that of the variable KUBECTL_GENNAME_CACHE, or
// one in the user's cache directory.
func Cache() (string, error) {
	if folder := os.Getenv(cacheVariable); folder != "" {
		return folder, nil
	}
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "kubectl-genname"), err
}

// goSettings are the variables of the go command, and the folder that it is
// installed in: what is called go on PATH may need more than its own folder.
func goSettings() (settings []string, root string, err error) {
	out, err := exec.Command("go", append([]string{"env", "-json", "GOROOT"}, ofGo...)...).Output()
	if err != nil {
		return nil, "", fmt.Errorf("ask go for its settings: %w", err)
	}
	values := map[string]string{}
	if err := json.Unmarshal(out, &values); err != nil {
		return nil, "", err
	}
	if !strings.Contains(values["GOFLAGS"], "-trimpath") { // as make has it
		values["GOFLAGS"] = strings.TrimSpace(values["GOFLAGS"] + " -trimpath")
	}
	for _, name := range ofGo {
		if values[name] != "" {
			settings = append(settings, name+"="+values[name])
		}
	}
	return settings, values["GOROOT"], nil
}

// link fills a folder with the programs.
func link(bin, goRoot string) error {
	if err := os.Symlink(filepath.Join(goRoot, "bin", "go"), filepath.Join(bin, "go")); err != nil {
		return err
	}
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	return nil
}
