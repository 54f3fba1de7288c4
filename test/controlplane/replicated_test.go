package controlplane

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A failure happens to the leader of etcd or to one of two servers. Another member leads, creates are stored, and the
// failed one recovers.
func TestReplicated(t *testing.T) {
	t.Parallel()
	cp := New(t, Replicated)
	if len(cp.Members) != 3 || len(cp.Servers) != 2 {
		t.Fatalf("%d members and %d servers", len(cp.Members), len(cp.Servers))
	}
	for name, fault := range map[string]struct{ begin, end func(*Member) error }{
		"killed": {(*Member).Kill, (*Member).Start},
		"frozen": {(*Member).Freeze, (*Member).Thaw},
		"cut off": {
			func(m *Member) error { return m.CutOff(t.Context()) },
			func(m *Member) error { m.Rejoin(); return nil },
		},
	} {
		t.Run("the leader is "+name, func(t *testing.T) {
			before := leader(t, cp)
			if err := fault.begin(before); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() error {
				if after := leader(t, cp); after == before {
					return fmt.Errorf("it still leads")
				}
				return nil
			})
			eventually(t, func() error { return storedEverywhere(t.Context(), cp) })
			if err := fault.end(before); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() error {
				_, err := before.status(t.Context())
				return err
			})
		})
	}
	t.Run("a server is killed", func(t *testing.T) {
		if err := cp.Servers[0].Kill(); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() error { return stored(t.Context(), cp, cp.Servers[1]) })
		if err := cp.Servers[0].Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() error { return storedEverywhere(t.Context(), cp) })
	})
}

func leader(t *testing.T, cp *ControlPlane) *Member {
	t.Helper()
	m, err := cp.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// storedEverywhere creates an object at each server.
func storedEverywhere(ctx context.Context, cp *ControlPlane) error {
	for _, s := range cp.Servers {
		if err := stored(ctx, cp, s); err != nil {
			return fmt.Errorf("%s: %w", s.URL, err)
		}
	}
	return nil
}

func stored(ctx context.Context, cp *ControlPlane, at *Server) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	config := rest.CopyConfig(cp.Admin())
	config.Host = at.URL
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "stored-"}}
	_, err = client.CoreV1().ConfigMaps("default").Create(ctx, object, metav1.CreateOptions{})
	return err
}

func eventually(t *testing.T, try func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
