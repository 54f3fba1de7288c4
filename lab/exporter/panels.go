package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"time"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/kubectl-genname/kubectl-genname/lab/exporter/dashboard"
)

// The picture ends during the second leak, so that it shows a leak in progress.
const (
	pictureBefore = 2 * time.Minute
	pictureAfter  = 10*time.Minute + 30*time.Second
)

// saveDashboard evaluates the expressions of the dashboard's panels, and saves the data.
func (t *trial) saveDashboard(ctx context.Context) error {
	d, err := dashboard.Read("deploy/exporter/grafana/genname.json")
	if err != nil {
		return err
	}
	d.From, d.To, d.Step = t.began.Add(-pictureBefore), t.began.Add(pictureAfter), interval/2
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			matrix, err := t.prometheus.evaluate(ctx, target, d)
			if err != nil {
				return err
			}
			for _, stream := range matrix {
				panel.Series = append(panel.Series, series(target, stream, d.From))
			}
		}
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return os.WriteFile(t.data, text, 0o644)
}

// evaluate evaluates an expression as Grafana does.
func (p *prometheus) evaluate(ctx context.Context, target dashboard.Target, d *dashboard.Dashboard) (model.Matrix, error) {
	if !target.Instant {
		value, _, _, err := p.QueryRange(ctx, target.Expr, prometheusv1.Range{Start: d.From, End: d.To, Step: d.Step})
		if err != nil {
			return nil, err
		}
		return value.(model.Matrix), nil
	}
	value, _, _, err := p.Query(ctx, target.Expr, d.To)
	if err != nil {
		return nil, err
	}
	var matrix model.Matrix
	for _, sample := range value.(model.Vector) {
		matrix = append(matrix, &model.SampleStream{
			Metric: sample.Metric, Values: []model.SamplePair{{Timestamp: sample.Timestamp, Value: sample.Value}},
		})
	}
	return matrix, nil
}

func series(target dashboard.Target, stream *model.SampleStream, from time.Time) dashboard.Series {
	s := dashboard.Series{Labels: map[string]string{}}
	for name, value := range stream.Metric {
		s.Labels[string(name)] = string(value)
	}
	s.Legend = target.Legend(s.Labels)
	for _, v := range stream.Values {
		if math.IsNaN(float64(v.Value)) || math.IsInf(float64(v.Value), 0) {
			continue
		}
		s.Points = append(s.Points, dashboard.Point{At: v.Timestamp.Time().Sub(from).Seconds(), Value: float64(v.Value)})
	}
	return s
}

// draw draws the picture from the data.
func draw(s settings) error {
	text, err := os.ReadFile(s.data)
	if err != nil {
		return err
	}
	var d dashboard.Dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	return os.WriteFile(s.figure, d.SVG(), 0o644)
}
