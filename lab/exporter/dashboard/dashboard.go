// Package dashboard draws the panels of a Grafana dashboard from data that Prometheus
// returned for their expressions. It is no Grafana: it knows the panel types stat, timeseries
// and table, and the units of this dashboard only.
package dashboard

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// Dashboard is a dashboard with the data of a range of time.
type Dashboard struct {
	Title    string
	From, To time.Time
	Step     time.Duration
	Panels   []*Panel
}

// Panel is one panel, or the title of a row of panels.
type Panel struct {
	Title, Type, Unit string
	Width             int // of 24 columns
	Targets           []Target
	Series            []Series
}

// Target is an expression of a panel. An instant one is evaluated at the end only.
type Target struct {
	Expr, LegendFormat string
	Instant            bool
}

// Series is the result of an expression for one set of labels.
type Series struct {
	Legend string
	Labels map[string]string
	Points []Point
}

// Point is a value at a number of seconds since the start.
type Point struct{ At, Value float64 }

// Read takes the panels from the JSON of a dashboard, without data.
func Read(path string) (*Dashboard, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var model struct {
		Title  string
		Panels []struct {
			Title, Type string
			GridPos     struct{ W int }
			Targets     []Target
			FieldConfig struct{ Defaults struct{ Unit string } }
		}
	}
	if err := json.Unmarshal(text, &model); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := &Dashboard{Title: model.Title}
	for _, p := range model.Panels {
		d.Panels = append(d.Panels, &Panel{
			Title: p.Title, Type: p.Type, Unit: p.FieldConfig.Defaults.Unit, Width: p.GridPos.W, Targets: p.Targets,
		})
	}
	return d, nil
}

var placeholder = regexp.MustCompile(`\{\{ *(\w+) *\}\}`)

// Legend returns the legend of a series by the format of its target.
func (t Target) Legend(labels map[string]string) string {
	return strings.TrimSpace(placeholder.ReplaceAllStringFunc(t.LegendFormat, func(text string) string {
		return labels[placeholder.FindStringSubmatch(text)[1]]
	}))
}
