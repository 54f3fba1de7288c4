// Package controlplane runs a real etcd and a real kube-apiserver on loopback for tests, the demo and benchmarks. Both
// are built from their Go modules (build.go) and have their own certificates (pki.go). They end with the process that
// started them, however it ends (process.go and servers/lifeline). By default there is one server of each kind. With
// Replicated there are three members of etcd (etcd.go, network.go) and two kube-apiservers (apiserver.go).
//
// Controllers and nodes run only on request (beside.go). Without them namespaces are not finalized,
// Jobs create no Pods, and no garbage is collected.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// readyTimeout bounds the start of a control plane, which takes about 4 s on an idle machine with two cores.
const readyTimeout = 5 * time.Minute

// ControlPlane is a running etcd and kube-apiserver with RBAC, or several of each. Several control planes can run
// side by side.
type ControlPlane struct {
	// Binaries are the programs that the control plane runs.
	Binaries Binaries
	// Dir contains its data, its certificates and its logs.
	Dir string
	// Members are the members of etcd, and Servers the kube-apiservers. There is one of each without Replicated.
	Members []*Member
	Servers []*Server

	version     string // of kube-apiserver
	attached    bool   // it belongs to another process
	authority   *authority
	ports       []*port
	network     *network // nil for a single member
	controllers *Process // nil unless they were started
	nodes       *Process // nil unless they were started
	kubelet     *Process // nil unless it was started
}

// Start builds missing programs and runs a control plane with the options. Start returns when the servers are ready.
// Progress of a build goes to log. The caller calls Stop. If the caller dies, the servers end, too.
func Start(ctx context.Context, log io.Writer, options ...Option) (*ControlPlane, error) {
	binaries, err := Build(ctx, log, options...)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "genname-control-plane-")
	if err != nil {
		return nil, err
	}
	all := together(options)
	cp := &ControlPlane{Binaries: binaries, Dir: dir, version: all.version}
	if err := cp.start(ctx, all); err != nil {
		return nil, errors.Join(err, cp.Stop())
	}
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context, o Option) error {
	var err error
	if cp.authority, err = newAuthority(); err != nil {
		return err
	}
	if err := cp.authority.write(cp.Dir); err != nil {
		return err
	}
	if err := cp.startEtcd(o.members); err != nil {
		return err
	}
	return cp.startServers(ctx, o)
}

// Stop ends the servers. Stop keeps Dir because of the logs. Remove deletes Dir.
func (cp *ControlPlane) Stop() error {
	errs := []error{cp.nodes.Kill(), cp.kubelet.Kill(), cp.controllers.Kill()}
	for _, s := range cp.Servers {
		errs = append(errs, s.Kill())
	}
	for _, m := range cp.Members {
		errs = append(errs, m.Kill())
	}
	for _, p := range cp.ports {
		errs = append(errs, p.release())
	}
	cp.ports = nil
	if cp.network != nil {
		cp.network.close()
	}
	return errors.Join(errs...)
}

// Remove deletes Dir. Call it after Stop.
func (cp *ControlPlane) Remove() error {
	if cp.attached {
		return nil
	}
	return os.RemoveAll(cp.Dir)
}

// Admin returns a configuration for a user with permission for everything.
func (cp *ControlPlane) Admin() *rest.Config { return cp.User("admin", "system:masters") }

// User returns a configuration for the first server, with a client certificate for name in groups. Without the group
// system:masters, the user has only the permissions that a test binds.
func (cp *ControlPlane) User(name string, groups ...string) *rest.Config {
	crt, key, err := cp.authority.client(name, groups...)
	if err != nil {
		panic(fmt.Sprintf("issue a client certificate: %v", err)) // only without entropy
	}
	return &rest.Config{
		Host:            cp.Servers[0].URL,
		TLSClientConfig: rest.TLSClientConfig{CAData: cp.authority.pem, CertData: crt, KeyData: key},
		QPS:             -1, // no client-side throttling
	}
}

// WriteKubeconfig writes a kubeconfig for config to path. It has one context, in the namespace "default".
func WriteKubeconfig(path string, config *rest.Config) error {
	return WriteKubeconfigIn(path, "default", config)
}

// WriteKubeconfigIn writes a kubeconfig for config to path. It has one context, in the namespace.
func WriteKubeconfigIn(path, namespace string, config *rest.Config) error {
	return clientcmd.WriteToFile(api.Config{
		Clusters: map[string]*api.Cluster{"test": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*api.AuthInfo{"test": {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}},
		Contexts:       map[string]*api.Context{"test": {Cluster: "test", AuthInfo: "test", Namespace: namespace}},
		CurrentContext: "test",
	}, path)
}

func (cp *ControlPlane) path(name string) string { return filepath.Join(cp.Dir, name) }
