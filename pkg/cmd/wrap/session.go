package wrap

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/intercept"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// A session is the proxy of one run, with its server and its kubeconfig.
type session struct {
	proxy     *intercept.Proxy
	run       *keyed.Run // nil without a key
	server    *http.Server
	directory string // of mode 0700
	path      string // of the kubeconfig
	address   string // of the proxy, in the kubeconfig
	cache     string
}

// serve starts the proxy. The end of ctx interrupts its creates.
func (o *options) serve(ctx context.Context, foreign *connection.Foreign) (*session, error) {
	id := identity(foreign)
	listener, err := listen(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := o.newSession(ctx, foreign, listener.Addr().String())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s.cache = cacheDirectory(hex.EncodeToString(id[:8]))
	go func() { _ = s.server.ServeTLS(listener, "", "") }() // ends with an error after Close
	return s, nil
}

// newSession makes the proxy for an address and its kubeconfig.
func (o *options) newSession(ctx context.Context, foreign *connection.Foreign, host string) (*session, error) {
	authority, leaf, err := newCertificates()
	if err != nil {
		return nil, err
	}
	config := intercept.Config{
		Passthrough: foreign.Passing, Creates: foreign.Limited, Host: host, Token: rand.Text(),
		RetryTimeout: time.Duration(o.retryTimeout),
	}
	o.report(&config)
	s := &session{}
	if s.run, err = o.newRun(foreign); err != nil {
		return nil, err
	}
	if s.run != nil {
		config.Contents = keyed.NewContents(s.run)
	}
	if s.proxy, err = intercept.New(ctx, config); err != nil {
		return nil, err
	}
	// There is no time limit, because the end of a connection on which a POST arrives would be a lost response.
	s.server = &http.Server{ //nolint:gosec // G112: only this user has a token
		Handler: s.proxy, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{leaf}, MinVersion: tls.VersionTLS12},
	}
	return s, s.writeKubeconfig(foreign, config, authority)
}

// writeKubeconfig writes the program's kubeconfig, with the names of the user's context.
func (s *session) writeKubeconfig(foreign *connection.Foreign, config intercept.Config, authority []byte) error {
	upstream, _, err := rest.DefaultServerUrlFor(foreign.Passing)
	if err != nil {
		return err
	}
	// If the address ended with a slash, some clients would send //api/v1, which the proxy doesn't recognize as a
	// create.
	s.address = (&url.URL{Scheme: "https", Host: config.Host, Path: strings.TrimRight(upstream.Path, "/")}).String()
	context := foreign.Context
	content := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			context.Cluster: {Server: s.address, CertificateAuthorityData: authority},
		},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{context.AuthInfo: {Token: config.Token}},
		Contexts:       map[string]*clientcmdapi.Context{foreign.Name: &context},
		CurrentContext: foreign.Name,
	}
	temporary, err := filepath.Abs(os.TempDir()) // the program can change its directory
	if err != nil {
		return err
	}
	if s.directory, err = os.MkdirTemp(temporary, "kubectl-genname-wrap-"); err != nil { // of mode 0700
		return err
	}
	s.path = filepath.Join(s.directory, "config")
	return clientcmd.WriteToFile(content, s.path) // of mode 0600
}

// changed reports whether the program changed the kubeconfig so that requests might bypass the proxy. Another namespace
// doesn't count.
func (s *session) changed() bool {
	now, err := clientcmd.LoadFromFile(s.path)
	if err != nil || len(now.Clusters) == 0 {
		return true
	}
	for _, cluster := range now.Clusters {
		if cluster.Server != s.address {
			return true
		}
	}
	return false
}

// waitForCreates waits for the creates in flight. If a credential plugin hangs, it gives up.
func (s *session) waitForCreates() {
	terminal.Within(2*exactlyonce.Grace, s.proxy.Wait)
}

// closeTime limits the time for the rest of responses to clients that outlive the program.
const closeTime = time.Second

func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = s.server.Shutdown(ctx)
	_ = s.server.Close()
	s.discard()
}

// discard removes the kubeconfig. After the program has ended, a second signal ends this process at once.
func (s *session) discard() { _ = os.RemoveAll(s.directory) }

// identity identifies the server and the user of a session.
func identity(foreign *connection.Foreign) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%q", []string{
		foreign.Passing.Host, foreign.Context.AuthInfo, foreign.Passing.Impersonate.UserName,
	}))
}

// The ports of proxies are below those that systems give to clients.
const (
	firstPort = 20_000
	ports     = 10_000
	triedPort = 100
)

// listen listens on the port of an identity, or on the next free one. kubectl names its caches by host and port.
func listen(ctx context.Context, id [sha256.Size]byte) (listener net.Listener, err error) {
	begin := int(binary.BigEndian.Uint32(id[:]) % ports)
	for i := range triedPort {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+(begin+i)%ports)
		if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", address); err == nil {
			return listener, nil
		}
	}
	return nil, err
}

// newCertificates returns the authority of one run as PEM, and the certificate of its server. Their private keys are
// only in memory. Python 3.13 demands the key usages and identifiers (VERIFY_X509_STRICT).
func newCertificates() (authority []byte, leaf tls.Certificate, err error) {
	now := time.Now()
	parent := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubectl genname wrap CA"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	ca, caKey, err := sign(parent, parent, nil)
	if err != nil {
		return nil, leaf, err
	}
	server, key, err := sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kubectl genname wrap"},
		NotBefore: parent.NotBefore, NotAfter: parent.NotAfter, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}, ca, caKey)
	if err != nil {
		return nil, leaf, err
	}
	leaf = tls.Certificate{Certificate: [][]byte{server.Raw}, PrivateKey: key}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw}), leaf, nil
}

// sign returns a certificate with a new key, signed by the parent's key, or self-signed without one.
func sign(template, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if by == nil {
		by = key
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(encoded)
	return certificate, key, err
}

// newRun returns the run of the idempotency key, or nil without a key.
func (o *options) newRun(foreign *connection.Foreign) (*keyed.Run, error) {
	if o.keys.Key == "" {
		return nil, nil
	}
	config := rest.CopyConfig(foreign.Limited)
	config.QPS = -1
	transport, err := intercept.Client(config)
	if err != nil {
		return nil, err
	}
	client, err := metadata.NewForConfigAndClient(config, transport)
	if err != nil {
		return nil, err
	}
	find := func(
		ctx context.Context, resource schema.GroupVersionResource, namespace string,
	) ([]idempotency.Existing, error) {
		return o.keys.Key.Find(ctx, client, resource, namespace, time.Duration(o.retryTimeout))
	}
	return keyed.New(o.keys.Key, o.keys.Secrets, find), nil
}

// named is the largest number of lines about objects of the key.
const named = 10

// leftOver returns the lines about objects of the key that the program didn't create in this run.
func leftOver(run *keyed.Run) (lines []string) {
	if run == nil {
		return nil
	}
	unmatched := run.Unmatched()
	if n := len(unmatched); n > 0 {
		lines = append(lines, terminal.Warningf("wrap: an earlier run with this key created %s that this run did not "+
			"request. To check:", humanize.Count(n, "object")))
	}
	for _, each := range unmatched[:min(named, len(unmatched))] {
		lines = append(lines, terminal.Sprintf("  kubectl get %s", each.Argument()))
	}
	if more := len(unmatched) - named; more > 0 {
		lines = append(lines, fmt.Sprintf("  (%d more)", more))
	}
	if others := run.Others(); len(others) > 0 {
		lines = append(lines, terminal.Warningf("the run ignores %s with its label, like %s. Another user created the "+
			"object, or "+run.WhyIgnored(), humanize.Count(len(others), "object"), others[0]))
	}
	return lines
}
