package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"
)

// interval is the interval of the scrapes, as in the ServiceMonitor. The rules have another one.
const interval = 30 * time.Second

// prometheus is a running Prometheus server with the rules of deploy/exporter.
type prometheus struct {
	prometheusv1.API
	cmd     *exec.Cmd
	targets string // file with the address of the exporter
}

// startPrometheus starts a server that scrapes an address.
func startPrometheus(ctx context.Context, l *lab, address string) (*prometheus, error) {
	p := &prometheus{targets: l.path("targets.json")}
	if err := errors.Join(p.scrapes(address), writeRules(l.path("rules.yaml")), p.configure(l)); err != nil {
		return nil, err
	}
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(l.path("prometheus.log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.CommandContext(ctx, l.prometheus, "--config.file="+l.path("prometheus.yaml"),
		"--storage.tsdb.path="+l.path("prometheus"), "--web.listen-address="+listen)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	client, err := api.NewClient(api.Config{Address: "http://" + listen})
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	p.API = prometheusv1.NewAPI(client)
	if err := eventually(ctx, time.Minute, func() error {
		code, _, err := get(ctx, "http://"+listen+"/-/ready")
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("prometheus: status code %d", code)
		}
		return err
	}); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func (p *prometheus) stop() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = p.cmd.Wait() // it was killed
	return nil
}

// scrapes makes the server scrape another address from now on.
func (p *prometheus) scrapes(address string) error {
	text, err := json.Marshal([]map[string][]string{{"targets": {address}}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.targets+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(p.targets+".new", p.targets)
}

func (p *prometheus) configure(l *lab) error {
	text, err := yaml.Marshal(map[string]any{
		"global":     map[string]any{"scrape_interval": interval.String(), "evaluation_interval": interval.String()},
		"rule_files": []string{l.path("rules.yaml")},
		"scrape_configs": []any{map[string]any{
			"job_name":        "genname-exporter",
			"file_sd_configs": []any{map[string]any{"files": []string{p.targets}}},
		}},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(l.path("prometheus.yaml"), text, 0o600)
}

// writeRules writes the rules of the PrometheusRule into a rule file.
func writeRules(path string) error {
	manifest, err := os.ReadFile("deploy/exporter/prometheus-operator/prometheusrule.yaml")
	if err != nil {
		return err
	}
	var rule struct {
		Spec any `json:"spec"`
	}
	if err := yaml.Unmarshal(manifest, &rule); err != nil {
		return err
	}
	text, err := yaml.Marshal(rule.Spec)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String(), nil
}

// alert is one alert of one namespace that fired.
type alert struct{ name, namespace string }

// fired returns when each alert first fired since a time.
func (p *prometheus) fired(ctx context.Context, since time.Time) (map[alert]time.Time, error) {
	now := time.Now()
	query := fmt.Sprintf(`ALERTS{alertstate="firing"}[%ds]`, int(now.Sub(since).Seconds())+1)
	value, _, _, err := p.Query(ctx, query, now)
	if err != nil {
		return nil, err
	}
	first := map[alert]time.Time{}
	for _, series := range value.(model.Matrix) {
		a := alert{string(series.Metric["alertname"]), string(series.Metric["namespace"])}
		at := series.Values[0].Timestamp.Time()
		if before, found := first[a]; !found || at.Before(before) {
			first[a] = at
		}
	}
	return first, nil
}

// awaitAlert waits until an alert fires, for so long.
func (p *prometheus) awaitAlert(ctx context.Context, a alert, since time.Time, most time.Duration) error {
	return eventually(ctx, most, func() error {
		fired, err := p.fired(ctx, since)
		if _, found := fired[a]; err == nil && !found {
			err = fmt.Errorf("%s has not fired in namespace %q after %s", a.name, a.namespace, most)
		}
		return err
	})
}
