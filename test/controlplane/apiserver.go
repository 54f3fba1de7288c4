package controlplane

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// Server is one kube-apiserver.
type Server struct {
	// URL is its address.
	URL string

	cp      *ControlPlane
	log     string
	env     []string
	args    []string
	process *Process
}

// startServers starts o.servers kube-apiservers on one etcd.
func (cp *ControlPlane) startServers(ctx context.Context, o Option) error {
	ports, err := cp.newPorts(o.servers)
	if err != nil {
		return err
	}
	var etcd []string
	for _, m := range cp.Members {
		etcd = append(etcd, m.URL)
	}
	for i, port := range ports {
		s := &Server{
			URL: "https://127.0.0.1:" + port, cp: cp, log: cp.path(fmt.Sprintf("kube-apiserver-%d.log", i)), env: o.env,
		}
		cp.Servers = append(cp.Servers, s)
		s.args = append([]string{
			"--etcd-servers=" + strings.Join(etcd, ","),
			"--bind-address=127.0.0.1",
			"--advertise-address=127.0.0.1",
			"--secure-port=" + port,
			"--permit-port-sharing",
			"--tls-cert-file=" + cp.path("apiserver.crt"),
			"--tls-private-key-file=" + cp.path("apiserver.key"),
			"--client-ca-file=" + cp.path("ca.crt"),
			"--service-account-issuer=" + cp.Servers[0].URL,
			"--service-account-signing-key-file=" + cp.path("service-accounts.key"),
			"--service-account-key-file=" + cp.path("service-accounts.key"),
			"--authorization-mode=RBAC",
			"--disable-admission-plugins=ServiceAccount", // no controller creates the accounts
			"--endpoint-reconciler-type=none",
			"--service-cluster-ip-range=10.0.0.0/16",
		}, o.args...)
		if err := s.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends the server immediately, like a crash.
func (s *Server) Kill() error { return s.process.Kill() }

// Freeze stops the server until Thaw. Its connections stay open, and it doesn't respond.
func (s *Server) Freeze() error { return s.process.freeze() }

// Thaw lets a frozen server continue.
func (s *Server) Thaw() error { return s.process.thaw() }

// Start starts the server at its address and returns when it is ready. Start also restarts it after Kill.
func (s *Server) Start(ctx context.Context) (err error) {
	if s.process, err = StartProcess(s.log, s.cp.Binaries.APIServer, s.env, s.args...); err != nil {
		return err
	}
	return s.waitReady(ctx)
}

// waitReady polls /readyz until it responds, a server dies, or the time is up.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	client, err := rest.HTTPClientFor(s.cp.Admin())
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	for {
		if ready(ctx, client, s.URL+"/readyz") {
			return nil
		}
		if len(s.cp.Members) == 1 { // if there are several members, a test may have killed one
			select {
			case <-s.cp.Members[0].process.exited:
				return s.cp.Members[0].process.death()
			default:
			}
		}
		select {
		case <-s.process.exited:
			return s.process.death()
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver is not ready: %w; the end of its log:\n%s", ctx.Err(), tail(s.log, 20))
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
