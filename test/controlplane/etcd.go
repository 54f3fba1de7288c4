package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Member is one member of etcd.
type Member struct {
	// URL is the address for its clients, without authentication.
	URL string

	binary  string
	log     string
	args    []string
	network *network // nil for a single member
	process *Process
	id      string // the ID that etcd uses; empty until the first status request
}

// startEtcd starts the members of one cluster.
func (cp *ControlPlane) startEtcd(members int) error {
	ports, err := cp.newPorts(2 * members)
	if err != nil {
		return err
	}
	if members > 1 {
		cp.network = newNetwork()
	}
	var cluster []string
	for i := range members {
		name := fmt.Sprintf("etcd-%d", i)
		peer := "http://127.0.0.1:" + ports[2*i+1]
		m := &Member{
			URL: "http://127.0.0.1:" + ports[2*i], binary: cp.Binaries.Etcd, log: cp.path(name + ".log"),
			network: cp.network,
		}
		advertised := peer
		if cp.network != nil {
			if advertised, err = cp.network.lead(m, peer); err != nil {
				return err
			}
		}
		m.args = []string{
			"--name=" + name,
			"--data-dir=" + cp.path(name),
			"--listen-client-urls=" + m.URL,
			"--advertise-client-urls=" + m.URL,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + advertised,
			"--socket-reuse-port",
			"--quota-backend-bytes=8589934592",
			"--unsafe-no-fsync",
			"--log-level=warn",
		}
		cluster = append(cluster, name+"="+advertised)
		cp.Members = append(cp.Members, m)
	}
	for _, m := range cp.Members {
		m.args = append(m.args, "--initial-cluster="+strings.Join(cluster, ","))
		if err := m.Start(); err != nil {
			return err
		}
	}
	return nil
}

// Start starts the member. Start also restarts it after Kill, with its earlier data.
func (m *Member) Start() (err error) {
	m.process, err = StartProcess(m.log, m.binary, nil, m.args...)
	return err
}

// Kill ends the member immediately, like a crash.
func (m *Member) Kill() error { return m.process.Kill() }

// Freeze stops the member until Thaw. It doesn't respond, and lags behind afterwards.
func (m *Member) Freeze() error { return m.process.freeze() }

// Thaw lets a frozen member continue.
func (m *Member) Thaw() error { return m.process.thaw() }

// CutOff cuts the member off from the other members, in both directions, until Rejoin. Its clients still reach it.
func (m *Member) CutOff(ctx context.Context) error {
	if _, err := m.status(ctx); err != nil { // which sets its id
		return err
	}
	m.network.cutOff(m)
	return nil
}

// Rejoin ends CutOff.
func (m *Member) Rejoin() { m.network.rejoin(m) }

// Leader waits until the members have a leader, and returns it.
func (cp *ControlPlane) Leader(ctx context.Context) (*Member, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		leader, err := cp.leader(ctx)
		if err == nil {
			return leader, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// leader returns the member that claims to lead in the latest term that any member reports.
func (cp *ControlPlane) leader(ctx context.Context) (leader *Member, err error) {
	var latest uint64
	for _, m := range cp.Members {
		s, failed := m.status(ctx)
		err = errors.Join(err, failed)
		if failed != nil || s.term < latest {
			continue
		}
		if s.term > latest {
			latest, leader = s.term, nil
		}
		if s.leads {
			leader = m
		}
	}
	if leader == nil {
		return nil, errors.Join(errors.New("no member of etcd leads"), err)
	}
	return leader, nil
}

// status is the status that a member reports.
type status struct {
	leads bool
	term  uint64
}

// status requests the status through etcd's JSON gateway.
func (m *Member) status(ctx context.Context) (status, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	const path = "/v3/maintenance/status"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL+path, strings.NewReader("{}"))
	if err != nil {
		return status{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return status{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	var body struct {
		Header struct {
			Member uint64 `json:"member_id,string"`
		}
		Leader uint64 `json:",string"`
		Term   uint64 `json:"raftTerm,string"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return status{}, fmt.Errorf("%s: %w", path, err)
	}
	m.id = fmt.Sprintf("%x", body.Header.Member)
	return status{body.Leader == body.Header.Member, body.Term}, nil
}
