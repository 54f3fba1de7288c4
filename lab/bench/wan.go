package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	roundTrip = 50 * time.Millisecond
	bandwidth = 100e6 / 8 // bytes per second, in each direction
)

// distant measures a server behind a connection of 50 ms and 100 Mbit/s.
func distant(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	p := population{"configmaps", "ConfigMap", b.size(200_000), 40, 0, 0}
	if err := store(ctx, cp, p); err != nil {
		return "", err
	}
	config := cp.Admin()
	address, err := relay(ctx, strings.TrimPrefix(config.Host, "https://"))
	if err != nil {
		return "", err
	}
	config.Host = "https://" + address
	if err := controlplane.WriteKubeconfig(b.kubeconfig(), config); err != nil {
		return "", err
	}
	var c contest
	c.add("`kubectl get configmaps -A -o name`", b.command(func(stdout string) error {
		if lines := strings.Count(stdout, "configmap/nightly-report-"); lines != p.objects {
			return fmt.Errorf("%d lines, want %d", lines, p.objects)
		}
		return nil
	}, cp.Binaries.Kubectl, "get", "configmaps", "-A", "-o", "name"))
	c.add("`kubectl genname audit configmaps -A --disable-compression`",
		b.audits(p.objects, "configmaps", "-A", "--disable-compression"))
	c.add("`kubectl genname audit configmaps -A`", b.audits(p.objects, "configmaps", "-A"))
	if err := c.run(ctx, min(b.runs, 3)); err != nil {
		return "", err
	}
	return fmt.Sprintf("### %s ConfigMaps, 50 ms and 100 Mbit/s away\n\n%s\nTime of the audit in that without compression: %s. In kubectl's: %s.\n",
		humanize.Grouped(p.objects), c.table(true), b.verdict(c.seconds[2].median()/c.seconds[1].median(), 1),
		b.verdict(c.seconds[2].median()/c.seconds[0].median(), 1./5)), nil
}

// relay forwards connections to an address with delay until ctx is done. It returns its own address.
func relay(ctx context.Context, to string) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			go carry(near, far)
			go carry(far, near)
		}
	}()
	return listener.Addr().String(), nil
}

// parcel is data in flight.
type parcel struct {
	bytes   []byte
	arrives time.Time
}

// carry copies data from one end to the other with delay and limited bandwidth, and closes both at the end.
func carry(from io.ReadCloser, to io.WriteCloser) {
	// The channel holds the data of one round trip, as TCP's window does.
	line := make(chan parcel, 1+int(bandwidth*roundTrip.Seconds())/(16<<10))
	go func() {
		defer func() { _, _ = from.Close(), to.Close() }()
		for p := range line {
			time.Sleep(time.Until(p.arrives))
			if _, err := to.Write(p.bytes); err != nil {
				break
			}
		}
		for range line {
		}
	}()
	defer close(line)
	sent := time.Now()
	for {
		b := make([]byte, 16<<10)
		n, err := from.Read(b)
		if n > 0 {
			if now := time.Now(); sent.Before(now) {
				sent = now
			}
			sent = sent.Add(time.Duration(float64(n) / bandwidth * float64(time.Second)))
			line <- parcel{b[:n], sent.Add(roundTrip / 2)}
		}
		if err != nil {
			return
		}
	}
}
