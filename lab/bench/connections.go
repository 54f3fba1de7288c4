package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync/atomic"

	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// connections returns the number of connections that a command opens to the server. It runs the command once more,
// with a kubeconfig that points to a counting proxy.
func (b *bench) connections(
	ctx context.Context, cp *controlplane.ControlPlane, way func(context.Context) (sample, error),
) (count int, err error) {
	server, err := url.Parse(cp.Admin().Host)
	if err != nil {
		return 0, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	var made atomic.Int32
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			made.Add(1)
			go forward(from, server.Host)
		}
	}()
	through := rest.CopyConfig(cp.Admin())
	through.Host = "https://" + listener.Addr().String()
	if err := controlplane.WriteKubeconfig(b.kubeconfig(), through); err != nil {
		return 0, err
	}
	_, err = way(ctx)
	return int(made.Load()), errors.Join(err, controlplane.WriteKubeconfig(b.kubeconfig(), cp.Admin()))
}

// forward copies bytes in both directions until one of the connections ends.
func forward(from net.Conn, address string) {
	defer func() { _ = from.Close() }()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}
