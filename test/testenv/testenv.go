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
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// programs are the programs of the machine that tests may run, if the machine has them. link adds go. If a shell prints
// "command not found" in a test, add the program here.
var programs = []string{
	"awk", "base64", "basename", "bash", "cat", "chmod", "cp", "curl", "date", "dirname", "dpkg-deb", "env", "false",
	"fish", "git", "grep", "gzip", "head", "install", "ln", "ls", "make", "mkdir", "mktemp", "mv", "od",
	"printf", "python3", "rm", "sed", "sh", "sha256sum", "shasum", "sleep", "sort", "tail", "tar", "touch", "tr", "true", "uname",
	"uniq", "wc", "xargs", "zsh",
}

// kept are the variables that tests inherit: settings for test runs, and the proxies and certificates
// with which the go command reaches the network.
var kept = []string{
	"CI", "GENNAME_COVERAGE", "GENNAME_SEED", "GENNAME_SHARED_SERVERS", "GOMAXPROCS", "GORACE",
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

// marker names the variable that the environment sets.
const marker = "GENNAME_TESTENV"

// Packages read the environment when they are initialized, so a test binary that imports this package starts itself
// again in the new environment, and exits with the same code. Programs that tests start inherit the environment. If the
// tests fail, the directories of the environment stay.
//
// On Windows the environment stays as it is. No test that needs a control plane runs there.
func init() {
	if !testing.Testing() || runtime.GOOS == "windows" || os.Getenv(marker) != "" {
		return
	}
	code, err := runInside()
	if err != nil {
		fmt.Fprintln(os.Stderr, "an environment for tests:", err)
		code = 1
	}
	os.Exit(code)
}

// runInside runs this program in the new environment, and removes the directories if it succeeds.
func runInside() (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "genname-test-")
	if err != nil {
		return 1, err
	}
	inside := exec.Command(self, os.Args[1:]...)
	inside.Args[0] = os.Args[0]
	inside.Stdin, inside.Stdout, inside.Stderr = os.Stdin, os.Stdout, os.Stderr
	if inside.Env, err = environment(dir); err != nil {
		return 1, err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	if err := inside.Start(); err != nil {
		return 1, err
	}
	go func() {
		for s := range signals {
			if s != os.Interrupt { // a terminal interrupts both processes
				_ = inside.Process.Signal(s)
			}
		}
	}()
	if err := inside.Wait(); err != nil {
		return max(inside.ProcessState.ExitCode(), 1), nil //nolint:nilerr // the tests have failed
	}
	return 0, os.RemoveAll(dir)
}

// configure writes the configuration of programs to the home directory. git trusts the repository even if another
// user owns it, as in a container. The go command writes no telemetry, which it would write after the
// tests.
func configure(home string) error {
	telemetry := filepath.Join(home, ".config", "go", "telemetry") // of Linux
	if runtime.GOOS == "darwin" {
		telemetry = filepath.Join(home, "Library", "Application Support", "go", "telemetry")
	}
	return errors.Join(
		os.MkdirAll(telemetry, 0o755),
		os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off"), 0o644),
		os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[safe]\n\tdirectory = *\n"), 0o644),
	)
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
	if err := errors.Join(err, link(bin, root), configure(home)); err != nil {
		return nil, err
	}
	env := []string{
		marker + "=1", cacheVariable + "=" + cache,
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
