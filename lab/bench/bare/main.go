// Command bare runs a command behind a reverse proxy of the standard library, with TLS on both sides and no code of
// wrap. It is the control of the measurements of wrap: no proxy can be faster.
package main

import (
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
	if err != nil {
		return err
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return err
	}
	config.DisableCompression = true
	transport, err := rest.TransportFor(config)
	if err != nil {
		return err
	}
	proxy := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Del("Authorization")
		},
		Transport: transport, FlushInterval: -1,
	})
	proxy.EnableHTTP2 = true
	proxy.StartTLS()
	defer proxy.Close()
	dir, err := os.MkdirTemp("", "bare-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "config")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw})
	if err := clientcmd.WriteToFile(api.Config{
		Clusters:       map[string]*api.Cluster{"bare": {Server: proxy.URL, CertificateAuthorityData: authority}},
		AuthInfos:      map[string]*api.AuthInfo{"bare": {Token: "none"}}, // kubectl asks for a name without credentials
		Contexts:       map[string]*api.Context{"bare": {Cluster: "bare", AuthInfo: "bare"}},
		CurrentContext: "bare",
	}, path); err != nil {
		return err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), clientcmd.RecommendedConfigPathEnvVar+"="+path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
