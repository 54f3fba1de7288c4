package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// readyTimeout bounds the start of a control plane. It takes about four
// seconds on an idle machine of two cores.
const readyTimeout = 2 * time.Minute

// ControlPlane is a running etcd and kube-apiserver with RBAC. Several can run
// side by side.
type ControlPlane struct {
	// Binaries are the programs it runs.
	Binaries Binaries
	// Dir holds its data, its certificates, and the logs etcd.log and
	// kube-apiserver.log.
	Dir string

	authority     *authority
	url           string
	etcd          *process
	apiServer     *process
	controllers   *process
	apiServerArgs []string
	apiServerEnv  []string
}

// Start builds what is missing and runs a control plane, ready to serve, with
// the options that are given. Progress of a build goes to log.
// The caller calls Stop; if the caller dies, the servers do too.
func Start(ctx context.Context, log io.Writer, options ...Option) (*ControlPlane, error) {
	binaries, err := Build(ctx, log)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "genname-control-plane-")
	if err != nil {
		return nil, err
	}
	cp := &ControlPlane{Binaries: binaries, Dir: dir}
	if err := cp.start(ctx, options); err != nil {
		return nil, errors.Join(err, cp.Stop())
	}
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context, options []Option) error {
	var err error
	if cp.authority, err = newAuthority(); err != nil {
		return err
	}
	if err := cp.authority.write(cp.Dir); err != nil {
		return err
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	client, peer, secure := ports[0], ports[1], ports[2]
	cp.url = "https://127.0.0.1:" + secure
	cp.etcd, err = start(cp.path("etcd.log"), cp.Binaries.Etcd, nil,
		"--data-dir="+cp.path("etcd"),
		"--listen-client-urls=http://127.0.0.1:"+client,
		"--advertise-client-urls=http://127.0.0.1:"+client,
		"--listen-peer-urls=http://127.0.0.1:"+peer,
		"--initial-advertise-peer-urls=http://127.0.0.1:"+peer,
		"--initial-cluster=default=http://127.0.0.1:"+peer,
		"--quota-backend-bytes=8589934592",
		"--unsafe-no-fsync",
		"--log-level=warn",
	)
	if err != nil {
		return err
	}
	cp.apiServerArgs = []string{
		"--etcd-servers=http://127.0.0.1:" + client,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + secure,
		"--tls-cert-file=" + cp.path("apiserver.crt"),
		"--tls-private-key-file=" + cp.path("apiserver.key"),
		"--client-ca-file=" + cp.path("ca.crt"),
		"--service-account-issuer=" + cp.url,
		"--service-account-signing-key-file=" + cp.path("service-accounts.key"),
		"--service-account-key-file=" + cp.path("service-accounts.key"),
		"--authorization-mode=RBAC",
		"--disable-admission-plugins=ServiceAccount", // no controller makes the accounts
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/16",
	}
	for _, o := range options {
		cp.apiServerArgs = append(cp.apiServerArgs, o.args...)
		cp.apiServerEnv = append(cp.apiServerEnv, o.env...)
	}
	return cp.StartAPIServer(ctx)
}

// KillAPIServer ends kube-apiserver at once, as a crash does.
func (cp *ControlPlane) KillAPIServer() error { return cp.apiServer.kill() }

// StartAPIServer starts kube-apiserver, again after KillAPIServer, at the same
// address, and returns when it is ready.
func (cp *ControlPlane) StartAPIServer(ctx context.Context) error {
	var err error
	if cp.apiServer, err = start(cp.path("kube-apiserver.log"), cp.Binaries.APIServer, cp.apiServerEnv, cp.apiServerArgs...); err != nil {
		return err
	}
	return cp.waitReady(ctx)
}

// Stop ends the servers and leaves Dir, whose logs may be wanted; Remove
// deletes it.
func (cp *ControlPlane) Stop() error {
	return errors.Join(cp.controllers.kill(), cp.apiServer.kill(), cp.etcd.kill())
}

// Remove deletes Dir, after Stop.
func (cp *ControlPlane) Remove() error { return os.RemoveAll(cp.Dir) }

// Admin is a configuration for a user who may do everything.
func (cp *ControlPlane) Admin() *rest.Config { return cp.User("admin", "system:masters") }

// User is a configuration that authenticates as name in groups, by a client
// certificate. Without system:masters among them RBAC grants what a test binds.
func (cp *ControlPlane) User(name string, groups ...string) *rest.Config {
	crt, key, err := cp.authority.client(name, groups...)
	if err != nil {
		panic(fmt.Sprintf("issue a client certificate: %v", err)) // only without entropy
	}
	return &rest.Config{
		Host:            cp.url,
		TLSClientConfig: rest.TLSClientConfig{CAData: cp.authority.pem, CertData: crt, KeyData: key},
		QPS:             -1, // no client-side throttling
	}
}

// WriteKubeconfig writes a kubeconfig for config to path: one context, in the
// namespace "default".
func WriteKubeconfig(path string, config *rest.Config) error {
	return clientcmd.WriteToFile(api.Config{
		Clusters:       map[string]*api.Cluster{"test": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*api.AuthInfo{"test": {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*api.Context{"test": {Cluster: "test", AuthInfo: "test", Namespace: "default"}},
		CurrentContext: "test",
	}, path)
}

func (cp *ControlPlane) path(name string) string { return filepath.Join(cp.Dir, name) }

// waitReady polls /readyz until it answers, a server dies, or time is up.
func (cp *ControlPlane) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	client, err := rest.HTTPClientFor(cp.Admin())
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	for {
		if ready(ctx, client, cp.url+"/readyz") {
			return nil
		}
		select {
		case <-cp.etcd.exited:
			return cp.etcd.death()
		case <-cp.apiServer.exited:
			return cp.apiServer.death()
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver is not ready: %w; the end of its log:\n%s", ctx.Err(), tail(cp.apiServer.logPath, 20))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func ready(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

// freePorts asks the kernel for n ports nobody listens on.
func freePorts(n int) ([]string, error) {
	ports := make([]string, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // only now, so that the ports differ
		ports[i] = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
