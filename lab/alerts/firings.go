package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"time"
)

// name identifies an alert: its rule, and the prefix or the resource type.
type name struct{ alert, of string }

// firings has the times in which each alert fired, after the start of Prometheus.
type firings map[name][]firing

// firing is from one time to another. to is 0 while the alert fires.
type firing struct{ from, to time.Duration }

// note asks Prometheus for the alerts that fire.
func (f firings) note(ctx context.Context, l *lab, at time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.prometheusAddress+"/api/v1/alerts", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask Prometheus for its alerts: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var body struct {
		Data struct {
			Alerts []struct {
				Labels map[string]string
				State  string
			}
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		return fmt.Errorf("read Prometheus's alerts: %w", err)
	}
	now := make(map[name]bool)
	for _, a := range body.Data.Alerts {
		if a.State == "firing" {
			now[name{a.Labels["alertname"], cmp.Or(a.Labels["prefix"], a.Labels["resource"])}] = true
		}
	}
	for n := range now {
		if all := f[n]; len(all) == 0 || all[len(all)-1].to != 0 {
			f[n] = append(f[n], firing{from: at})
			fmt.Fprintf(os.Stderr, "%3.0f min: %s %s fires\n", at.Minutes(), n.alert, n.of)
		}
	}
	for n, all := range f {
		if last := &all[len(all)-1]; last.to == 0 && !now[n] {
			last.to = at
			fmt.Fprintf(os.Stderr, "%3.0f min: %s %s ends\n", at.Minutes(), n.alert, n.of)
		}
	}
	return nil
}

// compare returns a table of the expected alerts, and an error that names the differences.
func (f firings) compare() (string, error) {
	table := &strings.Builder{}
	table.WriteString("| alert | of | should fire at | fired at | should end at | ended at |\n|---|---|--:|--:|--:|--:|\n")
	var wrong []error
	unexpected := maps.Clone(f)
	for _, e := range expected {
		n := name{e.alert, e.of}
		if len(unexpected[n]) == 0 {
			wrong = append(wrong, fmt.Errorf("%s %s did not fire from %.0f to %.0f min", e.alert, e.of, e.earliest, e.latest))
			continue
		}
		from, to := unexpected[n][0].from.Minutes(), unexpected[n][0].to.Minutes()
		unexpected[n] = unexpected[n][1:]
		if from < e.earliest || from > e.latest || to < e.endsFrom || to > e.endsTill {
			wrong = append(wrong, fmt.Errorf("%s %s fired from %.1f to %.1f min", e.alert, e.of, from, to))
		}
		ends, ended := "-", "-"
		if e.endsTill > 0 {
			ends = fmt.Sprintf("%.0f to %.0f min", e.endsFrom, e.endsTill)
		}
		if to > 0 {
			ended = fmt.Sprintf("%.0f min", to)
		}
		fmt.Fprintf(table, "| %s | %s | %.0f to %.0f min | %.0f min | %s | %s |\n",
			e.alert, cell(e.of), e.earliest, e.latest, from, ends, ended)
	}
	for n, all := range unexpected {
		if len(all) > 0 {
			wrong = append(wrong, fmt.Errorf("%s %s fired, and should not: %v", n.alert, n.of, all))
		}
	}
	if len(wrong) == 0 {
		table.WriteString("\nNo other alert fired, in particular none for `steady-` and `sawtooth-`.\n")
	}
	return table.String(), errors.Join(wrong...)
}

func cell(of string) string {
	switch of {
	case "":
		return ""
	case truncated:
		return "two `generateName`s with 58 equal bytes"
	}
	return "`" + of + "`"
}
