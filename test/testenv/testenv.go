// Package testenv gives tests their own environment, so that their results don't depend on the
// machine. The environment has its own home and directory for temporary files. Its PATH holds the
// programs that tests may run, and no others, in particular no kubectl plugins. It has only the
// variables that this package names. Only tests use this package.
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

// programs are the programs of the machine that tests may run, if it has them. link adds go. If a
// shell prints "command not found" in a test, add the program here.
var programs = []string{
	"awk", "base64", "basename", "bash", "cat", "chmod", "cp", "curl", "date", "dirname", "dpkg-deb", "env", "false",
	"fish", "git", "grep", "gzip", "head", "install", "ln", "ls", "make", "mkdir", "mktemp", "mv", "od", "paste",
	"printf", "rm", "sed", "sh", "sha256sum", "shasum", "sleep", "sort", "tail", "tar", "touch", "tr", "true", "uname",
	"uniq", "wc", "xargs", "zsh",
}

// kept are the variables that tests inherit: settings for test runs, and the proxies and certificates
// with which the go command reaches the network.
var kept = []string{
	"CI", "GENNAME_CLOCK", "GENNAME_COVERAGE", "GENNAME_SEED", "GENNAME_SHARED_SERVERS", "GOMAXPROCS", "GORACE",
	"GOTRACEBACK", "RAPID_SEED",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_DIR", "SSL_CERT_FILE",
}

// ofGo are the settings of the go command. By default it derives most of them from the home.
var ofGo = []string{
	"GOCACHE", "GOENV", "GOFLAGS", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOPATH", "GOPRIVATE",
	"GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "GOVCS", "GOWORK",
}

// cacheVariable names the variable that Cache reads.
const cacheVariable = "KUBECTL_GENNAME_CACHE"

// marker names the variable with the id of the process that runs in its own environment.
const marker = "GENNAME_TESTENV"

// Run runs the tests of a package in their own environment and returns their exit code. TestMain calls
// Run first, and passes the exit code to os.Exit. Packages read the environment when they are
// initialized, so the process replaces itself by a process that starts with the new environment.
// Programs that tests start inherit it. If the tests fail, the directories of the environment stay.
//
// On Windows the environment stays as it is. No test that needs a control plane runs there.
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

// inside runs the tests, and removes the directories if they pass.
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

// settle writes the configuration of programs to the home. git trusts the repository even if another
// user owns it, as in a container. The go command writes no telemetry, which it would write after the
// tests.
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

// enter replaces this process by the same program in the new environment. It returns only on failure.
func enter() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "genname-test-")
	if err != nil {
		return err
	}
	env, err := environment(dir)
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, env)
}

// environment creates the directories of an environment below dir, and returns its variables.
func environment(dir string) ([]string, error) {
	settings, root, err := goSettings()
	if err != nil {
		return nil, err
	}
	home, temporary, bin := filepath.Join(dir, "home"), filepath.Join(dir, "tmp"), filepath.Join(dir, "bin")
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
		"CGO_ENABLED=0", // as in the Makefile, so that the build cache is shared
	}
	for _, name := range kept {
		if value, is := os.LookupEnv(name); is {
			env = append(env, name+"="+value)
		}
	}
	return append(env, settings...), nil
}

// Cache returns the directory that keeps slow builds between test runs. It is the value of
// KUBECTL_GENNAME_CACHE, or a directory in the user's cache directory.
func Cache() (string, error) {
	if dir := os.Getenv(cacheVariable); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "kubectl-genname"), err
}

// goSettings returns the variables of the go command and its GOROOT. The go program on PATH can be a
// wrapper, so a link to it isn't enough.
func goSettings() (settings []string, root string, err error) {
	out, err := exec.Command("go", append([]string{"env", "-json", "GOROOT"}, ofGo...)...).Output()
	if err != nil {
		return nil, "", fmt.Errorf("ask go for its settings: %w", err)
	}
	values := map[string]string{}
	if err := json.Unmarshal(out, &values); err != nil {
		return nil, "", err
	}
	if !strings.Contains(values["GOFLAGS"], "-trimpath") { // as in the Makefile
		values["GOFLAGS"] = strings.TrimSpace(values["GOFLAGS"] + " -trimpath")
	}
	for _, name := range ofGo {
		if values[name] != "" {
			settings = append(settings, name+"="+values[name])
		}
	}
	return settings, values["GOROOT"], nil
}

// link links the programs into a directory.
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
