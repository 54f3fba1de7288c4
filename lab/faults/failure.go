package faults

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// failure is a failure of a control plane. begin starts the failure, and returns the function that ends it. lasts is
// its duration.
type failure struct {
	name  string
	lasts time.Duration
	begin func(context.Context, *controlplane.ControlPlane) (end func() error, err error)
}

// failuresOf returns the failures that a control plane survives. Tests repeat them in this order.
func failuresOf(cp *controlplane.ControlPlane) []failure {
	if len(cp.Members) == 1 {
		return []failure{serverKilled}
	}
	return slices.Clone(replicatedFailures)
}

var replicatedFailures = []failure{
	leaderKilled, serverKilled, leaderCutOff, leaderFrozen, otherServerKilled, leaderSlow, followerFrozen,
}

var (
	serverKilled      = killing("kube-apiserver killed", 0)
	otherServerKilled = killing("the other kube-apiserver killed", 1)

	etcdKilled = failure{
		"etcd killed", time.Second,
		func(_ context.Context, cp *controlplane.ControlPlane) (func() error, error) {
			return cp.Members[0].Start, cp.Members[0].Kill()
		},
	}
	leaderKilled = failure{
		"etcd's leader killed", time.Second,
		ofLeader(func(leader *controlplane.Member) (func() error, error) { return leader.Start, leader.Kill() }),
	}
	leaderCutOff = failure{
		"etcd's leader cut off", 5 * time.Second,
		ofLeader(func(leader *controlplane.Member) (func() error, error) {
			return func() error { leader.Rejoin(); return nil }, leader.CutOff(context.Background())
		}),
	}
	leaderFrozen = failure{
		"etcd's leader frozen", 4 * time.Second,
		ofLeader(func(leader *controlplane.Member) (func() error, error) { return leader.Thaw, leader.Freeze() }),
	}
	leaderSlow = failure{"etcd's leader slow", 0, ofLeader(slow)}
	// A member that lags still serves its clients.
	followerFrozen = failure{
		"a member of etcd frozen", 4 * time.Second,
		func(ctx context.Context, cp *controlplane.ControlPlane) (func() error, error) {
			leader, err := cp.Leader(ctx)
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(cp.Members, func(m *controlplane.Member) bool { return m != leader })
			return cp.Members[i].Thaw, cp.Members[i].Freeze()
		},
	}
)

// ofLeader returns a failure of etcd's leader.
func ofLeader(begin func(leader *controlplane.Member) (end func() error, err error)) func(
	context.Context, *controlplane.ControlPlane) (func() error, error) {
	return func(ctx context.Context, cp *controlplane.ControlPlane) (func() error, error) {
		leader, err := cp.Leader(ctx)
		if err != nil {
			return nil, err
		}
		return begin(leader)
	}
}

func killing(name string, server int) failure {
	return failure{name, 0, func(ctx context.Context, cp *controlplane.ControlPlane) (func() error, error) {
		s := cp.Servers[server]
		return func() error { return s.Start(context.WithoutCancel(ctx)) }, s.Kill()
	}}
}

// slow pauses the leader again and again, so that it runs for a tenth of the time. The pauses are so short that the
// other members don't elect another leader.
func slow(leader *controlplane.Member) (func() error, error) {
	return func() error {
		for range 20 {
			err := leader.Freeze()
			time.Sleep(180 * time.Millisecond)
			if err := errors.Join(err, leader.Thaw()); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
		return nil
	}, nil
}
