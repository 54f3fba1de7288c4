package controlplane

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// SharedVariable names the directory of the control planes that several processes share.
const SharedVariable = "GENNAME_SHARED_SERVERS"

// Shared are the control planes that the packages of "make test" share: retrying retries generated names, as 1.32 and
// later do, and single does not. Each test uses its own namespaces. They add only what doesn't disturb other tests, and
// never kill a server.
var Shared = map[string][]Option{"retrying": nil, "single": {WithoutServerRetries}}

// shared is what a process needs to use a control plane of another process.
type shared struct {
	Binaries         Binaries
	Dir, Etcd, URL   string
	Certificate, Key []byte // of the authority
}

// Share starts all control planes of Shared. Processes with the variable attach to them. Its value is a directory, and
// the same for each run in a working directory, so that go test can cache results. The caller removes it, and ends the
// control planes, also after an error. Share locks the working directory. It returns an error if another process has
// locked it, even if the control planes of that process are still starting.
func Share(ctx context.Context, log io.Writer) (dir string, planes map[string]*ControlPlane, err error) {
	planes = map[string]*ControlPlane{}
	path, err := os.Getwd()
	if err != nil {
		return "", planes, err
	}
	if err := lock(path); err != nil {
		return "", planes, err
	}
	dir = filepath.Join(os.TempDir(), fmt.Sprintf("genname-shared-%x", sha256.Sum256([]byte(path))))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return dir, planes, err
	}
	for name, options := range Shared {
		cp, err := Start(ctx, log, options...)
		if err != nil {
			return dir, planes, err
		}
		planes[name] = cp
		if err := cp.share(filepath.Join(dir, name)); err != nil {
			return dir, planes, err
		}
	}
	return dir, planes, os.Setenv(SharedVariable, dir)
}

// working is the open working directory. Its lock ends with the process, however it ends.
var working *os.File

// lock locks the working directory. lock returns an error if another process has locked it.
func lock(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := unix.Flock(int(directory.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = directory.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errors.New("another process, such as make test, shares control planes in it")
		}
		return fmt.Errorf("lock %s: %w", path, err)
	}
	working = directory
	return nil
}

// share writes what attach reads. The key in this file can issue certificates for any user of the control plane.
func (cp *ControlPlane) share(path string) error {
	key, err := keyutil.MarshalPrivateKeyToPEM(cp.authority.key)
	if err != nil {
		return err
	}
	content, err := json.Marshal(shared{cp.Binaries, cp.Dir, cp.Members[0].URL, cp.Servers[0].URL, cp.authority.pem, key})
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// StartShared attaches to a control plane of Shared. StartShared starts one if no process shares it. The caller calls
// Stop and Remove, which do nothing to a control plane of another process.
func StartShared(ctx context.Context, log io.Writer, name string) (*ControlPlane, error) {
	dir := os.Getenv(SharedVariable)
	if dir == "" {
		return Start(ctx, log, Shared[name]...)
	}
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	var s shared
	if err := json.Unmarshal(content, &s); err != nil {
		return nil, err
	}
	authority, err := readAuthority(s.Certificate, s.Key)
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w", name, dir, err)
	}
	cp := &ControlPlane{
		Binaries: s.Binaries, Dir: s.Dir, Members: []*Member{{URL: s.Etcd}}, authority: authority, attached: true,
	}
	cp.Servers = []*Server{{URL: s.URL, cp: cp}}
	return cp, nil
}

func readAuthority(certificate, key []byte) (*authority, error) {
	certificates, err := cert.ParseCertsPEM(certificate)
	parsed, err2 := keyutil.ParsePrivateKeyPEM(key)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return &authority{key: parsed.(*ecdsa.PrivateKey), cert: certificates[0], pem: certificate}, nil
}
