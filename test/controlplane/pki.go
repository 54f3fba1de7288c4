package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// authority is the only certificate authority of a control plane. authority signs the certificates of the server and
// of its users.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  []byte
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	crt, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kubectl-genname-test"}, key)
	if err != nil {
		return nil, err
	}
	return &authority{key: key, cert: crt, pem: encode(crt.Raw)}, nil
}

// client issues a certificate that authenticates as user in groups.
func (a *authority) client(user string, groups ...string) (certPEM, keyPEM []byte, err error) {
	return a.issue(x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// server issues a certificate for the loopback addresses.
func (a *authority) server() (certPEM, keyPEM []byte, err error) {
	return a.issue(x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	})
}

func (a *authority) issue(template x509.Certificate) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, nil, err
	}
	template.NotBefore = a.cert.NotBefore
	template.NotAfter = time.Now().Add(24 * time.Hour)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, &template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key)
	return encode(der), keyPEM, err
}

func encode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der})
}

// write writes the files of kube-apiserver into dir. They are ca.crt, apiserver.crt, apiserver.key, and the key that
// signs service account tokens.
func (a *authority) write(dir string) error {
	crt, key, err := a.server()
	if err != nil {
		return err
	}
	_, serviceAccounts, err := a.server()
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"ca.crt": a.pem, "apiserver.crt": crt, "apiserver.key": key, "service-accounts.key": serviceAccounts,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
